// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// The messages between a program that may be watched and its watchers, one JSON object to a line:
//
// ```
// program ──► greeting          tells every connection about the client
// watcher ──► word              asks to watch, and perhaps to control
// program ──► news …            or a refusal, after which the connection ends
// watcher ──► request …         each with a number, which its answer repeats
// ```

/// The description of a client for its watchers. Its first three keys stay the same in every version, so that each side
/// can tell that the other has a different one.
package struct InspectionGreeting: Codable, Hashable, Sendable {
  /// The version of the messages after greeting and word.
  package static let currentVersion = 1

  package enum BackendKind: String, Codable, Hashable, Sendable { case embedded, emulator, cloud, other }

  package var hearth = Self.currentVersion
  package var process: Int32
  /// The name of the program that runs in the process.
  package var name: String
  package var database: DatabaseID
  package var backend: BackendKind
  /// The backend's address, such as `127.0.0.1:8080`; `nil` if it has none.
  package var host: String?
  /// Whether the connection to the backend is encrypted.
  package var isTLS: Bool
  /// The time at which the client was opened.
  package var since: Timestamp
  package var listeners: Int
  /// The number of watchers that are there already.
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

  /// The keys that every version has.
  package struct Core: Codable, Hashable, Sendable {
    package var hearth: Int
    package var process: Int32
    package var name: String
  }
}

/// The first message of a watcher.
package struct InspectionWord: Codable, Hashable, Sendable {
  package var hearth = InspectionGreeting.currentVersion
  /// Whether the watcher may change what the program's client does.
  package var control: Bool

  package init(control: Bool) { self.control = control }
}
