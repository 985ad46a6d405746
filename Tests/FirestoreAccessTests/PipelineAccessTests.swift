// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreRules
import FirestoreService
import ServiceTesting
import Testing

@testable import FirestoreAccess

@Suite("Pipelines under security rules")
struct PipelineAccessTests {
  private static let text = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /c/{id} {
          allow get: if resource.data.owner == request.auth.uid;
          allow list: if resource.data.open == true;
          allow update: if request.resource.data.n == 2;
        }
        match /c/{id}/sub/{other} { allow list: if false; }
      }
    }
    """

  private static let all = PipelineMessage.Stage("collection", [.path("/c")])
  private static let open = PipelineMessage.Stage(
    "where", [.function("equal", [.field("open"), .constant(.boolean(true))])])

  private static func services() async throws -> (owner: FirestoreService, alice: FirestoreService) {
    let rules = AccessRules()
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "test.rules", content: text)])
    rules.set(.ruleset(try #require(ruleset, "\(issues)")))
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    let owner = try service.serving(as: "Bearer owner")
    try await owner.set("c/a", ["open": .boolean(true), "owner": .string("alice"), "n": .integer(1)])
    try await owner.set("c/b", ["open": .boolean(false), "owner": .string("bob")])
    return (owner, try service.serving(as: TokenTests.token(#"{"sub":"alice"}"#)))
  }

  private static func run(_ stages: [PipelineMessage.Stage], _ service: FirestoreService) async throws -> Int {
    let request = bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { writer in writer.field(1) { $0.pipeline(PipelineMessage(stages)) } }
    }
    return try await service.messages(.executePipeline, request).reduce(0) { $0 + $1.all(2).count }
  }

  @Test("A pipeline's leading filters satisfy rules like a query's filters")
  func reading() async throws {
    let (owner, alice) = try await Self.services()

    #expect(try await Self.run([Self.all], owner) == 2)
    #expect(try await Self.run([Self.all, Self.open], alice) == 1)
    #expect(try await Self.run([.init("documents", [.path("/c/a")])], alice) == 1)
    #expect(try await Self.run([.init("literals", [.constant(.map([:]))])], alice) == 1)
  }

  @Test(
    "Pipeline reads that the rules do not allow are denied in every stage",
    arguments: [
      [all], [all, .init("limit", [.constant(.integer(1))]), open], [.init("database"), open],
      [.init("collection_group", [.path(""), .constant(.string("c"))])],
      [.init("documents", [.path("/c/a"), .path("/c/b")])],
      [all, open, .init("union", [.pipeline(PipelineMessage([all]))])],
      [
        all, open,
        .init(
          "select",
          [
            .named([
              (
                "s",
                .function("array", [.pipeline(PipelineMessage([.init("subcollection", [.constant(.string("sub"))])]))])
              )
            ])
          ]),
      ],
      [all, open, .init("delete")], [all, open, .init("update", [.named([("n", .constant(.integer(3)))])])],
    ] as [[PipelineMessage.Stage]])
  func denials(_ stages: [PipelineMessage.Stage]) async throws {
    let (owner, alice) = try await Self.services()

    let status = await #expect(throws: RPCStatus.self) { try await Self.run(stages, alice) }
    #expect(status?.code == .permissionDenied)
    #expect(try await Self.run([Self.all], owner) == 2)
  }

  @Test("A pipeline's writes are checked like a commit's")
  func writing() async throws {
    let (_, alice) = try await Self.services()
    let update = PipelineMessage.Stage("update", [.named([("n", .constant(.integer(2)))])])

    #expect(try await Self.run([Self.all, Self.open, update], alice) == 1)
  }
}
