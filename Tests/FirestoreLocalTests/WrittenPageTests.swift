// SPDX-License-Identifier: Apache-2.0
import CSQLite
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreLocal
@testable import FirestoreSQLite

/// The pages that the most frequent operations write to SQLite's log, which is what a write to the disk costs.
@Suite("WAL pages")
struct WrittenPageTests {
  private struct Pages: Equatable {
    var write = 0
    var acknowledgement = 0
    /// A document of a listener that came again.
    var change = 0
    /// A snapshot of a hundred new documents of a listener.
    var hundred = 0
  }

  @Test("Writes, acknowledgements and remote documents write a fixed number of WAL pages")
  func pages() throws {
    // The counts of the present code: a change of them is a change of what each operation costs.
    let expected = Pages(write: 2, acknowledgement: 5, change: 4, hundred: 15)

    let place = Place(.durable)
    var store = try place.open()
    try store.start(user: nil)
    let rooms = Query(path: ResourcePath("rooms"))
    let target = try store.allocateTarget(rooms.target).id
    _ = try store.apply(event(at: 1, (0..<100).map { doc("rooms/\($0)", at: 1) }, addedTo: target, token: token("t1")))
    var pages = Pages()
    // Each operation is counted the second time, when everything that is remembered has been read.
    for round in 1...2 {
      let time = Int64(round) * 10
      var before = store.writtenPages
      func mark(_ operation: WritableKeyPath<Pages, Int>, _ written: Int) {
        pages[keyPath: operation] = written - before
        before = written
      }

      let batch = try store.write([patch("rooms/0", ["n": .integer(time)])], at: now).batchID
      mark(\.write, store.writtenPages)
      _ = try store.acknowledge(batch, commit(at: time + 1))
      mark(\.acknowledgement, store.writtenPages)
      _ = try store.apply(
        event(at: time + 2, [doc("rooms/0", at: time + 2)], addedTo: target, token: token("t\(round)")))
      mark(\.change, store.writtenPages)
      let hundred = (0..<100).map { doc("rooms/new-\(round)-\($0)", at: time + 3) }
      _ = try store.apply(event(at: time + 3, hundred, addedTo: target, token: token("u\(round)")))
      mark(\.hundred, store.writtenPages)
    }
    try close(store)

    #expect(pages == expected)
  }
}

extension LocalStore {
  /// The pages that the connection has written so far.
  fileprivate var writtenPages: Int {
    var (count, unused): (Int32, Int32) = (0, 0)
    sqlite3_db_status(database.connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &unused, 0)
    return Int(count)
  }
}
