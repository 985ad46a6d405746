// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreClientState
package import FirestoreModel
import FirestoreText
package import TerminalCanvas

/// The whole state of the screen. Only `update` changes it, and only `view` draws it. It has no clock and starts no
/// tasks.
///
/// A part with its own rules is a separate type with private state. The other fields are used by several parts.
package struct DashboardState: Sendable {
  package var configuration: DashboardConfiguration
  package internal(set) var screen: ScreenShape
  /// The time of the latest action.
  package internal(set) var now: Timestamp
  package internal(set) var headerClock: HeaderClock
  package internal(set) var focus = Pane.collections
  package internal(set) var overlay: Overlay?
  package internal(set) var network: ClientStatus
  package internal(set) var storage = StorageState()
  package internal(set) var attachment = AttachmentState()
  package internal(set) var browser = Browser()
  package internal(set) var writes = WriteQueue()
  package internal(set) var listening = Listening()
  package internal(set) var feed = Feed()
  package internal(set) var requests = RequestFeed()
  package internal(set) var wall: Wall
  package internal(set) var detail: Detail?
  package internal(set) var versions = VersionHistory()
  package var outages = Outages()
  var notices = Notices()
  package internal(set) var coach: Coach?
  package internal(set) var faults = ClientFaults()
  package var typing: Typing
  /// The earlier time that the screen shows; `nil` for the current state.
  package internal(set) var past: PastMoment?
  /// Information about the clients that share the screen; `nil` for a single client.
  package internal(set) var clientSet: ClientSetFacts?

  package init(_ configuration: DashboardConfiguration, size: Size, now: Timestamp) {
    self.configuration = configuration
    screen = ScreenShape(
      size: size, theme: configuration.theme, isMouseOn: configuration.isMouseOn,
      highlightsRows: configuration.highlightsRows)
    if configuration.isLinkSlow { screen.note(isLinkSlow: true) }
    self.now = now
    headerClock = HeaderClock(now)
    wall = Wall(since: now)
    typing = Typing(commands: configuration.commandHistory)
    coach = configuration.hasCoach ? Coach() : nil
    network = ClientStatus(since: now)
    if configuration.beginsWithWall { openWall() }
  }

  /// The effects to perform before the first frame.
  package static let initialEffects: [Effect] = [.client(.listCollections(below: .root))]
}

/// Shortcuts to frequently used properties of the parts.
extension DashboardState {
  /// The size of the screen, as last reported.
  package var size: Size { screen.size }
  package var listeners: [ListenerRecord] { listening.records }
  package var toasts: [Toast] { notices.shown }
  /// The active faults, and those that wait for a write, in a few words; `nil` if there are none.
  package var faultText: String? { FaultText.summary(of: faults.settings, waiting: faults.waiting) }
  /// All stored messages, newest last. They include messages that are no longer shown.
  package var messages: [Toast] { notices.kept }
  /// The count of all messages so far.
  package var messageCount: Int { notices.count }
  /// Commands run from the palette, newest last.
  package var commandHistory: [String] { typing.commands }
  /// The glyphs for drawing, with the border style of the current theme.
  package var borderedGlyphs: Glyphs {
    let theme = configuration.themes.first { $0.slug == screen.theme }
    return theme?.border.map(configuration.glyphs.bordered) ?? configuration.glyphs
  }
}

/// The faults between the shown client and its backend.
package struct ClientFaults: Hashable, Sendable {
  package var settings = FaultSettings()
  /// The one-time faults that have not occurred yet.
  package var waiting: [FaultEvent] = []
}

