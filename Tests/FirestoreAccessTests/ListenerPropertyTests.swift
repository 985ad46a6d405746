// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import ServiceTesting
import Testing

@testable import FirestoreAccess

/// Random documents change under listeners of random users, who come and go, and lose and regain what they may read.
@Suite("Listeners under random rules and changes")
struct ListenerPropertyTests {
  /// Rules, and what a user may listen to under them.
  struct Case: Sendable {
    let name: String
    let rules: String
    let targets: @Sendable (String) -> [WatchTarget]
  }

  private static let byNumber = [OrderBy(FieldPath("n"))]

  static let cases: [Case] = [
    Case(name: "owner", rules: "match /c/{id} { allow read: if resource.data.owner == request.auth.uid; }") { user in
      [
        watched(2, "c", "owner", .equal, .string(user)),
        watched(4, "c", "owner", .equal, .string(user), orderBy: byNumber, limit: 2), watched(6, "c/d1"),
      ]
    },
    Case(name: "members", rules: "match /c/{id} { allow read: if request.auth.uid in resource.data.members; }") {
      user in
      [
        watched(2, "c", "members", .arrayContains, .string(user)),
        watched(4, "c", "members", .arrayContains, .string(user), orderBy: byNumber, limit: 3),
      ]
    },
    Case(
      name: "public or owner",
      rules: """
        match /c/{id} { allow read: if resource.data.public == true || resource.data.owner == request.auth.uid; }
        """
    ) { user in
      [
        watched(2, "c", "public", .equal, .boolean(true)), watched(4, "c", "owner", .equal, .string(user)),
        watched(6, "c", "public", .equal, .boolean(true), orderBy: byNumber, limit: 1), watched(8, "c/d2"),
      ]
    },
    Case(
      name: "gate",
      rules: """
        match /c/{id} {
          allow read: if get(/databases/$(database)/documents/gates/g).data.open == true && resource.data.public == true;
        }
        """
    ) { _ in
      [
        watched(2, "c", "public", .equal, .boolean(true)),
        watched(4, "c", "public", .equal, .boolean(true), orderBy: byNumber, limit: 2),
      ]
    },
    Case(
      name: "get apart from list",
      rules: """
        match /c/{id} {
          allow list: if resource.data.n < 10;
          allow get: if resource.data.n < 10 || get(/databases/$(database)/documents/gates/g).data.open == true;
        }
        """
    ) { _ in
      [
        watched(2, "c", "n", .lessThan, .integer(10)),
        watched(4, "c", "n", .lessThan, .integer(10), orderBy: byNumber, limit: 4),
      ]
    },
    Case(name: "number", rules: "match /c/{id} { allow read: if resource.data.n < 10; }") { _ in
      [
        watched(2, "c", "n", .lessThan, .integer(10)),
        watched(4, "c", "n", .lessThan, .integer(5), orderBy: byNumber, limit: 3),
      ]
    },
  ]

  private static func change(_ world: RuledService, _ random: inout SeededGenerator) async throws {
    if Int.random(in: 0..<8, using: &random) == 0 {
      return try await world.owner.set("gates/g", ["open": .boolean(Bool.random(using: &random))])
    }
    let path = "c/d\(Int.random(in: 0..<12, using: &random))"
    if Int.random(in: 0..<5, using: &random) == 0 { return try await world.delete(path) }
    let users = ["u0", "u1"].filter { _ in Bool.random(using: &random) }
    try await world.owner.set(
      path,
      [
        "owner": .string(Bool.random(using: &random) ? "u0" : "u1"), "members": .array(users.map { .string($0) }),
        "public": .boolean(Bool.random(using: &random)),
        "n": .integer(Int64.random(in: 0..<14, using: &random) * 10 / 7),
        "secret": .integer(Int64.random(in: 0..<1_000_000, using: &random)),
      ])
  }

  /// What a listener knows who has heard all, but for targets that are refused.
  private static func state(_ listener: Listener) -> [String: [String]] {
    var state: [String: [String]] = [:]
    for id in listener.wishes.keys {
      state["\(id)"] =
        listener.failed.contains(id)
        ? ["refused"]
        : (listener.documents[id] ?? [:]).values.map { "\($0.key.path.text) \($0.version?.microseconds ?? 0)" }.sorted()
    }
    return state
  }

  /// - Parameter sparingRefused: what was refused to the listener may be allowed by now.
  private static func compare(_ listener: inout Listener, sparingRefused: Bool, _ trace: String) async throws {
    try await listener.receiveAll()
    var fresh = Listener(listener.caller, Array(listener.wishes.values))
    try await fresh.connect()
    try await fresh.receiveAll()
    let (actual, expected) = (state(listener), state(fresh))
    for (id, documents) in actual where !sparingRefused || documents != ["refused"] {
      #expect(documents == expected[id], "target \(id), \(trace)")
    }
    await fresh.disconnect()
  }

  @Test(
    "Listeners receive only readable documents, converge and repeat no lookups",
    arguments: cases.indices, 1...UInt64(TestSize.count(1, full: 3)))
  func property(index: Int, seed: UInt64) async throws {
    let (tested, trace) = (Self.cases[index], "rules \(Self.cases[index].name), seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let world = try RuledService(tested.rules)
    try await world.owner.set("gates/g", ["open": .boolean(true)])
    var listeners = try ["u0", "u1", "u0"].map { Listener(try world.user($0), tested.targets($0)) }
    for round in 0..<TestSize.count(70, full: 120) {
      for _ in 0..<Int.random(in: 1...4, using: &random) { try await Self.change(world, &random) }
      let place = Int.random(in: 0..<listeners.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: await listeners[place].disconnect()
      case 1...2:
        // Who was refused asks again, as a program does.
        await listeners[place].disconnect()
        try await listeners[place].connect(saysCount: Bool.random(using: &random))
      case 3 where listeners[place].isConnected:
        try await Self.compare(&listeners[place], sparingRefused: true, "\(trace), round \(round)")
      default: try await listeners[place].receive()
      }
    }
    for place in listeners.indices {
      await listeners[place].disconnect()
      try await listeners[place].connect()
      try await Self.compare(&listeners[place], sparingRefused: false, "\(trace), end")
      #expect(listeners[place].resets == 0, "\(trace)")
    }
  }
}
