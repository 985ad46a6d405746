// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The meaning of a cell. Views use roles, never colors. A theme defines the style of each role for each color depth.
///
/// The raw value is the key in a theme file. The golden files of the tests depend on the order (`code`), so add new
/// roles at the end.
package enum Role: String, CaseIterable, Hashable, Sendable {
  case text
  case textMuted = "text.muted"
  case textStrong = "text.strong"
  case surface
  case border
  case paneTitle = "pane.title"
  case paneTitleFocus = "pane.title.focus"
  case paneCount = "pane.count"
  case selection
  case selectionBlur = "selection.blur"
  case cursorGutter = "cursor.gutter"
  case mark
  case accent
  case link
  case key
  case hint
  case header
  case headerProd = "header.prod"
  case headerOffline = "header.offline"
  case headerPaused = "header.paused"
  case stateOnline = "state.online"
  case stateConnecting = "state.connecting"
  case stateOffline = "state.offline"
  case stateFault = "state.fault"
  case ok
  case info
  case warn
  case error
  case changeAdded = "change.added"
  case changeModified = "change.modified"
  case changeRemoved = "change.removed"
  case changeSynced = "change.synced"
  case diffAdded = "diff.added"
  case diffModified = "diff.modified"
  case diffRemoved = "diff.removed"
  case diffContext = "diff.context"
  case sourceLocal = "source.local"
  case sourceServer = "source.server"
  case flagCache = "flag.cache"
  case flagPending = "flag.pending"
  case writeQueued = "write.queued"
  case writeInflight = "write.inflight"
  case writeBackoff = "write.backoff"
  case writeAcked = "write.acked"
  case writeRejected = "write.rejected"
  case jsonKey = "json.key"
  case jsonString = "json.string"
  case jsonNumber = "json.number"
  case jsonBool = "json.bool"
  case jsonNull = "json.null"
  case jsonTime = "json.time"
  case jsonRef = "json.ref"
  case jsonPunct = "json.punct"
  case match
  case matchCurrent = "match.current"
  case input
  case inputGhost = "input.ghost"
  case inputInvalid = "input.invalid"
  case toast
  case toastError = "toast.error"
  case confirmDanger = "confirm.danger"
  case chartLow = "chart.low"
  case chartMid = "chart.mid"
  case chartHigh = "chart.high"
  case chartOutage = "chart.outage"
  case scrollThumb = "scroll.thumb"
  case scrollTrack = "scroll.track"
  case listener1 = "listener.1"
  case listener2 = "listener.2"
  case listener3 = "listener.3"
  case listener4 = "listener.4"
  case listener5 = "listener.5"
  case listener6 = "listener.6"
  case value1 = "value.1"
  case value2 = "value.2"
  case value3 = "value.3"
  case value4 = "value.4"
  case value5 = "value.5"

  /// The role of the n-th listener, counted from zero. There are six roles, and they repeat.
  package static func listener(_ index: Int) -> Role {
    let roles: [Role] = [.listener1, .listener2, .listener3, .listener4, .listener5, .listener6]
    return roles[((index % roles.count) + roles.count) % roles.count]
  }

  /// The count of colors for the values of fields with few values.
  package static let valueHues = 5

  /// The role of a recurring value, by its color number. There are five roles, and they repeat.
  package static func value(_ hue: Int) -> Role {
    let roles: [Role] = [.value1, .value2, .value3, .value4, .value5]
    return roles[((hue % roles.count) + roles.count) % roles.count]
  }
}

extension Role {
  /// The role whose style is used if a theme does not define this role; `nil` only for `text`.
  package var parent: Role? {
    switch self {
    case .text: nil
    case .textMuted, .textStrong, .surface, .accent, .link, .ok, .info, .warn, .error: .text
    case .border, .paneTitle, .paneCount, .hint, .changeSynced, .flagCache, .jsonKey, .jsonNull, .jsonPunct: .textMuted
    case .inputGhost, .chartOutage, .scrollThumb, .stateOffline: .textMuted
    case .scrollTrack: .border
    case .paneTitleFocus, .selection, .cursorGutter, .listener6: .accent
    case .selectionBlur, .key: .textStrong
    case .mark, .headerPaused, .stateConnecting, .changeModified, .sourceLocal, .flagPending: .warn
    case .writeBackoff, .match, .matchCurrent, .chartMid, .listener4: .warn
    case .header, .toast, .input: .surface
    case .headerProd, .stateFault, .changeRemoved, .writeRejected, .inputInvalid: .error
    case .toastError, .confirmDanger, .chartHigh: .error
    case .headerOffline: .stateOffline
    case .stateOnline, .changeAdded, .writeAcked, .chartLow, .listener3: .ok
    case .diffAdded: .changeAdded
    case .diffModified: .changeModified
    case .diffRemoved: .changeRemoved
    case .diffContext: .changeSynced
    case .sourceServer, .writeQueued, .jsonString, .listener5: .text
    case .writeInflight, .jsonNumber, .jsonBool, .jsonTime, .listener1: .info
    case .jsonRef, .listener2: .link
    case .value1: .listener1
    case .value2: .listener2
    case .value3: .listener3
    case .value4: .listener4
    case .value5: .listener5
    }
  }

