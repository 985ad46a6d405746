// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
package import FirestoreModel
package import FirestoreProtocol
package import SerialExecutors
import Synchronization

/// One database in data that several processes use. One of these processes is the owner, which has the data open. If
/// the owner ends before it answers a call, the call is sent again to the next owner. Commits have ids, so each commit
/// is applied only once. A stream ends together with the owner, and the client resumes it with the next owner.
package final class SharedDatastore: Datastore {
  /// The data. It is open as long as this object exists.
  private let data: SharedData
  private let keeper: DataKeeper
  private let database: DatabaseID
  /// The thread of the connection to another process, created on first use.
  private let thread = LazyThread()
  /// The generation of the error that ended the last stream. The next stream waits until the generation changes.
  private let told = Mutex<Int?>(nil)

  init(_ data: SharedData, _ keeper: DataKeeper, _ database: DatabaseID) {
    self.data = data
    self.keeper = keeper
    self.database = database
  }

  /// Always false: pings detect an owner that does not answer, and a stream ends together with its owner.
  package var canFallSilent: Bool { false }

  package var loop: (any WorkLoop & TaskExecutor)? { thread.value }

  package func reconnect() { attached?.reconnect() }

  /// The network traffic since this process attached to the current owner; `nil` if this process is the owner.
  package var traffic: DatastoreTraffic? { attached?.traffic }

  /// The connection to the owner; `nil` if this process has the data open.
  private var attached: GRPCDatastore? {
    guard case .attached(let attachment)? = keeper.state.withLock({ $0.way }) else { return nil }
    return attachment.datastore(for: database, on: thread.value)
  }

  // MARK: Streams

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let start = StreamStart()
    let end = await withoutActuallyEscaping(deliver) { deliver in
      await stream(start) { datastore throws(RPCStatus) in
        try await datastore.watch(requests: start.noting(requests)) { event in
          if case .opened = event, !start.opens() { return }
          await deliver(event)
        }
      }
    }
    try end.get()
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let start = StreamStart()
    let end = await withoutActuallyEscaping(deliver) { deliver in
      await stream(start) { datastore throws(RPCStatus) in
        try await datastore.write(requests: start.noting(requests)) { event in
          if case .opened = event, !start.opens() { return }
          await deliver(event)
        }
      }
    }
    try end.get()
  }

  /// Runs a stream. If the connection ends before a request was sent, continues on the next connection.
  private func stream(
    _ start: StreamStart, _ body: @escaping @Sendable (any Datastore) async throws(RPCStatus) -> Void
  ) async -> Result<Void, RPCStatus> {
    while true {
      let passage: DataKeeper.Passage
      do throws(RPCStatus) {
        passage = try await keeper.way(knowing: told.withLock { $0 })
        told.withLock { $0 = nil }
      } catch {
        told.withLock { $0 = keeper.state.withLock { $0.generation } }
        return .failure(error)
      }
      if let end = await pass(passage, body) { return end }
      if start.hasAsked { return .failure(RPCStatus(.unavailable, passage.loss)) }
    }
  }

  // MARK: Calls

  /// Makes a call, and repeats the call if its connection ends before the answer.
  /// - Parameter isRepeatable: whether the call may be executed twice.
  private func call<Answer: Sendable>(
    isRepeatable: Bool = true, _ body: @escaping @Sendable (any Datastore) async throws(RPCStatus) -> Answer
  ) async throws(RPCStatus) -> Answer {
    while true {
      let passage = try await keeper.way()
      // A call to the backend in this process needs no repetition.
      if case .own(let backend) = passage.way {
        return try await body(InProcessDatastore(backend: backend, database: database))
      }
      if let answer = await pass(passage, body) { return try answer.get() }
      if !isRepeatable {
        throw RPCStatus(
          .unavailable, "The process that had the data open ended before it answered. The write may have been applied.")
      }
    }
  }

  /// The maximum time to wait, after a failed call, until the `DataKeeper` detects that the connection has ended. The
  /// call may fail before that.
  private static let patience = Duration.seconds(1)

  /// Runs `body` on a connection.
  /// - Returns: `nil` if the connection ended before `body` returned.
  private func pass<Answer: Sendable>(
    _ passage: DataKeeper.Passage, _ body: @escaping @Sendable (any Datastore) async throws(RPCStatus) -> Answer
  ) async -> Result<Answer, RPCStatus>? {
    guard let datastore = datastore(on: passage.way) else { return nil }
    let keeper = keeper
    return await withTaskGroup(of: Result<Answer, RPCStatus>?.self) { group in
      group.addTask {
        do throws(RPCStatus) { return .success(try await body(datastore)) } catch { return .failure(error) }
      }
      group.addTask {
        await keeper.end(of: passage)
        return nil
      }
      var end = await group.next() ?? nil
      if case .failure(let status)? = end, passage.isBroken(by: status), !Task.isCancelled {
        group.addTask {
          // The error is ignored, because the result is not used after cancellation.
          try? await ContinuousClock().sleep(for: Self.patience)
          return .failure(status)
        }
        end = await group.next() ?? nil
      }
      group.cancelAll()
      if end == nil {
        // Uses the answer of the call if it arrived nevertheless.
        for await late in group { if case .success? = late { end = late } }
      }
      if end == nil, Task.isCancelled { return .failure(RPCStatus(.cancelled, "The call was canceled.")) }
      return end
    }
  }

  /// - Returns: `nil` if the connection has ended.
  private func datastore(on way: DataKeeper.Way) -> (any Datastore)? {
    switch way {
    case .own(let backend): InProcessDatastore(backend: backend, database: database)
    case .attached(let attachment): attachment.datastore(for: database, on: thread.value)
    }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    if case .own(let backend)? = keeper.state.withLock({ $0.way }) {
      return try await InProcessDatastore(backend: backend, database: database).commit(mutations)
    }
    // Each commit has a separate sender id, because the backend stores only few answers for each sender.
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

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await call(isRepeatable: read.isRepeatable) { datastore throws(RPCStatus) in try await datastore.read(read) }
  }

  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    // Nothing is missed between two owners, because the next owner's messages begin with the whole state.
    let end = await withoutActuallyEscaping(deliver) { deliver in await follow(deliver) }
    throw end
  }

  private func follow(_ deliver: @escaping @Sendable (CommitUpdate) async -> Void) async -> RPCStatus {
    while true {
      let passage: DataKeeper.Passage
      do throws(RPCStatus) { passage = try await keeper.way() } catch { return error }
      let end = await pass(passage) { datastore throws(RPCStatus) in try await datastore.followCommits(deliver: deliver)
      }
      if case .failure(let status)? = end { return status }
    }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    // Requests only the documents after the last one that the previous owner sent, if the owner changes.
    let rest = Mutex((request: request, isWanted: true))
    try await call { datastore throws(RPCStatus) in
      let (request, isWanted) = rest.withLock { $0 }
      if !isWanted || request.limit == 0 { return }
      try await datastore.visitDescendants(request) { documents in
        let isWanted = await deliver(documents)
        rest.withLock { rest in
          rest.request.pass(documents)
          rest.isWanted = isWanted
        }
        return isWanted
      }
    }
  }
}

/// The progress of a stream's start.
private final class StreamStart: Sendable {
  private let state = Mutex((isOpen: false, hasAsked: false))

  /// Whether the stream has already read a request. If so, it cannot continue on another connection, which would not
  /// receive this request.
  var hasAsked: Bool { state.withLock { $0.hasAsked } }

  /// - Returns: whether this is the first call. Only then must the client be notified that the stream is open.
  func opens() -> Bool {
    state.withLock { state in
      defer { state.isOpen = true }
      return !state.isOpen
    }
  }

  func noting<Element>(_ requests: StreamRequests<Element>) -> StreamRequests<Element> {
    StreamRequests {
      let iterator = requests.makeAsyncIterator()
      // Takes requests one at a time, so that the next connection continues after the last request.
      let element = await iterator.next()
      if element != nil { self.state.withLock { $0.hasAsked = true } }
      return element
    }
  }
}

/// A thread that is created on first use.
private final class LazyThread: Sendable {
  private let made = Mutex<ConnectionThread?>(nil)

  var value: ConnectionThread {
    made.withLock { made in
      if let made { return made }
      let thread = ConnectionThread()
      made = thread
      return thread
    }
  }
}
