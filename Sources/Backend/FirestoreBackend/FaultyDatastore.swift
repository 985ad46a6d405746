// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import SerialExecutors
import Synchronization

/// A datastore behind a simulated network that can fail.
package struct FaultyDatastore: Datastore {
  private let base: any Datastore
  private let faults: FaultInjector
  private let clock: any Clock<Duration>

  package init(_ base: any Datastore, faults: FaultInjector, clock: any Clock<Duration>) {
    self.base = base
    self.faults = faults
    self.clock = clock
  }

  package var canFallSilent: Bool { base.canFallSilent }
  package var answersInProcess: Bool { base.answersInProcess }
  package var loop: (any WorkLoop & TaskExecutor)? { base.loop }
  package func reconnect() { base.reconnect() }
  package var traffic: DatastoreTraffic? { base.traffic }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    try await stream(.watch, deliver) { line, deliver throws(RPCStatus) in
      let forgotten = ForgottenTargets()
      try await base.watch(
        requests: line.pass(requests) { request in
          faults.delay(.watch) { MessageWeight.bytes(request) }
        } _: { request in
          await passage(of: request, line, forgotten, deliver)
        },
        deliver: { event in
          let event = forgotten.resetting(event)
          if case .changes(let changes) = event { faults.note(tokensOf: changes) }
          if await line.letsThrough(after: delay(of: event)) { await deliver(event) }
        })
    }
  }

  /// Decides what happens to a request of a watch stream: a target may be rejected, or lose a resume token that the
  /// backend has forgotten.
  private func passage(
    of request: WatchRequest, _ line: FaultyLine, _ forgotten: ForgottenTargets,
    _ deliver: @Sendable (WatchEvent) async -> Void
  ) async -> FaultyLine.Passage<WatchRequest> {
    guard case .add(var target) = request else { return .pass(request) }
    if let code = faults.takeListenFault() {
      let refusal = RPCStatus(code, "The listener was rejected by an injected fault.")
      let change = WatchChange.removed([target.id], cause: refusal)
      let delay = faults.delay(.watch, isAnswer: true) { MessageWeight.bytes([change]) }
      if await line.letsThrough(after: delay) { await deliver(.changes([change])) }
      return .swallow
    }
    if case .token(let token)? = target.resume, faults.isForgotten(token.bytes) {
      (target.resume, target.expectedCount) = (nil, nil)
      forgotten.insert(target.id)
    }
    return .pass(.add(target))
  }

  private func delay(of event: WatchEvent) -> Duration {
    guard case .changes(let changes) = event else { return faults.delay(.watch, isAnswer: true) { 0 } }
    // The latency applies to the message that makes a snapshot visible, not to each document before it.
    return faults.delay(.watch, isLate: changes.contains(where: \.isSnapshot), isAnswer: true) {
      MessageWeight.bytes(changes)
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await stream(.write, deliver) { line, deliver throws(RPCStatus) in
      let losses = Losses()
      try await base.write(
        requests: line.pass(requests) { request in
          faults.delay(.write) { MessageWeight.bytes(request.mutations) }
        } _: { request in
          let fault = faults.takeWriteFault()
          losses.record(isLost: fault == .dropAcknowledgement)
          return fault?.statusBeforeCommit.map { .fail($0) } ?? .pass(request)
        },
        deliver: { event in
          if case .committed = event, losses.takeFirst() {
            line.fail(FaultInjector.broken)
          } else if await line.letsThrough(after: delay(of: event)) {
            await deliver(event)
          }
        })
    }
  }

  private func delay(of event: WriteEvent) -> Duration {
    faults.delay(.write, isAnswer: true) {
      if case .committed(_, let response) = event { MessageWeight.bytes(response) } else { 0 }
    }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    let fault = faults.takeWriteFault()
    if let status = fault?.statusBeforeCommit { throw status }
    return try await call(.write, bytes: { MessageWeight.bytes(mutations) }) { line async throws(RPCStatus) in
      let response = try await base.commit(mutations)
      if fault == .dropAcknowledgement { throw FaultInjector.broken }
      try await line.receive { faults.delay(.write, isLate: false, isAnswer: true) { MessageWeight.bytes(response) } }
      return response
    }
  }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    if let code = faults.takeReadFault() { throw RPCStatus(code, "The read was rejected by an injected fault.") }
    return try await call(.read, bytes: { 0 }) { line async throws(RPCStatus) in
      let answer = try await base.read(read)
      try await line.receive {
        faults.delay(.read, isLate: false, isAnswer: true) { MessageWeight.bytes(ofAnswer: answer) }
      }
      return answer
    }
  }

  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    try await stream(.watch, deliver) { line, deliver throws(RPCStatus) in
      try await base.followCommits { news in
        if await line.letsThrough(after: faults.delay(.watch) { 0 }) { await deliver(news) }
      }
    }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    if let code = faults.takeReadFault() { throw RPCStatus(code, "The read was rejected by an injected fault.") }
    try await call(.read, bytes: { 0 }) { line async throws(RPCStatus) in
      try await base.visitDescendants(request) { documents in
        let delay = faults.delay(.read, isLate: false, isAnswer: true) { MessageWeight.bytes(documents) }
        guard await line.letsThrough(after: delay) else { return false }
        return await deliver(documents)
      }
    }
  }

  // MARK: Lines

  /// Runs a stream until it ends or breaks. When this returns, no part of the stream is still running.
  private func stream<Event: Sendable>(
    _ lane: FaultLane, _ deliver: @Sendable (Event) async -> Void,
    _ body: @escaping @Sendable (FaultyLine, @escaping @Sendable (Event) async -> Void) async throws(RPCStatus) -> Void
  ) async throws(RPCStatus) {
    try await withoutActuallyEscaping(deliver) { deliver async throws(RPCStatus) in
      _ = try await run(lane) { line async throws(RPCStatus) in try await body(line, deliver) }
    }
  }

  /// Runs a call with one request.
  private func call<Result: Sendable>(
    _ lane: FaultLane, bytes: @escaping @Sendable () -> Int,
    _ body: @escaping @Sendable (FaultyLine) async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    try await run(lane) { line async throws(RPCStatus) in
      guard await line.letsThrough(after: faults.delay(lane, bytes: bytes)) else { throw FaultInjector.broken }
      return try await body(line)
    }
  }

  private func run<Result: Sendable>(
    _ lane: FaultLane, _ body: @escaping @Sendable (FaultyLine) async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    let (call, breaks) = try faults.open(lane)
    defer { faults.close(call) }
    let line = FaultyLine(call: call, faults: faults, clock: clock)
    let result = await withTaskGroup(of: Swift.Result<Result, RPCStatus>.self) { group in
      group.addTask {
        do throws(RPCStatus) { return .success(try await body(line)) } catch { return .failure(error) }
      }
      group.addTask {
        for await status in breaks { return .failure(status) }
        return .failure(RPCStatus(.cancelled, "The call was cancelled."))
      }
      let first = await group.next()
      group.cancelAll()
      return first
    }
    // The base datastore may see a line that broke itself as a stream that ended normally.
    if let failure = line.failure { throw failure }
    switch result {
    case .success(let value)?: return value
    case .failure(let status)?: throw status
    case nil: throw FaultInjector.broken
    }
  }
}

