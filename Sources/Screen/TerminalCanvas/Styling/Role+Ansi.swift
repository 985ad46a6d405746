// SPDX-License-Identifier: Apache-2.0

/// The eight colours that every colour terminal has; users redefine them, so they carry names and no values.
package enum AnsiColor: String, CaseIterable, Hashable, Sendable {
  case black, red, green, yellow, blue, magenta, cyan, white

  /// The number in `setaf`.
  package var index: Int { Self.allCases.firstIndex(of: self) ?? 7 }
}

/// A look made of the eight named colours; `nil` is the terminal's own colour.
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
  /// The look on a terminal with 8 or 16 colours when the theme gives no name of its own.
  ///
  /// Colour 8 ("bright black") is never used: Solarized terminals make it invisible.
  package var ansi: AnsiStyle {
    switch self {
    case .textMuted, .border: AnsiStyle(nil, on: nil, [.dim])
    case .textStrong, .selectionBlur: AnsiStyle(nil, on: nil, [.bold])
    case .paneTitleFocus: AnsiStyle(.black, on: .cyan)
    case .selection: AnsiStyle(.white, on: .blue)
    case .cursorGutter, .accent, .key, .jsonKey: AnsiStyle(.cyan)
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
    case .listener1, .value1: AnsiStyle(.cyan)
    case .listener2, .value2: AnsiStyle(.blue)
    case .listener3, .value3: AnsiStyle(.green)
    case .listener4, .value4: AnsiStyle(.yellow)
    case .listener5, .value5: AnsiStyle(.magenta)
    case .listener6: AnsiStyle(.red)
    default: AnsiStyle()
    }
  }

  /// The look without any colour; states stay distinguishable because the words and glyphs beside them differ too.
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
