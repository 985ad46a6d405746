// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// What a program that may be watched and who watches it say to each other, a JSON object to a line:
//
// ```
// program ──► greeting          whose client this is, to everybody who connects
// watcher ──► word              that it wants to watch, and whether to control too
// program ──► news …            or a refusal, and the connection ends
// watcher ──► request …         each with a number, which its answer has too
// ```

/// Whose client this is. Its first three keys stay as they are in every version, so that each side can say that the
/// other is of a different one.
package struct InspectionGreeting: Codable, Hashable, Sendable {
  /// Of what is said after greeting and word.
  package static let currentVersion = 1

  package enum BackendKind: String, Codable, Hashable, Sendable { case embedded, emulator, cloud, other }

  package var hearth = Self.currentVersion
  package var process: Int32
  /// What runs in the process.
  package var name: String
  package var database: DatabaseID
  package var backend: BackendKind
  /// `127.0.0.1:8080`; `nil` where there is no address.
  package var host: String?
  /// Whether the way there is encrypted.
  package var isTLS: Bool
  /// When the client was opened.
  package var since: Timestamp
  package var listeners: Int
  /// Who watches already.
  package var watchers: Int

  package init(
    process: Int32, name: String, database: DatabaseID, backend: BackendKind, host: String? = nil,
    isTLS: Bool = false, since: Timestamp, listeners: Int = 0, watchers: Int = 0
  ) {
    self.process = process
    self.name = name
    self.database = database
    self.backend = backend
    self.host = host
    self.isTLS = isTLS
    self.since = since
    self.listeners = listeners
    self.watchers = watchers
  }

  /// What every version has.
  package struct Core: Codable, Hashable, Sendable {
    package var hearth: Int
    package var process: Int32
    package var name: String
  }
}

/// The first thing that a watcher says.
package struct InspectionWord: Codable, Hashable, Sendable {
  package var hearth = InspectionGreeting.currentVersion
  /// Whether it may change what the program's client does.
  package var control: Bool

  package init(control: Bool) { self.control = control }
}
