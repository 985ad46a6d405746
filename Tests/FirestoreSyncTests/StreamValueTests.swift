// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestoreSync

@Suite struct StreamValueTests {
  private static func batch(_ id: Int64) -> MutationBatch {
    MutationBatch(id: BatchID(id), localWriteTime: Timestamp(seconds: 0), mutations: [set("rooms/\(id)")])
  }

  private static let time = Timestamp(seconds: 5)

  @Test("S4: Batches are sent in order, ten at most, and responses match in order")
  func order() {
    var writes = PendingWrites()
    for id in 1...12 { writes.append(Self.batch(Int64(id))) }
    let early = writes.take(at: Self.time)?.batch.id
    #expect(early == nil, "nothing leaves before the handshake is answered")
    writes.streamOpened(token: [7])

    let sent = (0..<12).compactMap { _ in writes.take(at: Self.time)?.batch.id.rawValue }
    #expect(sent == Array(1...10))
    #expect(!writes.hasUnsent && writes.inFlightCount == 10)
    let answered = (0..<2).compactMap { _ in writes.oldestInFlight.map { writes.remove($0.id)?.batch.id.rawValue } }
    #expect(answered == [1, 2])
    let next = (0..<12).compactMap { _ in writes.take(at: Self.time)?.batch.id.rawValue }

    #expect(next == [11, 12])
    #expect(writes.count == 10 && writes.isInFlight(BatchID(12)) && !writes.contains(BatchID(1)))
  }

  @Test("Requests carry the newest token, and unanswered ones are resent on a new stream")
  func again() {
    var writes = PendingWrites([Self.batch(1), Self.batch(2)])
    writes.streamOpened(token: [1])
    let first = writes.take(at: Self.time)?.request.streamToken
    #expect(first == [1])
    writes.answered(token: [2])
    writes.remove(BatchID(1))
    let second = writes.take(at: Self.time)?.request.streamToken
    #expect(second == [2])

    writes.streamClosed()
    #expect(writes.oldestInFlight == nil && !writes.hasUnsent)
    writes.streamOpened(token: [3])

    let next = writes.take(at: Self.time)?.batch.id
    #expect(next == BatchID(2))
    #expect(writes.attempts(of: BatchID(2)) == 2)
  }

  @Test("A canceled pending batch is neither sent nor counted")
  func cancelled() {
    var writes = PendingWrites((1...200).map { Self.batch($0) })
    writes.streamOpened(token: [1])
    _ = writes.take(at: Self.time)
    for id in 2...150 { writes.remove(BatchID(Int64(id))) }

    let next = writes.take(at: Self.time)?.batch.id

    #expect(next == BatchID(151))
    #expect(writes.pipeline.map(\.batch.id.rawValue) == [1] + Array(151...159))
    writes.remove(BatchID(1))
    #expect(writes.first == BatchID(151) && writes.oldestInFlight?.id == BatchID(151) && writes.inFlightCount == 1)
    #expect(writes.count == 50 && writes.total == 200)
    #expect(writes.measured(ends: 2).map(\.batch.id.rawValue) == [151, 152, 199, 200])
  }

  @Test("A sent batch is not reported as new again, even after the queue is empty")
  func newest() {
    var writes = PendingWrites((1...200).map { Self.batch($0) })
    for id in 1...200 { writes.remove(BatchID(Int64(id))) }

    #expect(writes.isEmpty && writes.newest == BatchID(200))
    #expect(!writes.isNew(BatchID(200)) && writes.isNew(BatchID(201)))
  }

  @Test("The first connection attempt is immediate; later delays grow up to 90 seconds")
  func backoff() {
    var backoff = Backoff()
    var generator = CountingGenerator()

    let delays = (0..<20).map { _ in backoff.next(using: &generator) }

    #expect(delays[0] == .zero)
    #expect((Duration.milliseconds(500)...Duration.milliseconds(1500)).contains(delays[1]))
    #expect(delays.allSatisfy { $0 <= .seconds(90) })
    #expect(backoff.base == .seconds(60))
    backoff.reset()
    let afterReset = backoff.next(using: &generator)
    #expect(afterReset == .zero)
  }

  @Test("After resource-exhausted the next attempt waits about a minute")
  func exhausted() {
    var stream = ClientStream()
    var generator = CountingGenerator()
    _ = stream.start(using: &generator)

    stream.failed(RPCStatus(.resourceExhausted, "quota"))

    let delay = stream.start(using: &generator)
    #expect(delay >= .seconds(30))
  }

  @Test("S8: An abandoned stream that opens late does not open the current stream")
  func oldEpoch() {
    var stream = ClientStream()
    var generator = CountingGenerator()
    _ = stream.start(using: &generator)
    let old = stream.epoch
    stream.stop()
    _ = stream.start(using: &generator)

    let opensOld = stream.opened(old)
    #expect(!opensOld)
    let opensNew = stream.opened(stream.epoch)
    #expect(opensNew)
  }

  @Test("A failed first connection means offline; a failure while online means unknown")
  func onlineState() {
    var tracker = OnlineStateTracker()
    let started = tracker.watchStreamStarted()
    #expect(started == .start)
    let failed = tracker.watchStreamFailed()
    #expect(failed == .cancel)
    #expect(tracker.state == .offline)

    let succeeded = tracker.set(.online)
    #expect(succeeded == .none)
    let failedLater = tracker.watchStreamFailed()
    #expect(failedLater == .none)
    #expect(tracker.state == .unknown)
  }

  @Test("A silent backend counts as offline after the timeout")
  func silence() {
    var tracker = OnlineStateTracker()
    tracker.timedOut()
    #expect(tracker.state == .unknown)

    _ = tracker.watchStreamStarted()
    tracker.timedOut()
    #expect(tracker.state == .offline)
  }
}
