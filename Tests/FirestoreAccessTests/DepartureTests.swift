// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreService
import SeededRandom
import ServiceTesting
import Testing

@testable import FirestoreAccess

/// What a listener is told of documents that leave its targets, while it listens and when it comes back.
@Suite("Documents that leave a listener's result, under security rules")
struct DepartureTests {
  private static let owned = "match /notes/{id} { allow read: if resource.data.owner == request.auth.uid; }"
  private static let mine = watched(2, "notes", "owner", .equal, .string("mallory"))

  private func note(_ owner: String, _ text: String = "") -> Fields {
    ["owner": .string(owner), "text": .string(text)]
  }

  @Test(
    "A resuming client receives removals only of its own documents")
  func resume() async throws {
    let world = try RuledService(Self.owned)
    try await world.owner.set("notes/alice1", note("alice"))
    for id in ["m1", "m2", "m3", "m4"] { try await world.owner.set("notes/\(id)", note("mallory")) }
    var mallory = Listener(try world.user("mallory"), [Self.mine])
    try await mallory.connect()
    try await mallory.receiveAll()
    await mallory.disconnect()

    try await world.owner.set("notes/alice1", note("alice", "ALICE'S SECRET"))
    try await world.owner.set("notes/bob1", note("bob", "BOB'S NEW NOTE"))
    try await world.owner.set("notes/m1", note("mallory", "changed"))
    try await world.owner.set("notes/m2", note("alice", "taken over"))
    try await world.delete("notes/m3")
    try await world.owner.set("notes/passing", note("mallory"))
    try await world.delete("notes/passing")
    try await mallory.connect()
    try await mallory.receiveAll()

    #expect(mallory.log == ["DOC notes/m1 +[2] -[]", "GONE notes/m2 -[2]", "DELETE notes/m3 +[] -[2]"])
    #expect(mallory.documents[TargetID(2)]?.count == 2)
  }

  @Test("A resuming client gets no message for 4,000 changes to other users' documents")
  func foreignChanges() async throws {
    let world = try RuledService(Self.owned)
    try await world.owner.set("notes/mine", note("mallory"))
    var mallory = Listener(try world.user("mallory"), [Self.mine])
    try await mallory.connect()
    try await mallory.receiveAll()
    await mallory.disconnect()
    for batch in 0..<8 {
      try await world.owner.answer(
        .commit,
        bytes { writer in
          writer.field(1, string: database)
          for number in 0..<500 { writer.set("notes/a\(batch * 500 + number)", note("alice", "\(number)")) }
        })
    }

    for saysCount in [true, false] {
      try await mallory.connect(saysCount: saysCount)
      try await mallory.receiveAll()
      #expect(mallory.log.isEmpty)
      await mallory.disconnect()
    }
  }

  @Test("A document that changes owner is removed without its new contents")
  func ownerChanges() async throws {
    let world = try RuledService(Self.owned)
    try await world.owner.set("notes/a", note("mallory"))
    var mallory = Listener(try world.user("mallory"), [Self.mine])
    try await mallory.connect()
    try await mallory.receiveAll()

    try await world.owner.set("notes/a", note("alice", "SECRET"))
    try await mallory.receiveAll()
    #expect(mallory.log.last == "GONE notes/a -[2]")

    try await world.owner.set("notes/a", note("mallory", "again"))
    try await mallory.receiveAll()
    try await world.delete("notes/a")
    try await mallory.receiveAll()
    #expect(mallory.log.suffix(2) == ["DOC notes/a +[2] -[]", "DELETE notes/a +[] -[2]"])
  }