/// The targets whose tokens the backend has forgotten. After adding such a target, the backend resets it, like any
/// server that cannot resume a target. Otherwise the client would keep documents that are no longer updated.
private final class ForgottenTargets: Sendable {
  private let targets = Mutex<Set<TargetID>>([])

  func insert(_ id: TargetID) { _ = targets.withLock { $0.insert(id) } }

  func resetting(_ event: WatchEvent) -> WatchEvent {
    guard case .changes(let changes) = event else { return event }
    return targets.withLock { targets in
      if targets.isEmpty { return event }
      return .changes(
        changes.flatMap { change -> [WatchChange] in
          guard case .added(let added) = change else { return [change] }
          let reset = added.filter { targets.remove($0) != nil }
          return reset.isEmpty ? [change] : [change, .reset(reset, nil)]
        })
    }
  }
}

/// Records which acknowledgements of unfinished writes will be lost, in the order of the writes.
private final class Losses: Sendable {
  private let pending = Mutex<[Bool]>([])
  func record(isLost: Bool) { pending.withLock { $0.append(isLost) } }
  func takeFirst() -> Bool { pending.withLock { $0.isEmpty ? false : $0.removeFirst() } }
}

extension WriteFault {
  fileprivate var statusBeforeCommit: RPCStatus? {
    switch self {
    case .dropRequest: FaultInjector.broken
    case .dropAcknowledgement: nil
    case .reject(let code): RPCStatus(code, "The write was rejected by an injected fault.")
    }
  }
}

