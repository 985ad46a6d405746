// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

// The messages between an inspectable program and its watchers, one JSON object per line:
//
// ```
// program ──► greeting          describes the client to every connection
// watcher ──► word              asks to watch, and perhaps to control
// program ──► ClientEvent …     or `attachment-ended`, after which the connection ends
// watcher ──► ClientRequest …   the program answers from its cache, in their order
// ```

/// The description of a client that each watcher receives first. The first three keys are the same in every version, so
/// that each side can detect that the other has a different version.
package struct InspectionGreeting: Hashable, Sendable {
  /// The version of all messages after the greeting and the watcher's first message.
  package static let currentVersion = 1

  package enum BackendKind: String, Hashable, Sendable { case embedded, emulator, cloud, other }

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
  /// The time at which the program opened the client.
  package var since: Timestamp
  package var listeners: Int
  /// The number of watchers already connected.
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

  /// The keys that the greeting has in every version.
  package struct Core: Hashable, Sendable {
    package var hearth: Int
    package var process: Int32
    package var name: String
  }
}

/// The first message that a watcher sends.
package struct InspectionWord: Hashable, Sendable {
  package var hearth = InspectionGreeting.currentVersion
  /// Whether the watcher may control the program's client.
  package var control: Bool

  package init(control: Bool) { self.control = control }
}

/// Converts messages to lines and back.
package enum InspectionLine {
  /// The size limit in bytes of one request. Programs reject longer requests.
  package static let longestRequest = 256 << 10
  /// The size limit in bytes of one event. Watchers reject longer events.
  package static let longestEvent = 64 << 20

  /// A message as a line of bytes, with its newline.
  package static func bytes(_ value: some JSONFormed) -> [UInt8] {
    Array((value.json(JSONContext()).lineText + "\n").utf8)
  }

  package static func value<Value: JSONFormed>(
    _ type: Value.Type, of line: some Sequence<UInt8>
  ) throws(JSONError) -> Value {
    try Value(json: try JSONSyntax(parsing: String(decoding: Array(line), as: UTF8.self)), JSONContext())
  }
}

/// Splits received bytes into lines.
package struct ReceivedLines: Sendable {
  private var bytes: [UInt8] = []
  /// The number of bytes that were already searched for a newline.
  private var searched = 0

  package init() {}

  /// The number of bytes in the unfinished line.
  package var count: Int { bytes.count }

  /// Adds received bytes to the unfinished line.
  /// - Returns: the lines that are now complete, without their newlines.
  package mutating func take(_ received: ArraySlice<UInt8>) -> [[UInt8]] {
    bytes += received
    var lines: [[UInt8]] = []
    var start = 0
    while let end = bytes[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(Array(bytes[start..<end]))
      start = end + 1
      searched = start
    }
    if start > 0 { bytes.removeFirst(start) }
    searched = bytes.count
    return lines
  }
}
