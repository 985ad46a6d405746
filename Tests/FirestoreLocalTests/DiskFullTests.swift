// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreLocal

@Suite("A full disk")
struct DiskFullTests {
  @Test(
    "A full disk rejects the change, keeps existing data, and recovers with space",
    arguments: Storage.allCases)
  func fullDisk(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1)], addedTo: target))
    let pages = try store.database.connection.integer("PRAGMA page_count") ?? 0
    try store.database.connection.execute("PRAGMA max_page_count = \(pages + 4)")
    let large = Value.string(String(repeating: "x", count: 50_000))

    var errors: [StoreError] = []
    do { _ = try store.write([set("rooms/a", ["x": large])], at: now) } catch { errors.append(error) }
    do { _ = try store.apply(event(at: 2, [doc("new/b", at: 2, ["x": large])], addedTo: target)) } catch {
      errors.append(error)
    }

    #expect(errors.map(\.kind) == [.diskFull, .diskFull])
    #expect(errors.map(\.code) == [.resourceExhausted, .resourceExhausted])
    let pending = try store.pendingBatches()
    let members = try store.remoteKeys(of: target)
    let last = try store.lastRemoteSnapshotVersion()
    let violations = try store.checkInvariants()
    #expect(pending.isEmpty)
    #expect(members == [key("rooms/a")])
    #expect(last == version(1))
    #expect(violations.isEmpty)

    try store.database.connection.execute("PRAGMA max_page_count = 1000000")
    _ = try store.write([set("rooms/a", ["x": large])], at: now)
    _ = try store.apply(event(at: 2, [doc("new/b", at: 2, ["x": large])], addedTo: target))
    let view = try store.document(key("rooms/a"))
    let remote = try store.remoteDocument(key("new/b"))
    #expect(view?.hasLocalMutations == true)
    #expect(remote?.exists == true)
  }
}