  /// The attributes that are added to the parent's style if a theme does not define this role.
  package var fallbackAttributes: Attributes {
    switch self {
    case .paneTitleFocus: [.reverse, .bold]
    case .selection, .match, .matchCurrent, .headerProd, .headerOffline, .headerPaused, .scrollThumb: .reverse
    case .toastError, .confirmDanger: .reverse
    case .textStrong, .selectionBlur: .bold
    case .link, .inputInvalid: .underline
    default: []
    }
  }
}

/// Character attributes that a terminal may not support. Therefore no information may depend on a single attribute.
package struct Attributes: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let bold = Attributes(rawValue: 1)
  package static let dim = Attributes(rawValue: 2)
  package static let underline = Attributes(rawValue: 4)
  package static let reverse = Attributes(rawValue: 8)
  package static let italic = Attributes(rawValue: 16)
}

/// The eight colors that every color terminal has. Users can redefine them, so they have names but no fixed values.
package enum AnsiColor: String, CaseIterable, Hashable, Sendable {
  case black, red, green, yellow, blue, magenta, cyan, white

  /// The color's number in the terminal capability `setaf`.
  package var index: Int { Self.allCases.firstIndex(of: self) ?? 7 }
}

/// A style that uses the eight named colors; `nil` is the terminal's default color.
package struct AnsiStyle: Hashable, Sendable {
  package var foreground: AnsiColor?
  package var background: AnsiColor?
  package var attributes: Attributes

  package init(_ foreground: AnsiColor? = nil, on background: AnsiColor? = nil, _ attributes: Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

extension Role {
  /// The style on a terminal with 8 or 16 colors, if the theme does not define one.
  ///
  /// Color 8 ("bright black") is never used, because Solarized terminals make it invisible.
  package var ansi: AnsiStyle {
    switch self {
    case .textMuted, .border, .jsonKey: AnsiStyle(nil, on: nil, [.dim])
    case .textStrong, .selectionBlur, .key: AnsiStyle(nil, on: nil, [.bold])
    case .paneTitleFocus: AnsiStyle(.black, on: .cyan)
    case .selection: AnsiStyle(.white, on: .blue)
    case .cursorGutter, .accent: AnsiStyle(.cyan)
    case .mark, .warn, .stateConnecting, .sourceLocal, .flagPending, .writeBackoff: AnsiStyle(.yellow)
    case .changeModified, .diffModified, .chartMid: AnsiStyle(.yellow)
    case .link, .jsonRef: AnsiStyle(.blue, on: nil, [.underline])
    case .headerProd, .toastError, .confirmDanger: AnsiStyle(.white, on: .red)
    case .headerOffline, .headerPaused, .match, .matchCurrent: AnsiStyle(.black, on: .yellow)
    case .stateOnline, .ok, .writeAcked, .chartLow: AnsiStyle(.green)
    case .stateFault, .jsonBool, .jsonTime: AnsiStyle(.magenta)
    case .info, .writeInflight, .jsonNumber: AnsiStyle(.blue)
    case .error, .changeRemoved, .diffRemoved, .writeRejected, .chartHigh: AnsiStyle(.red)
    case .changeAdded, .diffAdded: AnsiStyle(.cyan)
    case .inputInvalid: AnsiStyle(.red, on: nil, [.underline])
    case .scrollThumb: AnsiStyle(nil, on: nil, [.reverse])
    case .listener1, .value1: AnsiStyle(.blue)
    case .listener2, .value2: AnsiStyle(.magenta)
    case .listener3, .value3: AnsiStyle(.green)
    case .listener4, .value4: AnsiStyle(.yellow)
    case .listener6: AnsiStyle(.cyan)
    default: AnsiStyle()
    }
  }

  /// The style on a terminal without colors. States remain distinguishable, because the words and glyphs next to them
  /// differ too.
  package var monochrome: Attributes {
    switch self {
    case .textMuted, .border, .stateOffline, .changeSynced, .flagCache, .writeAcked, .inputGhost: .dim
    case .textStrong, .cursorGutter, .accent, .key, .warn, .error, .stateOnline: .bold
    case .selectionBlur, .changeAdded, .changeRemoved, .flagPending, .writeInflight: .bold
    case .mark, .link, .stateConnecting, .changeModified, .sourceLocal, .writeBackoff, .match, .inputInvalid: .underline
    case .paneTitleFocus: [.reverse, .bold]
    case .selection, .headerProd, .headerOffline, .headerPaused, .stateFault, .writeRejected: .reverse
    case .matchCurrent, .toastError, .confirmDanger, .scrollThumb: .reverse
    default: []
    }
  }
}

extension Value {
  /// The role for drawing a value of this type.
  package var role: Role {
    switch self {
    case .null: .jsonNull
    case .boolean: .jsonBool
    case .integer, .double, .geoPoint, .vector: .jsonNumber
    case .timestamp: .jsonTime
    case .serverTimestamp: .flagPending
    case .string: .jsonString
    case .bytes: .textMuted
    case .reference: .jsonRef
    case .array, .map: .jsonPunct
    }
  }
}
