// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import FirestoreGRPC

@Suite("Calls that the transport does not end", .timeLimit(.minutes(1)))
struct BoundedCallTests {
  /// Waits for nothing but a word of the test.
  private final class Stuck: Sendable {
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)
    let begun = Mutex(false)

    func wait() async {
      await withCheckedContinuation { continuation in
        waiter.withLock { $0 = continuation }
        begun.withLock { $0 = true }
      }
    }

    func release() { waiter.withLock { $0.take() }?.resume() }

    func begin() async { while !begun.withLock({ $0 }) { await Task.yield() } }
  }

  @Test("One that is cancelled and goes on all the same is left behind")
  func cancelled() async {
    let stuck = Stuck()
    let calling = Task {
      try await BoundedCall(patience: .milliseconds(1)).run { await stuck.wait() }
    }
    await stuck.begin()
    calling.cancel()
    await #expect(throws: BoundedCall.LeftBehind.self) { try await calling.value }
    stuck.release()
  }

  @Test("So is one whose time is over")
  func late() async {
    let stuck = Stuck()
    let call = BoundedCall(timeout: .milliseconds(1), patience: .milliseconds(1))
    await #expect(throws: BoundedCall.LeftBehind.self) { try await call.run { await stuck.wait() } }
    await stuck.begin()
    stuck.release()
  }

  @Test("One that ends gives its answer or its failure, when it is cancelled too")
  func ends() async throws {
    struct Failure: Error {}
    #expect(try await BoundedCall(timeout: .seconds(60)).run { 7 } == 7)
    await #expect(throws: Failure.self) { try await BoundedCall().run { throw Failure() } }
    let calling = Task { try await BoundedCall(patience: .seconds(60)).run { try await Task.sleep(for: .seconds(60)) } }
    calling.cancel()
    await #expect(throws: CancellationError.self) { try await calling.value }
  }

  @Test("What comes for a stream that was left behind is not delivered, and what is being delivered is waited for")
  func gate() async {
    let stuck = Stuck()
    let delivered = Mutex([Int]())
    let gate = DeliveryGate<Int> { event in
      await stuck.wait()
      delivered.withLock { $0.append(event) }
    }
    async let first: Void = gate.pass(1)
    await stuck.begin()
    async let closing: Void = gate.close()
    stuck.release()
    await closing
    #expect(delivered.withLock { $0 } == [1])
    await first
    await gate.pass(2)
    #expect(delivered.withLock { $0 } == [1])
  }
}
