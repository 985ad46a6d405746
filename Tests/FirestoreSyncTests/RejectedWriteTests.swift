// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite("Rejected writes")
struct RejectedWriteTests {
  private let denied = RPCStatus(.permissionDenied, "no")

  /// A core whose first write, to rooms/a, was rejected; it is listened to as 1.
  private func rejected() throws -> CoreHarness {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let (batch, _) = try harness.write(set("rooms/a"))
    let sent = harness.send()
    #expect(sent == [batch])
    _ = harness.effects { core in
      core.streamEnded(.write, denied, in: core.writeStream.epoch, at: Timestamp(seconds: 77))
    }
    return harness
  }

  @Test("A rejected write is stored with its error, and a temporary failure is not")
  func kept() throws {
    var harness = try rejected()
    let batch = BatchID(1)
    _ = try harness.write(set("rooms/b"))
    _ = harness.send()
    _ = harness.effects { core in
      core.streamEnded(.write, RPCStatus(.unavailable, "gone"), in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }

    let writes = try harness.core.rejectedWrites()

    #expect(writes.map(\.id) == [batch])
    #expect(writes.first?.mutations == [set("rooms/a")])
    #expect(writes.first?.rejection == Rejection(status: denied, time: Timestamp(seconds: 77), attempts: 1))
  }

  @Test("A canceled write is not among the rejected writes")
  func cancelled() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let (batch, _) = try harness.write(set("rooms/a"))

    let effects = try harness.effects { core in try core.cancelWrite(batch) }

    #expect(try harness.core.rejectedWrites().isEmpty)
    #expect(effects.deliveries.first?.first?.snapshot.causes == [.cancelled(batch)])
  }

  @Test("A resent write counts as new: it is visible immediately and last in the queue")
  func resent() throws {
    var harness = try rejected()
    let batch = BatchID(1)
    let other = try harness.write(set("rooms/b")).batch
    var again = BatchID(0)

    let effects = try harness.effects { core in
      again = try core.resend(batch, as: nil, at: Timestamp(seconds: 80))
    }

    #expect(again > other)
    #expect(effects.deliveries.first?.first?.snapshot.causes == [.localWrite(again)])
    #expect(try harness.core.rejectedWrites().isEmpty)
    let sent = harness.send()
    #expect(sent == [other, again])
    #expect(try harness.core.store.pendingBatches().last?.mutations == [set("rooms/a")])
  }

  @Test("A rejected write can be changed before it is sent again")
  func edited() throws {
    var harness = try rejected()
    let batch = BatchID(1)

    _ = try harness.effects { core in
      _ = try core.resend(batch, as: [set("rooms/c")], at: Timestamp(seconds: 80))
    }

    #expect(try harness.core.store.pendingBatches().map(\.mutations) == [[set("rooms/c")]])
    #expect(try harness.core.rejectedWrites().isEmpty)
  }

  @Test("An unknown write cannot be sent again or dropped")
  func unknown() throws {
    var harness = try rejected()
    let batch = BatchID(1)
    try harness.core.dropRejectedWrite(batch)

    var codes: [StatusCode] = []
    _ = harness.effects { core in
      do throws(RPCStatus) { try core.dropRejectedWrite(batch) } catch { codes.append(error.code) }
      do throws(RPCStatus) {
        _ = try core.resend(batch, as: nil, at: Timestamp(seconds: 80))
      } catch {
        codes.append(error.code)
      }
    }

    #expect(codes == [.notFound, .notFound])
    #expect(try harness.core.store.pendingBatches().isEmpty)
  }

  @Test("A rejection that the store failed to save is saved once after recovery")
  func storeFails() throws {
    var harness = try CoreHarness()
    let (batch, _) = try harness.write(set("rooms/a"))
    _ = harness.send()
    harness.core.store.faults = [.rejectBatch]
    _ = harness.effects { core in
      core.streamEnded(.write, denied, in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
    #expect(try harness.core.rejectedWrites().isEmpty)

    harness.core.store.faults = []
    let effects = harness.effects { core in core.fire(.storeRetry) }

    #expect(effects.position { if case .complete(batch, .failure(denied)) = $0 { true } else { false } } != nil)
    #expect(try harness.core.rejectedWrites().map(\.id) == [batch])
  }

  @Test("Canceling an earlier write recomputes later ones without it (S9)")
  func cancelUnderLater() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let first = try harness.write(set("rooms/a", ["n": .integer(1), "old": .boolean(true)])).batch
    let middle = try harness.write(
      Mutation(key: key("rooms/a"), operation: .patch(["m": .integer(2)], FieldMask([FieldPath("m")])))
    ).batch
    let last = try harness.write(
      Mutation(
        key: key("rooms/a"), operation: .patch([:], FieldMask([])),
        transforms: [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(5)))])
    ).batch

    var effects = try harness.effects { core in try core.cancelWrite(middle) }
    let afterMiddle = effects.deliveries.last?.last?.snapshot.documents[key("rooms/a")]
    #expect(afterMiddle?.data?.fields == ["n": .integer(6), "old": .boolean(true)])

    effects = try harness.effects { core in try core.cancelWrite(first) }
    let afterFirst = effects.deliveries.last?.last?.snapshot.documents[key("rooms/a")]
    // With the first write the document is gone, and with it what the increment added to.
    #expect(afterFirst?.data?.fields == ["n": .integer(5)])
    #expect(afterFirst?.hasLocalMutations == true)
    #expect(try harness.core.store.pendingBatches().map(\.id) == [last])
    #expect(try harness.core.store.checkInvariants().isEmpty)
  }
}
