// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import FirestoreService
import ServiceTesting
import Synchronization
import Testing

@testable import FirestoreAccess

@Suite("Requests under security rules")
struct AccessTests {
  private static let text = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /c/{id} {
          allow get: if resource.data.owner == request.auth.uid;
          allow list: if resource.data.open == true;
          allow create: if request.resource.data.n > 0 && request.resource.data.owner == request.auth.uid;
          allow update: if resource.data.owner == request.auth.uid && request.resource.data.n > resource.data.n;
          allow delete: if exists(/databases/$(database)/documents/admins/$(request.auth.uid));
        }
      }
    }
    """

  private struct World {
    let rules = AccessRules()
    let owner: FirestoreService
    let alice: FirestoreService
    let nobody: FirestoreService

    init(_ text: String = AccessTests.text) throws {
      rules.set(.ruleset(try AccessTests.ruleset(text)))
      let service = FirestoreService(backend: try makeService().backend, rules: rules)
      owner = try service.serving(as: "Bearer owner")
      alice = try service.serving(as: TokenTests.token(#"{"sub":"alice"}"#))
      nobody = try service.serving(as: nil)
    }
  }

  private static func ruleset(_ text: String) throws -> Ruleset {
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "test.rules", content: text)])
    return try #require(ruleset, "\(issues)")
  }

  private func get(_ path: String, _ service: FirestoreService) async throws(RPCStatus) {
    try await service.answer(.getDocument, bytes { $0.field(1, string: root + "/" + path) })
  }

  private func delete(_ path: String, _ service: FirestoreService) async throws(RPCStatus) {
    try await service.answer(.deleteDocument, bytes { $0.field(1, string: root + "/" + path) })
  }

  private func denied(
    _ body: @Sendable () async throws -> Void, _ place: SourceLocation = #_sourceLocation
  ) async -> String {
    do {
      try await body()
      Issue.record("allowed", sourceLocation: place)
    } catch let status as RPCStatus where status.code == .permissionDenied {
      return status.message
    } catch { Issue.record("failed: \(error)", sourceLocation: place) }
    return ""
  }

  @Test("Rules apply to users, not to administrators, and a denial names the rule's line")
  func documents() async throws {
    let world = try World()
    try await world.alice.set("c/a", ["owner": .string("alice"), "n": .integer(1)])
    #expect(
      await denied { try await world.nobody.set("c/b", ["owner": .string("alice"), "n": .integer(1)]) }.contains("L7"))
    #expect(
      await denied { try await world.alice.set("c/b", ["owner": .string("alice"), "n": .integer(0)]) }.contains("L7"))
    #expect(
      await denied { try await world.alice.set("c/a", ["owner": .string("alice"), "n": .integer(1)]) }.contains("L8"))
    try await world.alice.set("c/a", ["owner": .string("alice"), "n": .integer(2)])
    try await get("c/a", world.alice)
    #expect(await denied { try await get("c/a", world.nobody) }.contains("L5"))
    // Rules come before whether the document is there.
    _ = await denied { try await get("c/missing", world.alice) }
    try await get("c/a", world.owner)
  }

  @Test("request.writeFields has the fields of the update mask")
  func writeFields() async throws {
    let condition = "request.writeFields == null || request.writeFields.hasOnly(['n'])"
    let world = try World(
      "service cloud.firestore { match /databases/{d}/documents { match /c/{id} { allow write: if \(condition); } } }")
    @Sendable func patch(_ field: String) async throws(RPCStatus) {
      _ = try await world.alice.answer(
        .commit,
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2) { write in
            write.field(1) { $0.document("c/a", [field: .string("admin")]) }
            write.field(3) { $0.field(1, string: field) }
          }
        })
    }
    try await patch("n")
    _ = await denied { try await patch("role") }
  }

  @Test("A rule can allow a request because another document exists")
  func otherDocuments() async throws {
    let world = try World()
    try await world.owner.set("c/a", ["owner": .string("alice")])
    _ = await denied { try await delete("c/a", world.alice) }
    try await world.owner.set("admins/alice", [:])
    try await delete("c/a", world.alice)
  }

  @Test("One denied write denies its whole batch")
  func batches() async throws {
    let world = try World()
    @Sendable func request(_ second: Int64) -> [UInt8] {
      bytes { writer in
        writer.field(1, string: database)
        writer.set("c/x", ["owner": .string("alice"), "n": .integer(1)])
        writer.set("c/y", ["owner": .string("alice"), "n": .integer(second)])
      }
    }
    _ = await denied { try await world.alice.answer(.commit, request(-1)) }
    let missing = await #expect(throws: RPCStatus.self) { try await get("c/x", world.owner) }
    #expect(missing?.code == .notFound)
    try await world.alice.answer(.commit, request(1))
    let both = bytes { writer in
      writer.field(1, string: database)
      for path in ["c/x", "c/y"] { writer.field(2, string: root + "/" + path) }
    }
    #expect(try await world.alice.messages(.batchGetDocuments, both).count == 2)
    _ = await denied { _ = try await world.nobody.messages(.batchGetDocuments, both) }
  }

  @Test("A write that requires an existing document is checked as an update")
  func missingDocuments() async throws {
    let world = try World()
    let write = bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { writer in
        writer.field(1) { $0.document("c/missing", ["owner": .string("alice"), "n": .integer(1)]) }
        writer.field(4) { $0.field(1, varint: 1) }
      }
    }
    #expect(await denied { try await world.alice.answer(.commit, write) }.contains("'update' @ L8"))
    let missing = await #expect(throws: RPCStatus.self) { try await world.owner.answer(.commit, write) }
    #expect(missing?.code == .notFound)
    try await world.alice.set("c/missing", ["owner": .string("alice"), "n": .integer(1)])
  }

  @Test("Queries must satisfy the rules; listing ids and BatchWrite need an administrator")
  func queries() async throws {
    let world = try World()
    try await world.owner.set("c/a", ["open": .boolean(true)])
    @Sendable func query(_ condition: Bool) -> [UInt8] {
      bytes { writer in
        writer.field(1, string: root)
        writer.query(2, "c") { writer in
          guard condition else { return }
          writer.field(3) { writer in
            writer.field(2) { writer in
              writer.field(1) { $0.field(2, string: "open") }
              writer.field(2, varint: 5)
              writer.field(3) { $0.value(.boolean(true)) }
            }
          }
        }
      }
    }
    #expect(try await world.nobody.messages(.runQuery, query(true)).count == 1)
    #expect(await denied { _ = try await world.nobody.messages(.runQuery, query(false)) }.contains("L6"))
    let names = bytes { $0.field(1, string: root) }
    #expect(await denied { try await world.alice.answer(.listCollectionIDs, names) }.contains("admin"))
    #expect(try await world.owner.answer(.listCollectionIDs, names).isEmpty == false)
    let batch = bytes { $0.field(1, string: database) }
    #expect(await denied { try await world.alice.answer(.batchWrite, batch) }.contains("admin"))
  }

  @Test("A project without rules allows everything, and broken rules deny everything")
  func projects() async throws {
    let world = try World()
    world.rules.set(nil)
    #expect(!world.rules.isActive)
    try await world.nobody.set("c/a", ["n": .integer(-1)])
    world.rules.set(.ruleset(try Self.ruleset(Self.text)), for: "other")
    try await world.nobody.set("c/a", ["n": .integer(-2)])
    let files = [RulesFile(name: "x", content: "service")]
    world.rules.set(.broken(files, Ruleset.compile(files).issues), for: "p")
    let error = await #expect(throws: RPCStatus.self) { try await get("c/a", world.nobody) }
    #expect(error?.code == .invalidArgument && error?.message.contains("compiling") == true)
  }

  @Test(
    "A write's precondition makes it a create or an update, whatever is stored",
    arguments: [
      (true, false, false, StatusCode.alreadyExists), (false, true, false, .permissionDenied),
      (false, true, true, .ok), (true, false, true, .permissionDenied),
    ])
  func preconditions(_ create: Bool, _ update: Bool, _ exists: Bool, _ code: StatusCode) async throws {
    let world = try World(
      "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents/c/{id} { "
        + "allow create: if \(create); allow update: if \(update); } }")
    try await world.owner.set("c/a", ["n": .integer(1)])
    let request = bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { write in
        write.field(1) { $0.document("c/a", ["n": .integer(2)]) }
        write.field(4) { $0.field(1, boolean: exists) }
      }
    }
    var found = StatusCode.ok
    do throws(RPCStatus) { try await world.alice.answer(.commit, request) } catch { found = error.code }
    #expect(found == code)
  }

  @Test("Unless strict, a list that the rules cannot prove is allowed with a warning")
  func proofs() async throws {
    let text =
      "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents/c/{id} { "
      + "allow list: if !('gone' in resource.data); } }"
    let query = bytes { writer in
      writer.field(1, string: root)
      writer.query(2, "c")
    }
    for provesLists in [false, true] {
      let lines = Mutex<[String]>([])
      let rules = AccessRules(provesLists: provesLists) { line in lines.withLock { $0.append(line) } }
      rules.set(.ruleset(try Self.ruleset(text)))
      let service = FirestoreService(backend: try makeService().backend, rules: rules)
      let nobody = try service.serving(as: nil)
      for _ in 0..<2 {
        if provesLists {
          _ = await denied { try await nobody.answer(.runQuery, query) }
        } else {
          try await nobody.answer(.runQuery, query)
        }
      }
      let logged = lines.withLock { $0 }
      #expect(
        logged.count == (provesLists ? 0 : 1) && logged.allSatisfy { $0.contains("does not name gone") }, "\(logged)")
    }
  }

  @Test("Each rule evaluation is reported to observers and included in the coverage")
  func told() async throws {
    let world = try World()
    try await world.alice.set("c/a", ["owner": .string("alice"), "n": .integer(1)])
    let told = Told()
    let (past, number) = world.rules.watch { evaluation in told.add(evaluation) }
    #expect(past.map(\.verdict.isAllowed) == [true] && past.map(\.request.method) == [.create])
    _ = await denied { try await get("c/a", world.nobody) }
    world.rules.endWatch(number)
    try await get("c/a", world.alice)
    #expect(told.all.map(\.verdict.decidingLine) == [5] && told.all.map(\.number) == [2])
    #expect(world.rules.coverage(of: "p") != nil)
  }
}

private final class Told: Sendable {
  private let evaluations = Mutex<[RulesEvaluation]>([])

  func add(_ evaluation: RulesEvaluation) { evaluations.withLock { $0.append(evaluation) } }
  var all: [RulesEvaluation] { evaluations.withLock { $0 } }
}
