// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite("Conditional and set-aside writes")
struct WriteConditionTests {
  private func write(
    _ path: String, _ conditions: WriteConditions, at seconds: Int64, _ harness: inout CoreHarness
  ) throws -> (batch: BatchID, effects: [SyncEffect]) {
    var batch = BatchID(0)
    let effects = try harness.effects { core in
      batch = try core.write([set(path)], conditions, at: Timestamp(seconds: seconds))
    }
    return (batch, effects)
  }

  private func delays(_ effects: [SyncEffect]) -> [Duration] {
    effects.compactMap { if case .schedule(.writeDeadline, let delay) = $0 { delay } else { nil } }
  }

  @Test("Each write is canceled at its deadline; the timer is set for the first deadline")
  func expires() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let first = try write("rooms/a", WriteConditions(deadline: .seconds(30)), at: 100, &harness)
    let second = try write("rooms/b", WriteConditions(deadline: .seconds(10)), at: 101, &harness)
    #expect(delays(first.effects) == [.seconds(30)] && delays(second.effects) == [.seconds(10)])

    let early = harness.effects { core in core.expireWrites(at: Timestamp(seconds: 110)) }
    #expect(delays(early) == [.seconds(1)] && early.deliveries.isEmpty)

    let due = harness.effects { core in core.expireWrites(at: Timestamp(seconds: 111)) }
    let ended = due.compactMap { effect -> StatusCode? in
      if case .complete(second.batch, .failure(let status)) = effect { status.code } else { nil }
    }
    #expect(ended == [.deadlineExceeded] && delays(due) == [.seconds(19)])
    #expect(due.deliveries.first?.first?.snapshot.causes == [.cancelled(second.batch)])
    #expect(try harness.core.store.pendingBatches().map(\.id) == [first.batch])
    #expect(try harness.core.rejectedWrites().isEmpty)
  }

  @Test("A sent write is never canceled, even while it waits to be resent")
  func sent() throws {
    var harness = try CoreHarness()
    let (batch, _) = try write("rooms/a", WriteConditions(deadline: .seconds(10)), at: 100, &harness)
    let sent = harness.send()
    #expect(sent == [batch])
    _ = harness.effects { core in
      core.streamEnded(.write, RPCStatus(.unavailable, "gone"), in: core.writeStream.epoch, at: Timestamp(seconds: 105))
    }
    let effects = harness.effects { core in core.expireWrites(at: Timestamp(seconds: 111)) }
    #expect(try harness.core.store.pendingBatches().map(\.id) == [batch])
    #expect(delays(effects).isEmpty)
  }

  @Test("While offline, an online-only write is rejected and not added to the queue")
  func offline() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    _ = harness.effects { core in core.disableNetwork() }
    let conditions = WriteConditions(failsIfOffline: true)
    let status = #expect(throws: RPCStatus.self) { _ = try write("rooms/a", conditions, at: 100, &harness) }
    #expect(status?.code == .unavailable)
    #expect(try harness.core.store.pendingBatches().isEmpty)
    _ = harness.effects { core in core.enableNetwork() }
    _ = try write("rooms/a", conditions, at: 101, &harness)
    #expect(try harness.core.store.pendingBatches().count == 1)
  }

  @Test("A set-aside write is reverted, is listed as rejected and can be sent again")
  func aside() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let (batch, _) = try harness.write(set("rooms/a"))
    let (later, _) = try harness.write(set("rooms/b"))

    let effects = try harness.effects { core in try core.setWriteAside(batch, at: Timestamp(seconds: 50)) }

    #expect(effects.deliveries.first?.first?.snapshot.causes == [.cancelled(batch)])
    let rejected = try harness.core.rejectedWrites()
    #expect(rejected.map(\.id) == [batch] && rejected.first?.isSetAside == true)
    #expect(rejected.first?.rejection.time == Timestamp(seconds: 50) && rejected.first?.rejection.attempts == 0)
    let sent = harness.send()
    #expect(sent == [later])

    var again = BatchID(0)
    _ = try harness.effects { core in again = try core.resend(batch, as: nil, at: Timestamp(seconds: 80)) }
    #expect(try harness.core.rejectedWrites().isEmpty)
    #expect(try harness.core.store.pendingBatches().map(\.id) == [later, again])
  }

  @Test("A write that is in flight or unknown cannot be set aside")
  func refused() throws {
    var harness = try CoreHarness()
    let (batch, _) = try harness.write(set("rooms/a"))
    _ = harness.send()
    for (id, code) in [(batch, StatusCode.failedPrecondition), (BatchID(99), .notFound)] {
      var found: StatusCode?
      _ = harness.effects { core in
        do throws(RPCStatus) { try core.setWriteAside(id, at: Timestamp(seconds: 1)) } catch { found = error.code }
      }
      #expect(found == code)
    }
    #expect(try harness.core.rejectedWrites().isEmpty)
  }
}
