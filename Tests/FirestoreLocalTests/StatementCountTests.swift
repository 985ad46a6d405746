// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

/// What the most frequent operations ask of SQLite, in statements.
@Suite("SQL statement counts")
struct StatementCountTests {
  private struct Counts: Equatable {
    var listen = 0
    var event = 0
    var write = 0
    var acknowledgement = 0
    var read = 0
    var stop = 0
  }

  /// Counts each operation the second time, when everything that is remembered has been read.
  private func counts(isShared: Bool) throws -> Counts {
    let place = Place(.durable)
    var configuration = place.configuration()
    configuration.isShared = isShared
    var store = try LocalStore(configuration)
    try store.start(user: nil)
    _ = try store.refreshLease(SharedClientState(usesNetwork: true, isVisible: true), wasPrimary: false, at: now)
    store.takeOver()
    var counts = Counts()
    for round in 1...2 {
      let time = Int64(round) * 10
      let rooms = Query(path: ResourcePath("rooms\(round)"))
      var runs = store.work.runs
      func mark(_ operation: WritableKeyPath<Counts, Int>, _ work: StatementWork) {
        counts[keyPath: operation] = work.runs - runs
        runs = work.runs
      }

      let target = try store.allocateTarget(rooms.target).id
      _ = try store.execute(rooms, usingPreviousResults: true)
      mark(\.listen, store.work)
      let documents = (0..<3).map { doc("rooms\(round)/\($0)", at: time) }
      _ = try store.apply(event(at: time, documents, addedTo: target, token: token("t\(round)")))
      mark(\.event, store.work)
      let batch = try store.write([patch("rooms\(round)/0", ["n": .integer(time)])], at: now).batchID
      mark(\.write, store.work)
      _ = try store.acknowledge(batch, commit(at: time + 1))
      mark(\.acknowledgement, store.work)
      _ = try store.document(key("rooms\(round)/0"))
      mark(\.read, store.work)
      try store.releaseTarget(target)
      mark(\.stop, store.work)
    }
    try close(store)
    return counts
  }

  @Test("A shared cache adds one to three SQL statements per transaction")
  func counts() throws {
    let single = try counts(isShared: false)
    let shared = try counts(isShared: true)

    #expect(single == Counts(listen: 12, event: 15, write: 5, acknowledgement: 9, read: 1, stop: 3))
    #expect(shared == Counts(listen: 14, event: 16, write: 6, acknowledgement: 11, read: 4, stop: 4))
  }
}
