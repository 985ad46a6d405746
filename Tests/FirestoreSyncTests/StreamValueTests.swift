// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import Testing

@Suite struct StreamValueTests {
  private static func batch(_ id: Int64) -> MutationBatch {
    MutationBatch(id: BatchID(id), localWriteTime: Timestamp(seconds: 0), mutations: [set("rooms/\(id)")])
  }

  @Test("S4: Batches leave in order and answers match them in order")
  func order() {
    var outbox = WriteOutbox()
    for id in 1...3 { outbox.append(Self.batch(Int64(id))) }
    let early = outbox.take()?.batch.id
    #expect(early == nil, "nothing leaves before the handshake is answered")
    outbox.streamOpened(token: [7])

    let sent = (0..<3).compactMap { _ in outbox.take()?.batch.id.rawValue }
    let answered = (0..<3).compactMap { _ in outbox.committed(token: [8])?.id.rawValue }

    #expect(sent == [1, 2, 3])
    #expect(answered == [1, 2, 3])
    let unasked = outbox.committed(token: [8])?.id
    #expect(unasked == nil)
  }

  @Test("Requests carry the newest token, and what was in flight is sent again on the next stream")
  func again() {
    var outbox = WriteOutbox()
    outbox.append(Self.batch(1))
    outbox.append(Self.batch(2))
    outbox.streamOpened(token: [1])
    let first = outbox.take()?.request.streamToken
    #expect(first == [1])
    _ = outbox.committed(token: [2])
    let second = outbox.take()?.request.streamToken
    #expect(second == [2])

    outbox.streamClosed()
    outbox.streamOpened(token: [3])

    let next = outbox.take()?.batch.id
    #expect(next == BatchID(2))
  }

  @Test("The pipeline holds ten batches")
  func capacity() {
    var outbox = WriteOutbox()
    for id in 1...10 { outbox.append(Self.batch(Int64(id))) }

    #expect(!outbox.hasRoom)
  }

  @Test("The first attempt is immediate, later ones wait longer, never more than a minute and a half")
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

  @Test("S8: A stream does not open for an epoch that was given up")
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

  @Test("One failed attempt means offline, a failure after having been online only unknown")
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

  @Test("Silence means offline after the timeout, unless the timer was cancelled")
  func silence() {
    var tracker = OnlineStateTracker()
    tracker.timedOut()
    #expect(tracker.state == .unknown)

    _ = tracker.watchStreamStarted()
    tracker.timedOut()
    #expect(tracker.state == .offline)
  }
}
