// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// Everything the screen shows. Changed only by `update`, drawn only by `view`; holds no clock, no task, no handle.
package struct DashboardState: Sendable {
  package var configuration: DashboardConfiguration
  /// The size of the screen, as last reported.
  package internal(set) var size: Size
  /// When the latest action happened.
  package internal(set) var now: Timestamp
  /// When something last happened or aged: the clock in the header while anything counts seconds.
  package internal(set) var clock: Timestamp
  /// When the client last had news: what the header shows while nothing happens, so that it is never a wrong time.
  package internal(set) var lastNews: Timestamp
  package internal(set) var focus = Pane.collections
  package internal(set) var isZoomed = false
  package internal(set) var preset = LayoutPreset.balanced
  /// Where the user has put the borders of panes.
  var borders = Arrangement.Borders()
  /// The border that the mouse holds.
  var draggedBorder: Layout.Border?
  package internal(set) var overlay: Overlay?
  package internal(set) var network: ClientStatus
  package internal(set) var storage: StorageNotice?
  /// Who uses the embedded data; `nil` for data in memory, and for servers.
  package internal(set) var company: DataCompany?
  /// Who had the data open last, as far as it was open.
  var dataStanding: DataCompany.Standing?
  /// Why nothing more is told of the program whose client this shows.
  package internal(set) var attachmentEnd: String?
  /// Snapshots that the program did not tell.
  package internal(set) var missedSnapshots = 0
  package internal(set) var browser = Browser()
  package internal(set) var writes = WriteQueue()
  package internal(set) var listeners: [ListenerRecord] = []
  /// What listeners with a limit have.
  var limitedResults: [ListenerTag: [DocumentKey: Document]] = [:]
  package internal(set) var feed = Feed()
  package internal(set) var detail: Detail?
  package internal(set) var versions = VersionHistory()
  /// Own writes that replaced what their author had not seen, newest last.
  package internal(set) var conflicts: [WriteConflict] = []
  /// What became of outages, newest last.
  var reconnections: [Reconnection] = []
  /// When batches of late were acknowledged, and how long after they were sent.
  var answers: [BatchID: (at: Timestamp, after: Duration)] = [:]
  package internal(set) var toasts: [Toast] = []
  /// Earlier toasts, newest last.
  package internal(set) var messages: [Toast] = []
  package internal(set) var theme: String
  package internal(set) var isMouseOn: Bool
  /// Whether the terminal gets fewer frames than there is news.
  package internal(set) var isLinkSlow = false
  package internal(set) var coach: Coach?
  /// What was sent to the terminal, as of `trafficTime`.
  var traffic: TerminalTraffic?
  var trafficTime: Timestamp?
  /// Whether the selected row is shown in all of its width; else by the sign in the gutter alone.
  package internal(set) var highlightsRows: Bool
  /// The import or export that is under way.
  package internal(set) var transfer: TransferState?
  /// What the one before came to.
  package internal(set) var lastTransfer: TransferAccount?
  package internal(set) var faults = FaultSettings()
  /// The indexes of the cache.
  package internal(set) var indexes: [IndexState] = []
  package internal(set) var createsIndexes = false
  var rate = EventRate()
  var outages = OnlineHistory()
  var bookmarks: [Character: Bookmark] = [:]
  /// Set while a letter is waited for.
  var bookmarkVerb: BookmarkVerb?
  /// The row that is being typed for `G`; it begins with a digit that is no pane's.
  var typedRow: Int?
  /// When the network is switched on again by itself.
  var networkReturn: Timestamp?
  /// What was run in the palette, newest last.
  var commandHistory: [String]
  var nextListener = 1
  /// The field editor behind a question, with edits that were not sent.
  var heldEditor: FieldEditor?
  /// The field editor whose edit was sent last, for when it comes back with a conflict.
  var sentEditor: FieldEditor?
  /// The field editor whose edits were handed to the user's editor of texts, for when that gives nothing back.
  var textEditor: FieldEditor?
  /// Set while the screen shows an earlier moment.
  package internal(set) var past: PastMoment?
  var lastInterrupt: Timestamp?
  var lastClick: (point: Point, time: Timestamp)?

  package init(_ configuration: DashboardConfiguration, size: Size, now: Timestamp) {
    self.configuration = configuration
    self.size = size
    self.now = now
    clock = now
    lastNews = now
    theme = configuration.theme
    isMouseOn = configuration.isMouseOn
    highlightsRows = configuration.highlightsRows
    commandHistory = configuration.commandHistory
    coach = configuration.hasCoach ? Coach() : nil
    network = ClientStatus(since: now)
  }

  /// What to ask for before the first frame.
  package static let initialEffects: [Effect] = [.client(.listCollections(below: .root))]
}

