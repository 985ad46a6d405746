// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import Synchronization

/// One stream or call on its way through a breakable network.
final class FaultyLine: Sendable {
  /// The fate of a request.
  enum Passage<Request> {
    case pass(Request)
    /// Vanishes, and the line goes on.
    case swallow
    /// Breaks the line.
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

  /// Waits for the time that the answer of a call takes, if it takes any.
  /// - Throws: the reason for which it does not arrive.
  func receive(_ delay: () -> Duration) async throws(RPCStatus) {
    let delay = delay()
    if delay > .zero, !(await letsThrough(after: delay)) { throw FaultInjector.broken }
  }

  /// The requests that get through.
  /// - Parameters:
  ///   - delay: the time that a request takes.
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
