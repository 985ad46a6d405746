// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery

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
package struct InspectionGreeting: Hashable, Sendable {
  /// The version of the messages after greeting and word.
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
  package struct Core: Hashable, Sendable {
    package var hearth: Int
    package var process: Int32
    package var name: String
  }
}

/// The first message of a watcher.
package struct InspectionWord: Hashable, Sendable {
  package var hearth = InspectionGreeting.currentVersion
  /// Whether the watcher may change what the program's client does.
  package var control: Bool

  package init(control: Bool) { self.control = control }
}

/// A request of a watcher to a program. Questions are answered from the program's cache.
package enum InspectionRequest: Sendable {
  case documents(Query)
  /// The document at an offset in a query's result.
  case locate(Query, offset: Int)
  case collections(below: ResourcePath)
  case count(ResourcePath)
  case layers(DocumentKey)
  case explain(Query)
  case preview(Query)
  case inside
  case survey
  case setNetwork(Bool)
  case retryNow
  case cancelWrite(BatchID)
  /// Queues a rejected batch again as it was.
  case resend(BatchID)
  case dropRejected([BatchID])
  case setFaults(FaultSettings)
  case injectFault(WriteFault)
  /// Lets a fault happen once; only of a program whose greeting says that it knows the words for faults.
  case causeFault(FaultEvent)
  case restart(StreamUse.Kind)

  /// Whether the request changes what the program's client does.
  package var isControl: Bool {
    switch self {
    case .documents, .locate, .collections, .count, .layers, .explain, .preview, .inside, .survey: false
    case .setNetwork, .retryNow, .cancelWrite, .resend, .dropRejected, .setFaults, .injectFault, .causeFault,
      .restart:
      true
    }
  }
}

package struct NumberedRequest: Sendable {
  package var number: Int
  package var request: InspectionRequest

  package init(_ number: Int, _ request: InspectionRequest) {
    self.number = number
    self.request = request
  }
}

package enum InspectionAnswer: Sendable {
  case done
  case failed(RPCStatus)
  case documents([Document])
  /// The document at the offset; `nil` if the cache has no more than `count` documents.
  case located(DocumentKey?, count: Int)
  case collections([String])
  /// The number of documents; `nil` if there are too many to be counted.
  case count(Int?)
  case layers(remote: Document?, overlay: Mutation?, local: Document?)
  case explanation(QueryExplanation)
  case preview(QueryPreview)
  case inside(ClientInside)
  case survey(CacheSurvey)
}

/// A message of a program to its watchers.
package enum InspectionNews: Sendable {
  /// A listener that exists, or begins.
  case listener(ListenerState)
  case snapshot(ListenerSnapshot)
  /// The program stopped a listener; with a status, it failed.
  case ended(listener: Int, RPCStatus?)
  /// So many snapshots were not told; these are the listeners' last results.
  case missed(snapshots: Int, [Int: ListenerState.Result])
  case status(InspectedStatus)
  /// The cache is not the one that the program asked for.
  case cacheProblem(String)
  case faults(FaultSettings)
  case answer(to: Int, InspectionAnswer)
  /// The reason why the connection ends here.
  case refused(String)
  /// The client was closed by the program.
  case closed
}

/// A status without the lists that are long and were told a moment ago: their last state still holds.
package struct InspectedStatus: Sendable {
  package enum Part: String, Hashable, Sendable { case reads, waitingWrites }

  /// The status without the omitted lists.
  let status: ClientStatus
  private let omitted: Set<Part>
  var omittedParts: [Part]? { omitted.isEmpty ? nil : omitted.sorted { $0.rawValue < $1.rawValue } }

  package init(_ status: ClientStatus, omitting omitted: Set<Part> = []) {
    var status = status
    if omitted.contains(.reads) { status.reads = [] }
    if omitted.contains(.waitingWrites) { status.pendingWrites = [] }
    self.status = status
    self.omitted = omitted
  }

  /// The whole status, with the missing lists from the last one.
  /// - Parameter last: the status that was told before; `nil` for the first.
  package func completed(with last: ClientStatus?) -> ClientStatus {
    var status = status
    if omitted.contains(.reads) { status.reads = last?.reads ?? [] }
    if omitted.contains(.waitingWrites) { status.pendingWrites = last?.pendingWrites ?? [] }
    return status
  }
}

/// Turns messages into lines and back.
package enum InspectionLine {
  /// The most bytes that a program reads of one request.
  package static let longestRequest = 256 << 10
  /// The most bytes that a watcher reads of one piece of news.
  package static let longestNews = 64 << 20

  /// The line of a message, with the line's end.
  package static func bytes(_ value: some JSONFormed) -> [UInt8] {
    Array((value.json(JSONContext()).lineText + "\n").utf8)
  }

  package static func value<Value: JSONFormed>(
    _ type: Value.Type, of line: some Sequence<UInt8>
  ) throws(JSONError) -> Value {
    try Value(json: try JSONSyntax(parsing: String(decoding: Array(line), as: UTF8.self)), JSONContext())
  }
}

/// Received bytes, divided into lines.
package struct ReceivedLines: Sendable {
  private var bytes: [UInt8] = []
  /// The number of bytes that were searched for the end of a line.
  private var searched = 0

  package init() {}

  /// The number of bytes of an unfinished line.
  package var count: Int { bytes.count }

  /// Adds received bytes.
  /// - Returns: the lines that are complete now, without their ends.
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