/// The settings that keys cannot change.
package struct DashboardConfiguration: Sendable {
  package struct Theme: Hashable, Sendable {
    package var slug: String
    package var name: String
    /// Whether the theme is designed for a light background; `nil` if unknown.
    package var isLight: Bool?
    /// The border style of the theme.
    package var border: BorderStyle?

    package init(slug: String, name: String, isLight: Bool? = nil, border: BorderStyle? = nil) {
      self.slug = slug
      self.name = name
      self.isLight = isLight
      self.border = border
    }
  }

  package var database: DatabaseID
  package var backend: ConnectedBackend
  /// The offset of displayed times in seconds east of UTC.
  package var utcOffset: Int
  package var glyphs: Glyphs
  package var themes: [Theme]
  package var theme: String
  package var isMouseOn: Bool
  /// Whether selected rows are highlighted in their full width. This doubles the bytes sent when the selection moves,
  /// which is too much for a slow terminal connection.
  package var highlightsRows: Bool
  /// Whether the guide for first-time users is shown.
  package var hasCoach: Bool
  package var keymap: Keymap
  /// Whether to reject all commands that change documents or pending writes.
  package var isReadOnly: Bool
  /// The program whose client is shown; `nil` for the dashboard's client.
  package var attached: AttachedProgram?
  /// The commands that were run from the palette in earlier sessions, newest last.
  package var commandHistory: [String]
  /// The names of the user's connections.
  package var connections: [String]
  /// The options that let a command in another terminal use the same data; `nil` if it cannot.
  package var reachingOptions: String?
  /// Whether the dashboard starts with the wall.
  package var beginsWithWall: Bool
  /// The user's limits for the client's figures on the page about its internals.
  package var inside: InsideSettings
  /// Whether the terminal connection is known to be slow.
  package var isLinkSlow: Bool
  /// The scenarios that can be played.
  package var scenarios: [ScenarioTitle] = []

  package init(
    database: DatabaseID, backend: ConnectedBackend, utcOffset: Int = 0, glyphs: Glyphs = .unicode,
    themes: [Theme] = [], theme: String = "", isMouseOn: Bool = true, highlightsRows: Bool = true,
    hasCoach: Bool = false, keymap: Keymap = .standard, isReadOnly: Bool = false,
    attached: AttachedProgram? = nil, commandHistory: [String] = [], connections: [String] = [],
    reachingOptions: String? = nil, beginsWithWall: Bool = false, inside: InsideSettings = InsideSettings(),
    isLinkSlow: Bool = false
  ) {
    self.database = database
    self.backend = backend
    self.utcOffset = utcOffset
    self.glyphs = glyphs
    self.themes = themes
    self.theme = theme
    self.isMouseOn = isMouseOn
    self.highlightsRows = highlightsRows
    self.hasCoach = hasCoach
    self.keymap = keymap
    self.isReadOnly = isReadOnly
    self.attached = attached
    self.commandHistory = commandHistory
    self.connections = connections
    self.reachingOptions = reachingOptions
    self.beginsWithWall = beginsWithWall
    self.inside = inside
    self.isLinkSlow = isLinkSlow
  }
}

/// The settings in a user's files, reloaded while the dashboard runs.
package struct DashboardPreferences: Sendable {
  package var themes: [DashboardConfiguration.Theme]
  package var theme: String
  package var keymap: Keymap
  package var glyphs: Glyphs
  package var isMouseOn: Bool
  package var inside: InsideSettings

  package init(
    themes: [DashboardConfiguration.Theme], theme: String, keymap: Keymap, glyphs: Glyphs, isMouseOn: Bool,
    inside: InsideSettings = InsideSettings()
  ) {
    self.themes = themes
    self.theme = theme
    self.keymap = keymap
    self.glyphs = glyphs
    self.isMouseOn = isMouseOn
    self.inside = inside
  }
}

extension DashboardState {
  mutating func adopt(_ preferences: DashboardPreferences) {
    configuration.themes = preferences.themes
    configuration.keymap = preferences.keymap
    configuration.glyphs = preferences.glyphs
    configuration.inside = preferences.inside
    screen.adopt(preferences)
  }

  /// The reason why a read-only dashboard rejects a command.
  var readOnlyReason: String {
    let backend = configuration.backend
    if let name = backend.name, backend.isReadOnly == true { return "read-only: the connection \(name) is" }
    return "read-only: hearth was started with --readonly"
  }

  /// Returns the effects that change no data. A message reports the dropped effects. Usually the command itself is
  /// already rejected, with the same reason. This function catches the effects of commands that do not check this.
  mutating func withoutWrites(_ effects: [Effect]) -> [Effect] {
    let allowed = effects.filter { !$0.isWrite }
    if allowed.count < effects.count { toast(.warning, readOnlyReason) }
    return allowed
  }
}

extension Effect {
  /// Whether the effect changes documents or pending writes.
  var isWrite: Bool {
    switch self {
    case .client(.write), .client(.edit), .client(.cancelWrite), .client(.setWriteAside), .client(.undo),
      .client(.resend), .client(.dropRejected):
      true
    case .terminal(.edit): true
    case .client(.transfer(let request)): request.isImport
    case .client, .terminal, .timeline, .recording, .clientSet: false
    }
  }
}

/// The state of one frame. Everything that draws a part of the frame shares this object.
///
/// A `DashboardState` has hundreds of fields. If each pane stored a `DashboardState`, it would copy all fields, and the
/// copying would be most of the panes' machine code. A reference needs only a retain.
package final class FrameState: Sendable {
  package let state: DashboardState

  package init(_ state: DashboardState) { self.state = state }
}
