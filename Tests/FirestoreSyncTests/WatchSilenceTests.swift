// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import Testing

/// A watch stream that is alive and says nothing.
@Suite("Silent watch stream", .timeLimit(.minutes(10)))
struct WatchSilenceTests {
  @Test("After two silent minutes the stream reopens and resumes, and the status says why")
  func reopened() async throws {
    try await EngineHarness.run { test in
      func pass(_ duration: Duration) async {
        for _ in 0..<Int(duration / WatchSilence.step) {
          await test.clock.waitForSleeper(WatchSilence.step)
          test.clock.advance(by: WatchSilence.step)
        }
        await test.clock.waitForSleeper(WatchSilence.step)
      }
      let (_, mailbox) = test.listen("rooms")
      let (first, target) = try await test.nextWatch()
      await first.sync(target, [], at: 5)
      _ = try await mailbox.snapshot()

      // A sign of life is enough, and the time counts from it.
      await pass(.seconds(108))
      await first.send(.changes([.snapshot(at(6), nil)]))
      await pass(.seconds(120))
      #expect(try await test.status { _ in true }.onlineState == .online)
      await test.clock.waitForSleeper(WatchSilence.step)
      test.clock.advance(by: WatchSilence.step)

      let second = try #require(await test.backend.watches.next())
      await first.waitForEnd()
      let request = try #require(await second.request())
      if case .add(let again) = request { #expect(again.id == target && again.resume != nil) }
      let waiting = try await test.status { $0.onlineState != .online }
      let reason = try #require(waiting.reason)
      #expect("\(reason)".contains("two minutes"))
      await second.sync(target, [], at: 7)
      #expect(try await test.status { $0.onlineState == .online }.reason == nil)
      // Nothing of this was seen by the listener, whose result stayed what it was.
    }
  }

  @Test("A stream without targets closes when idle and does not reopen")
  func idle() async throws {
    try await EngineHarness.run { test in
      let (listener, mailbox) = test.listen("rooms")
      let (stream, target) = try await test.nextWatch()
      await stream.sync(target, [], at: 5)
      _ = try await mailbox.snapshot()
      test.engine.stopListening(listener)
      _ = try #require(await stream.request())
      // The minute counts from here.
      await test.clock.waitForSleeper(.seconds(60))
      for _ in 0..<5 {
        await test.clock.waitForSleeper(WatchSilence.step)
        test.clock.advance(by: WatchSilence.step)
      }
      await stream.waitForEnd()
      #expect(try await test.status { $0.watch.state == .closed }.reason == .idle)
    }
  }
}
