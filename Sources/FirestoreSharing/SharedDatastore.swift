// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import Synchronization

/// One database of data that several processes use together. A call that its owner did not live to answer is made again
/// of the next one; a commit has a name, so that it is applied once. A stream ends with the owner, and is resumed by
/// its client with the next.
package final class SharedDatastore: Datastore {
  /// Open as long as this is used.
  private let data: SharedData
  private let keeper: DataKeeper
  private let database: DatabaseID
  /// Of the reason for which the last stream ended: the next waits until there is something new.
  private let told = Mutex<Int?>(nil)

  init(_ data: SharedData, _ keeper: DataKeeper, _ database: DatabaseID) {
    self.data = data
    self.keeper = keeper
    self.database = database
  }

  /// An owner that says nothing is asked, and a stream ends with it.
  package var canFallSilent: Bool { false }

  package func reconnect() {
    if case .attached(let attachment)? = keeper.state.withLock({ $0.way }) {
      attachment.datastore(for: database).reconnect()
    }
  }

  // MARK: Streams

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let start = StreamStart()
    try await stream(start) { datastore throws(RPCStatus) in
      try await datastore.watch(requests: start.noting(requests)) { event in
        if case .opened = event, !start.opens() { return }
        await deliver(event)
      }
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let start = StreamStart()
    try await stream(start) { datastore throws(RPCStatus) in
      try await datastore.write(requests: start.noting(requests)) { event in
        if case .opened = event, !start.opens() { return }
        await deliver(event)
      }
    }
  }

  /// Runs a stream, on the next way if the first ends before anything was asked on it.
  private func stream(
    _ start: StreamStart, _ body: (any Datastore) async throws(RPCStatus) -> Void
  ) async throws(RPCStatus) {
    while true {
      let way: DataKeeper.Way
      do throws(RPCStatus) {
        way = try await keeper.way(knowing: told.withLock { $0 })
        told.withLock { $0 = nil }
      } catch {
        told.withLock { $0 = keeper.state.withLock { $0.generation } }
        throw error
      }
      switch way {
      case .own(let backend): return try await body(InProcessDatastore(backend: backend, database: database))
      case .attached(let attachment):
        do throws(RPCStatus) { return try await body(attachment.datastore(for: database)) } catch {
          guard await isLost(attachment, error) else { throw error }
          if start.hasAsked {
            throw RPCStatus(.unavailable, "\(attachment.owner), which had the data open, is gone.")
          }
        }
      }
    }
  }

  // MARK: Calls

  /// Makes a call, again if its owner is gone before it was answered.
  private func call<Result>(
    _ body: (any Datastore) async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    while true {
      switch try await keeper.way() {
      case .own(let backend): return try await body(InProcessDatastore(backend: backend, database: database))
      case .attached(let attachment):
        do throws(RPCStatus) { return try await body(attachment.datastore(for: database)) } catch {
          guard await isLost(attachment, error) else { throw error }
        }
      }
    }
  }

  /// Whether a call failed because its way is over. The call may know before the keeper does.
  private func isLost(_ attachment: Attachment, _ status: RPCStatus) async -> Bool {
    if Task.isCancelled { return false }
    if attachment.isOver { return true }
    // What a broken line, or a server that is being stopped, comes to.
    guard [.unavailable, .cancelled, .internal, .unknown].contains(status.code) else { return false }
    let keeper = keeper
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in keeper.changes() where attachment.isOver { return true }
        return attachment.isOver
      }
      group.addTask {
        try? await ContinuousClock().sleep(for: .milliseconds(250))
        return attachment.isOver
      }
      let isOver = await group.next() ?? false
      group.cancelAll()
      return isOver && !Task.isCancelled
    }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    if case .own(let backend)? = keeper.state.withLock({ $0.way }) {
      return try await InProcessDatastore(backend: backend, database: database).commit(mutations)
    }
    // Of a sender of its own: the backend keeps few answers of each.
    let name = WriteRequestID(
      clientID: (0..<16).map { _ in UInt8.random(in: .min ... .max) }, batchID: BatchID(1), sender: .stream)
    return try await call { datastore throws(RPCStatus) in
      switch datastore {
      case let own as InProcessDatastore: try await own.commit(mutations, request: name)
      case let remote as GRPCDatastore: try await remote.commit(mutations, request: name)
      default: try await datastore.commit(mutations)
      }
    }
  }

  package func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] {
    try await call { datastore throws(RPCStatus) in try await datastore.lookup(keys) }
  }

  package func lookup(_ keys: [DocumentKey], at time: SnapshotVersion) async throws(RPCStatus) -> [Document] {
    try await call { datastore throws(RPCStatus) in try await datastore.lookup(keys, at: time) }
  }

  package func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] {
    try await call { datastore throws(RPCStatus) in try await datastore.runQuery(target) }
  }

  package func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    try await call { datastore throws(RPCStatus) in try await datastore.key(at: offset, of: target) }
  }

  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] {
    try await call { datastore throws(RPCStatus) in try await datastore.aggregate(target, aggregations) }
  }

  package func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try await call { datastore throws(RPCStatus) in try await datastore.listCollectionIDs(below: parent) }
  }

  package func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] {
    try await call { datastore throws(RPCStatus) in try await datastore.missingDocuments(in: collection) }
  }
}

/// How far a stream has come.
private final class StreamStart: Sendable {
  private let state = Mutex((isOpen: false, hasAsked: false))

  /// Whether anything was taken that would have to be asked again.
  var hasAsked: Bool { state.withLock { $0.hasAsked } }

  /// - Returns: whether the client does not know yet that the stream is open.
  func opens() -> Bool {
    state.withLock { state in
      defer { state.isOpen = true }
      return !state.isOpen
    }
  }

  func noting<Element>(_ requests: StreamRequests<Element>) -> StreamRequests<Element> {
    StreamRequests {
      let iterator = requests.makeAsyncIterator()
      // Pulled one at a time, and each call begins where the last ended.
      let element = await iterator.next()
      if element != nil { self.state.withLock { $0.hasAsked = true } }
      return element
    }
  }
}