/// What no key changes.
package struct DashboardConfiguration: Codable, Sendable {
  package struct Theme: Codable, Hashable, Sendable {
    package var slug: String
    package var name: String

    package init(slug: String, name: String) {
      self.slug = slug
      self.name = name
    }
  }

  package var database: DatabaseID
  package var backend: Backend
  /// Seconds east of UTC for the times on screen.
  package var utcOffset: Int
  package var glyphs: Glyphs
  package var themes: [Theme]
  package var theme: String
  package var isMouseOn: Bool
  /// A row in all of its width costs twice the bytes of a move: not worth it over a slow line.
  package var highlightsRows: Bool
  /// Whether the first steps are shown.
  package var hasCoach: Bool
  package var keymap: Keymap
  /// Whether everything that changes documents, or what waits to be written, is refused.
  package var isReadOnly: Bool
  /// The program whose client this shows; `nil` for a client of the dashboard's own.
  package var attached: AttachedProgram?
  /// What was run in the palette at earlier starts, newest last.
  package var commandHistory: [String]
  /// The names of the user's connections.
  package var connections: [String]?

  package init(
    database: DatabaseID, backend: Backend, utcOffset: Int = 0, glyphs: Glyphs = .unicode,
    themes: [Theme] = [], theme: String = "", isMouseOn: Bool = true, highlightsRows: Bool = true,
    hasCoach: Bool = false, keymap: Keymap = .standard, isReadOnly: Bool = false,
    attached: AttachedProgram? = nil, commandHistory: [String] = [], connections: [String]? = nil
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
  }
}

/// What a user's files say about the dashboard, read again while it runs.
package struct DashboardPreferences: Codable, Sendable {
  package var themes: [DashboardConfiguration.Theme]
  package var theme: String
  package var keymap: Keymap
  package var glyphs: Glyphs
  package var isMouseOn: Bool

  package init(
    themes: [DashboardConfiguration.Theme], theme: String, keymap: Keymap, glyphs: Glyphs, isMouseOn: Bool
  ) {
    self.themes = themes
    self.theme = theme
    self.keymap = keymap
    self.glyphs = glyphs
    self.isMouseOn = isMouseOn
  }
}

extension DashboardConfiguration {
  /// The server at the other end.
  package struct Backend: Codable, Hashable, Sendable {
    /// `cloud` holds real data: deleting there asks to type the document's name.
    package enum Kind: Codable, Hashable, Sendable { case embedded, emulator, cloud }
    package var kind: Kind
    package var project: String
    package var database: String
    /// `127.0.0.1:8080`; `nil` for the embedded backend.
    package var host: String?
    /// Whether the way there is encrypted.
    package var isTLS: Bool
    /// The user that is signed in.
    package var user: String?
    /// The connection of the user's file that this is.
    package var name: String?
    /// Whether the data is real, where that file says so.
    package var production: Bool?
    /// Whether that file forbids writing.
    package var isReadOnly: Bool?

    package init(
      _ kind: Kind, project: String, database: String = "(default)", host: String? = nil, isTLS: Bool = false,
      user: String? = nil, name: String? = nil, production: Bool? = nil, isReadOnly: Bool? = nil
    ) {
      self.kind = kind
      self.project = project
      self.database = database
      self.host = host
      self.isTLS = isTLS
      self.user = user
      self.name = name
      self.production = production
      self.isReadOnly = isReadOnly
    }

    /// Whether the data is taken for real: that of Cloud Firestore, unless the user says otherwise.
    package var isProduction: Bool { production ?? (kind == .cloud) }

    /// The host, and how it is spoken to where that is not the plain text of emulators.
    package var address: String? { host.map { isTLS ? $0 + " TLS" : $0 } }
  }
}

/// Why data or cache are not kept where the user expects them.
package struct StorageNotice: Codable, Hashable, Sendable {
  /// A few words for the header: `IN MEMORY: cache locked`. `nil` for what need not stand there.
  package var badge: String?
  /// What happened, and the way out.
  package var message: String

  package init(badge: String? = nil, message: String) {
    self.badge = badge
    self.message = message
  }
}

/// A row with a letter, to come back to.
enum Bookmark: Hashable, Sendable {
  case item(Browser.Item)
  case write(BatchID)
  case feedRow(Int)
  case document(DocumentKey, line: [String]?)
}

/// What the next letter is for.
enum BookmarkVerb: Hashable, Sendable { case set, go }
