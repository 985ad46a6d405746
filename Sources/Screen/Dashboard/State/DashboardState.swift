// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// Everything the screen shows. Changed only by `update`, drawn only by `view`; holds no clock, no task, no handle.
///
/// Parts with rules of their own are values with private state and transitions; these fields are those that several
/// parts share.
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
  package internal(set) var wall = Wall()
  package internal(set) var detail: Detail?
  package internal(set) var versions = VersionHistory()
  package var outages = Outages()
  var notices = Notices()
  package internal(set) var coach: Coach?
  package internal(set) var faults = FaultSettings()
  package var typing: Typing
  /// The earlier moment that the screen shows; `nil` for the present.
  package internal(set) var past: PastMoment?
  /// The clients that share the screen; `nil` where there is one.
  package internal(set) var stage: StageFacts?

  package init(_ configuration: DashboardConfiguration, size: Size, now: Timestamp) {
    self.configuration = configuration
    screen = ScreenShape(
      size: size, theme: configuration.theme, isMouseOn: configuration.isMouseOn,
      highlightsRows: configuration.highlightsRows)
    if configuration.isLinkSlow { screen.note(isLinkSlow: true) }
    self.now = now
    headerClock = HeaderClock(now)
    typing = Typing(commands: configuration.commandHistory)
    coach = configuration.hasCoach ? Coach() : nil
    network = ClientStatus(since: now)
    if configuration.beginsWithWall { openWall() }
  }

  /// The effects to perform before the first frame.
  package static let initialEffects: [Effect] = [.client(.listCollections(below: .root))]
}

/// Parts of the values above that are read in many places.
extension DashboardState {
  /// The size of the screen, as last reported.
  package var size: Size { screen.size }
  package var listeners: [ListenerRecord] { listening.records }
  package var toasts: [Toast] { notices.shown }
  /// Earlier toasts too, newest last.
  package var messages: [Toast] { notices.kept }
  /// The number of messages so far.
  package var messageCount: Int { notices.count }
  /// Commands that were run in the palette, newest last.
  package var commandHistory: [String] { typing.commands }
  /// The signs to draw with, with the lines of the shown theme.
  package var borderedGlyphs: Glyphs {
    let theme = configuration.themes.first { $0.slug == screen.theme }
    return theme?.border.map(configuration.glyphs.bordered) ?? configuration.glyphs
  }
}

/// The settings that no key changes.
package struct DashboardConfiguration: Sendable {
  package struct Theme: Hashable, Sendable {
    package var slug: String
    package var name: String
    /// Whether the theme is for a light background; `nil` where that is not known.
    package var isLight: Bool?
    /// The lines around panes that the theme asks for.
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
  /// Seconds east of UTC for the times on screen.
  package var utcOffset: Int
  package var glyphs: Glyphs
  package var themes: [Theme]
  package var theme: String
  package var isMouseOn: Bool
  /// Whether selected rows are highlighted in their full width, which costs twice the bytes of a move: too many over a
  /// slow line.
  package var highlightsRows: Bool
  /// Whether the guide for first-time users is shown.
  package var hasCoach: Bool
  package var keymap: Keymap
  /// Whether all commands that change documents or pending writes are refused.
  package var isReadOnly: Bool
  /// The program whose client is shown; `nil` for a client of the dashboard's own.
  package var attached: AttachedProgram?
  /// The commands that were run in the palette in earlier sessions, newest last.
  package var commandHistory: [String]
  /// The names of the user's connections.
  package var connections: [String]
  /// The options with which another terminal's commands reach this data; `nil` where none does.
  package var reachingOptions: String?
  /// Whether the wall is on the screen at first.
  package var beginsWithWall: Bool
  /// The user's figures that those of the client are compared with.
  package var inside: InsideSettings
  /// Whether the line to the terminal is known to be slow.
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

/// The settings in a user's files, read again while the dashboard runs.
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

  /// The reason why a read-only dashboard refuses a command.
  var readOnlyReason: String {
    let backend = configuration.backend
    if let name = backend.name, backend.isReadOnly == true { return "read-only: the connection \(name) is" }
    return "read-only: hearth was started with --readonly"
  }

  /// The effects that change no data; a message tells if others were dropped. Commands refuse earlier, with the same
  /// reason; this is for effects that a command overlooks.
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
    case .client, .terminal, .timeline, .recording, .stage: false
    }
  }
}

/// The state of one frame, shared by everything that draws a part of it.
///
/// A `DashboardState` has hundreds of fields. A pane that stored one would copy them all, and the code of these copies
/// would be most of the machine code of the panes. A reference costs one count.
package final class FrameState: Sendable {
  package let state: DashboardState

  package init(_ state: DashboardState) { self.state = state }
}
