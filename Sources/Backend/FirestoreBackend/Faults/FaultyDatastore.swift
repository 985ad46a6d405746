// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
import Synchronization

/// Any datastore behind a network that can be broken.
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
  package func reconnect() { base.reconnect() }
  package var traffic: DatastoreTraffic? { base.traffic }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    try await stream(deliver) { line, deliver throws(RPCStatus) in
      try await base.watch(
        requests: line.pass(requests) { _ in nil },
        deliver: { event in
          // The message that makes a snapshot visible is delayed; the documents before it are not delayed one by one.
          let isLate = if case .changes(let changes) = event { changes.contains(where: \.isSnapshot) } else { true }
          if await line.letsThrough(after: isLate ? faults.delay() : .zero) { await deliver(event) }
        })
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await stream(deliver) { line, deliver throws(RPCStatus) in
      let losses = Losses()
      try await base.write(
        requests: line.pass(requests) { _ in
          let fault = faults.takeWriteFault()
          losses.record(isLost: fault == .dropAcknowledgement)
          return fault?.statusBeforeCommit
        },
        deliver: { event in
          if case .committed = event, losses.takeFirst() {
            line.fail(FaultInjector.broken)
          } else if await line.letsThrough(after: faults.delay()) {
            await deliver(event)
          }
        })
    }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    let fault = faults.takeWriteFault()
    if let status = fault?.statusBeforeCommit { throw status }
    return try await call { () async throws(RPCStatus) in
      let response = try await base.commit(mutations)
      if fault == .dropAcknowledgement { throw FaultInjector.broken }
      return response
    }
  }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await call { () async throws(RPCStatus) in try await base.read(read) }
  }

  package func followCommits(deliver: @Sendable (CommitNews) async -> Void) async throws(RPCStatus) {
    try await stream(deliver) { line, deliver throws(RPCStatus) in
      try await base.followCommits { news in
        if await line.letsThrough(after: faults.delay()) { await deliver(news) }
      }
    }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try await call { () async throws(RPCStatus) in try await base.visitDescendants(request, deliver: deliver) }
  }

  /// Runs a stream until it ends or is broken; no part of it runs afterwards.
  private func stream<Event: Sendable>(
    _ deliver: @Sendable (Event) async -> Void,
    _ body: @escaping @Sendable (FaultyLine, @escaping @Sendable (Event) async -> Void) async throws(RPCStatus) -> Void
  ) async throws(RPCStatus) {
    try await withoutActuallyEscaping(deliver) { deliver async throws(RPCStatus) in
      _ = try await call { line async throws(RPCStatus) in try await body(line, deliver) }
    }
  }

  private func call<Result: Sendable>(
    _ body: @escaping @Sendable () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    try await call { line async throws(RPCStatus) in
      guard await line.letsThrough(after: faults.delay()) else { throw FaultInjector.broken }
      return try await body()
    }
  }

  private func call<Result: Sendable>(
    _ body: @escaping @Sendable (FaultyLine) async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    let (call, breaks) = try faults.open()
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
    // A line that was broken from within may look to the base like a stream that ended well.
    if let failure = line.failure { throw failure }
    switch result {
    case .success(let value)?: return value
    case .failure(let status)?: throw status
    case nil: throw FaultInjector.broken
    }
  }
}

/// Whether each write under way will lose its answer, in the order of the writes.
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
    case .reject(let code): RPCStatus(code, "The write was refused by an injected fault.")
    }
  }
}

/// One stream or call on its way through a breakable network.
final class FaultyLine: Sendable {
  private let call: Int
  private let faults: FaultInjector
  private let clock: any Clock<Duration>
  private let status = Mutex<RPCStatus?>(nil)

  init(call: Int, faults: FaultInjector, clock: any Clock<Duration>) {
    self.call = call
    self.faults = faults
    self.clock = clock
  }

  /// The reason why the line was broken from within; `nil` if it was not.
  var failure: RPCStatus? { status.withLock { $0 } }

  /// Breaks the line: no message passes any more.
  func fail(_ reason: RPCStatus) {
    status.withLock { $0 = $0 ?? reason }
    faults.fail(call, with: reason)
  }

  /// Waits for the time that a message takes; while the network is half open, until the line is cancelled.
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

  /// The requests that get through.
  /// - Parameter refuse: a status breaks the line instead of letting the request pass.
  func pass<Request>(
    _ requests: StreamRequests<Request>, _ refuse: @escaping @Sendable (Request) -> RPCStatus?
  ) -> StreamRequests<Request> {
    StreamRequests {
      guard let request = await requests.makeAsyncIterator().next() else { return nil }
      guard await self.letsThrough(after: self.faults.delay()) else { return nil }
      guard let status = refuse(request) else { return request }
      self.fail(status)
      return nil
    }
  }
}
