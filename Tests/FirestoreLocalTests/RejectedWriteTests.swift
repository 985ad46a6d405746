// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Testing

@Suite("Rejected writes")
struct RejectedWriteTests {
  private let denied = Rejection(
    status: RPCStatus(.permissionDenied, "Not yours: rooms/a."), time: Timestamp(seconds: 2_000), attempts: 3)

  @Test("A rejected write and its error survive a restart, and its change is undone")
  func kept() throws {
    let place = Place(.durable)
    let mutations = [
      set("rooms/a", ["x": .integer(1)]), increment("rooms/b", "n", by: 2), delete("rooms/c"),
    ]
    do {
      var store = try place.open()
      let batch = try store.write(mutations, at: now).batchID
      let views = try store.reject(batch, denied)
      #expect(views.values.allSatisfy { !$0.exists && !$0.hasLocalMutations })
      #expect(try store.pendingBatches().isEmpty)
    }

    let store = try place.open()
    let writes = try store.rejectedWrites()

    let write = try #require(writes.first)
    #expect(writes.count == 1)
    #expect(write.mutations == mutations)
    #expect(write.localWriteTime == now)
    #expect(write.rejection == denied)
    #expect(write.byteCount > 0)
    try close(store)
  }

  @Test("A canceled write is not stored as a rejected write")
  func takenBack() throws {
    var store = try Place(.memory).open()
    let batch = try store.write([delete("rooms/a")], at: now).batchID
    _ = try store.reject(batch)

    #expect(try store.rejectedWrites().isEmpty)
  }

  @Test("Each user has separate rejected writes")
  func users() throws {
    var store = try Place(.memory).open()
    try store.start(user: "ada")
    let batch = try store.write([delete("rooms/a")], at: now).batchID
    _ = try store.reject(batch, denied)

    _ = try store.changeUser(to: "grace")
    #expect(try store.rejectedWrites().isEmpty)
    let wasDropped = try store.dropRejectedWrite(batch)
    #expect(!wasDropped)
    #expect(try store.dropAllRejectedWrites() == 0)

    _ = try store.changeUser(to: "ada")
    #expect(try store.rejectedWrites().map(\.id) == [batch])
  }

  @Test("Above 1,000 rejected writes the oldest are dropped")
  func countBound() throws {
    var store = try Place(.memory).open()
    var batches: [BatchID] = []
    for _ in 0..<1_003 {
      let batch = try store.write([delete("rooms/a")], at: now).batchID
      _ = try store.reject(batch, denied)
      batches.append(batch)
    }

    #expect(try store.rejectedWrites().map(\.id) == Array(batches.suffix(1_000)))
  }

  @Test("Above 10 MiB the oldest rejected writes are dropped, but never the newest")
  func byteBound() throws {
    var store = try Place(.memory).open()
    let large = Value.bytes([UInt8](repeating: 7, count: 4 << 20))
    var batches: [BatchID] = []
    for count in [1, 1, 1, 3] {
      let mutations = (0..<count).map { set("rooms/\($0)", ["x": large]) }
      let batch = try store.write(mutations, at: now).batchID
      _ = try store.reject(batch, denied)
      batches.append(batch)
      let kept = try store.rejectedWrites().map(\.id)
      #expect(kept == (count == 3 ? [batch] : batches.suffix(2)))
    }
  }

  @Test("A new write replaces a rejected write atomically")
  func resent() throws {
    var store = try Place(.memory).open()
    let batch = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID
    _ = try store.reject(batch, denied)

    store.faults = [.writeLocally]
    #expect(throws: StoreError.self) { try store.write([set("rooms/a", [:])], at: now, insteadOf: batch) }
    #expect(try store.rejectedWrites().map(\.id) == [batch])

    store.faults = []
    let again = try store.write([set("rooms/a", [:])], at: now, insteadOf: batch)
    #expect(again.batchID > batch)
    #expect(try store.rejectedWrites().isEmpty)
    #expect(try store.pendingBatches().map(\.id) == [again.batchID])
  }

  @Test("A rejection that cannot be stored leaves the write in the queue")
  func failed() throws {
    var store = try Place(.memory).open()
    let batch = try store.write([delete("rooms/a")], at: now).batchID
    store.faults = [.rejectBatch]

    #expect(throws: StoreError.self) { try store.reject(batch, denied) }

    #expect(try store.rejectedWrites().isEmpty)
    #expect(try store.pendingBatches().map(\.id) == [batch])
  }

  @Test("A rejected write can be dropped only once, and all can be dropped together")
  func dropped() throws {
    var store = try Place(.memory).open()
    var batches: [BatchID] = []
    for _ in 0..<3 {
      let batch = try store.write([delete("rooms/a")], at: now).batchID
      _ = try store.reject(batch, denied)
      batches.append(batch)
    }

    let first = try store.dropRejectedWrite(batches[1])
    let second = try store.dropRejectedWrite(batches[1])
    #expect(first && !second)
    #expect(try store.rejectedWrites().map(\.id) == [batches[0], batches[2]])
    #expect(try store.dropAllRejectedWrites() == 2)
    #expect(try store.rejectedWrites().isEmpty)
  }
}
