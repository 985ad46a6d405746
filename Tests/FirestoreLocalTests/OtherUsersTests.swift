// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreTesting
import Testing

@Suite("Other users' writes in a shared cache")
struct OtherUsersTests {
  /// Two clients of one cache. Ada has the streams.
  private struct Clients: ~Copyable {
    var ada: LocalStore
    var bob: LocalStore

    static func open(_ place: Place) throws -> Clients {
      var configuration = place.configuration()
      configuration.isShared = true
      var ada = try LocalStore(configuration)
      var bob = try LocalStore(configuration)
      try ada.start(user: "ada")
      try bob.start(user: "bob")
      _ = try ada.refreshLease(SharedClientState(usesNetwork: true, isVisible: true), wasPrimary: false, at: now)
      _ = try ada.apply(event(at: 1, [doc("rooms/r", at: 1, ["n": .integer(1), "own": .integer(1)])]))
      return Clients(ada: ada, bob: bob)
    }
  }

  private static func transform(_ operation: FieldTransform.Operation) -> Mutation {
    Mutation(
      key: key("rooms/r"), operation: .patch(["own": .integer(2)], FieldMask([FieldPath("own")])),
      precondition: .exists(true), transforms: [FieldTransform(path: FieldPath("n"), operation: operation)])
  }

  private static let writes: [Mutation] = [
    set("rooms/r", ["n": .integer(5)]), patch("rooms/r", ["n": .integer(5)]), increment("rooms/r", "n", by: 1),
    transform(.serverTimestamp),
  ]

  @Test("Acknowledging one user's writes does not read another user's pending writes", arguments: 0..<4)
  func unread(_ kind: Int) throws {
    let place = Place(.durable)
    var clients = try Clients.open(place)
    for number in 0..<6 {
      _ = try clients.ada.write([patch("rooms/r", ["theirs": .integer(Int64(number))])], at: now)
      _ = try clients.bob.write([Self.writes[kind]], at: now)
    }
    var time: Int64 = 100

    while let batch = try clients.ada.nextBatch(after: nil) {
      time += 2
      try clients.bob.hideBatches(of: "bob")
      _ = try clients.ada.acknowledge(batch.id, commit(at: time))
      let fields: Fields = ["n": .integer(time), "own": .integer(1), "backend": .integer(time)]
      _ = try clients.ada.apply(event(at: time + 1, [doc("rooms/r", at: time + 1, fields)]))
      try clients.bob.showBatches()
      let violations = try clients.bob.checkInvariants()
      #expect(violations == [])
    }

    let isReplaced = kind == 0
    #expect(try clients.bob.document(key("rooms/r"))?[FieldPath("backend")] == (isReplaced ? nil : .integer(time)))
    try close(clients.ada)
    try close(clients.bob)
  }

  @Test("Another user's pending writes do not make acknowledgements and events slower")
  func cost() throws {
    func work(waiting count: Int) throws -> [StatementWork] {
      let place = Place(.durable)
      var clients = try Clients.open(place)
      let batch = try clients.ada.write([patch("rooms/r", ["theirs": .integer(1)])], at: now).batchID
      for _ in 0..<count { _ = try clients.bob.write([increment("rooms/r", "n", by: 1)], at: now) }
      // What was changed meanwhile is noticed before anything is counted.
      _ = try clients.ada.pendingBatches()
      var work = [clients.ada.work]
      _ = try clients.ada.acknowledge(batch, commit(at: 100))
      work.append(clients.ada.work)
      _ = try clients.ada.apply(event(at: 101, [doc("rooms/r", at: 101, ["n": .integer(7)])]))
      work.append(clients.ada.work)
      try close(clients.bob)
      try close(clients.ada)
      return [work[1] - work[0], work[2] - work[1]]
    }

    #expect(try work(waiting: 5) == work(waiting: 50))
  }
}