  @Test("A member removed from a room receives no later contents, online or offline")
  func rooms() async throws {
    let world = try RuledService("match /rooms/{id} { allow read: if request.auth.uid in resource.data.members; }")
    func room(_ members: String..., text: String) -> Fields {
      ["members": .array(members.map { .string($0) }), "text": .string(text)]
    }
    for id in ["a", "b"] { try await world.owner.set("rooms/\(id)", room("alice", "mallory", text: "hello")) }
    var mallory = Listener(
      try world.user("mallory"), [watched(2, "rooms", "members", .arrayContains, .string("mallory"))])
    try await mallory.connect()
    try await mallory.receiveAll()
    try await world.owner.set("rooms/a", room("alice", text: "now we are alone"))
    // Before it reads, more is said.
    try await world.owner.set("rooms/a", room("alice", text: "are we?"))
    try await mallory.receiveAll()
    #expect(mallory.log.last == "GONE rooms/a -[2]")
    await mallory.disconnect()
    try await world.owner.set("rooms/b", room("alice", text: "here too"))
    try await mallory.connect()
    try await mallory.receiveAll()
    #expect(mallory.log == ["GONE rooms/b -[2]"])
  }

  @Test("A document that leaves a limit query is sent in full only if still readable")
  func windows() async throws {
    let world = try RuledService(
      "match /c/{id} { allow list: if request.query.limit <= 2; allow get: if resource.data.open == true; }")
    func entry(_ number: Int64, open: Bool = true) -> Fields { ["n": .integer(number), "open": .boolean(open)] }
    for number: Int64 in [2, 4, 6] { try await world.owner.set("c/\(number)", entry(number)) }
    let window = watched(2, "c", orderBy: [OrderBy(FieldPath("n"))], limit: 2)
    var user = Listener(try world.user("user"), [window])
    try await user.connect()
    try await user.receiveAll()
    try await world.owner.set("c/3", entry(3))
    try await user.receiveAll()
    #expect(user.log.suffix(2) == ["DOC c/4 +[] -[2]", "DOC c/3 +[2] -[]"])
    await user.disconnect()

    try await world.owner.set("c/3", entry(30, open: false))
    try await world.owner.set("c/1", entry(1))
    try await world.owner.set("c/9", entry(9))
    try await user.connect()
    try await user.receiveAll()
    #expect(user.log == ["GONE c/3 -[2]", "DOC c/1 +[2] -[]"])
    #expect(user.documents[TargetID(2)]?.keys.map(\.path.text).sorted() == ["c/1", "c/2"])
  }

  @Test("Rules for a removed document are evaluated when the removal is sent")
  func atDelivery() async throws {
    let world = try RuledService(
      """
      match /c/{id} {
        allow list: if resource.data.shown == true;
        allow get: if get(/databases/$(database)/documents/gates/g).data.open == true;
      }
      """)
    try await world.owner.set("gates/g", ["open": .boolean(true)])
    for id in ["a", "b"] { try await world.owner.set("c/\(id)", ["shown": .boolean(true)]) }
    var user = Listener(try world.user("user"), [watched(2, "c", "shown", .equal, .boolean(true))])
    try await user.connect()
    try await user.receiveAll()

    try await world.owner.set("c/a", ["shown": .boolean(false)])
    try await world.owner.set("gates/g", ["open": .boolean(false)])
    try await user.receiveAll()
    #expect(user.log.last == "GONE c/a -[2]")

    try await world.owner.set("c/b", ["shown": .boolean(false)])
    try await world.owner.set("gates/g", ["open": .boolean(true)])
    try await user.receiveAll()
    #expect(user.log.last == "DOC c/b +[] -[2]")
  }

  @Test("A document listener ends, without the new contents, once access is lost")
  func documents() async throws {
    let world = try RuledService(Self.owned)
    try await world.owner.set("notes/a", note("mallory"))
    var mallory = Listener(try world.user("mallory"), [watched(2, "notes/a")])
    try await mallory.connect()
    try await mallory.receiveAll()
    try await world.owner.set("notes/a", note("alice", "SECRET"))
    try await mallory.receiveAll()
    #expect(mallory.log.last == "REMOVE [2] permission-denied")
    await mallory.disconnect()
    try await mallory.connect()
    try await mallory.receiveAll()
    #expect(mallory.log == ["REMOVE [2] permission-denied"])
  }
}
