// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import Synchronization

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

  /// Why the line was broken from within.
  var failure: RPCStatus? { status.withLock { $0 } }

  /// Breaks the line: nothing passes it any more.
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