/// One stream or call through the simulated network.
final class FaultyLine: Sendable {
  /// The outcome of a request.
  enum Passage<Request> {
    case pass(Request)
    /// The request is dropped without an error; the stream or call continues.
    case swallow
    /// Breaks the stream or call.
    case fail(RPCStatus)
  }

  private let call: Int
  private let faults: FaultInjector
  private let clock: any Clock<Duration>
  private let status = Mutex<RPCStatus?>(nil)

  init(call: Int, faults: FaultInjector, clock: any Clock<Duration>) {
    self.call = call
    self.faults = faults
    self.clock = clock
  }

  /// The reason why a fault broke the stream or call; `nil` if none did.
  var failure: RPCStatus? { status.withLock { $0 } }

  /// Breaks the stream or call: no more messages are delivered.
  func fail(_ reason: RPCStatus) {
    status.withLock { $0 = $0 ?? reason }
    faults.fail(call, with: reason)
  }

  /// Waits for the delay of a message. While the network is half open, waits until the task is canceled.
  /// - Returns: whether the message arrives.
  func letsThrough(after delay: Duration) async -> Bool {
    if delay > .zero {
      do { try await clock.sleep(for: delay) } catch { return false }
    }
    if faults.settings.isHalfOpen {
      let (never, continuation) = AsyncStream.makeStream(of: Never.self)
      for await _ in never {}
      withExtendedLifetime(continuation) {}
      return false
    }
    return failure == nil && faults.isOpen(call) && !Task.isCancelled
  }

  /// Waits for the delay of a call's response, if there is any.
  /// - Throws: the reason why the response does not arrive.
  func receive(_ delay: () -> Duration) async throws(RPCStatus) {
    let delay = delay()
    if delay > .zero, !(await letsThrough(after: delay)) { throw FaultInjector.broken }
  }

  /// The requests that arrive.
  /// - Parameters:
  ///   - delay: the delay of a request.
  ///   - judge: decides on each request that arrives.
  func pass<Request>(
    _ requests: StreamRequests<Request>, _ delay: @escaping @Sendable (Request) -> Duration,
    _ judge: @escaping @Sendable (Request) async -> Passage<Request>
  ) -> StreamRequests<Request> {
    StreamRequests {
      while let request = await requests.makeAsyncIterator().next() {
        guard await self.letsThrough(after: delay(request)) else { return nil }
        switch await judge(request) {
        case .pass(let request): return request
        case .swallow: continue
        case .fail(let status):
          self.fail(status)
          return nil
        }
      }
      return nil
    }
  }
}

/// The sizes of messages between a client and its backend in the encoding of google.firestore.v1, including the
/// five-byte prefix of each. The sizes of names assume the database `(default)` in a project `project`.
enum MessageWeight {
  private static let database = DatabaseID(project: "project")
  private static let names = DocumentNames(database)
  private static let front = 5

  static func bytes(_ request: WatchRequest) -> Int {
    front + WireWriter.message { $0.watchRequest(request, in: database) }.count
  }

  static func bytes(_ changes: [WatchChange]) -> Int {
    changes.reduce(0) { sum, change in sum + front + WireWriter.message { $0.watchChange(change, names) }.count }
  }

  static func bytes(_ mutations: [Mutation]) -> Int {
    front + WireWriter.message { $0.commitRequest(mutations, in: database) }.count
  }

  /// The size of a response to a write, which has a commit time and an update time for each result.
  static func bytes(_ response: CommitResponse) -> Int { front + 16 + 16 * response.results.count }

  static func bytes(_ documents: [Document]) -> Int {
    documents.reduce(0) { sum, document in sum + front + WireWriter.message { $0.document(document, names) }.count }
  }

  /// The approximate size of the response to a read: the encoded size of documents and pipeline results, or the length
  /// of names. Other values count as an empty message.
  static func bytes(ofAnswer answer: Any) -> Int {
    switch answer {
    case let documents as [Document]: bytes(documents)
    case let keys as [DocumentKey]: keys.reduce(front) { $0 + $1.path.text.utf8.count }
    case let names as [String]: names.reduce(front) { $0 + 2 + $1.utf8.count }
    case let pipeline as PipelineResponse:
      front + WireWriter.message { $0.executePipelineResponse(pipeline, names) }.count
    default: front
    }
  }
}
