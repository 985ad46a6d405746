// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct PipelineTests {
  private static func fill(_ datastore: any Datastore) async throws {
    for first in stride(from: 0, to: 600, by: 300) {
      let numbers = first..<(first + 300)
      _ = try await datastore.commit(
        numbers.map { set("c/d\($0)", ["n": .integer(Int64($0)), "even": .boolean($0 % 2 == 0)]) })
    }
  }

  private static let all = PipelineMessage.Stage("collection", [.path("/c")])

  @Test(
    "A pipeline returns the same documents, aggregates and errors on every transport", arguments: World.Way.allCases)
  func execution(_ way: World.Way) async throws {
    try await World.with(way) { world in
      let datastore = world.datastore()
      try await Self.fill(datastore)

      let whole = try await datastore.execute(PipelineMessage([Self.all]))
      #expect(whole.results.count == 600 && whole.executionTime != nil)
      #expect(whole.results[1].key == key("c/d1") && whole.results[1].updateTime != nil)
      let last = try await datastore.execute(
        PipelineMessage([
          Self.all, .init("where", [.function("equal", [.field("even"), .constant(true)])]),
          .init("sort", [.named([("expression", .field("n")), ("direction", .constant("descending"))])]),
          .init("limit", [.constant(2)]),
          .init("select", [.named([("m", .function("add", [.field("n"), .constant(1)]))])]),
        ]))
      #expect(last.results.map(\.data.fields) == [["m": 599], ["m": 597]])
      #expect(last.results.allSatisfy { $0.key == nil })
      let sum = try await datastore.execute(
        PipelineMessage([Self.all, .init("aggregate", [.named([("s", .function("sum", [.field("n")]))])])]))
      #expect(sum.results.map(\.data.fields) == [["s": 179_700]])
      let empty = try await datastore.execute(PipelineMessage([.init("collection", [.path("/none")])]))
      #expect(empty.results.isEmpty && empty.executionTime != nil)

      for (stage, text) in [
        (PipelineMessage.Stage("fliter", []), "The stage 'fliter' does not exist."),
        (PipelineMessage.Stage("where", [.function("eqaul", [])]), "The function 'eqaul' does not exist."),
        (
          PipelineMessage.Stage("select", [.named([("x", .function("divide", [.constant(1), .constant(0)]))])]),
          "divide() cannot divide by zero."
        ),
      ] {
        let status = await #expect(throws: RPCStatus.self) {
          try await datastore.execute(PipelineMessage([Self.all, stage]))
        }
        #expect(
          status?.code == .invalidArgument && status?.message.hasPrefix(text) == true, "\(String(describing: status))")
      }
    }
  }

  @Test(
    "A writing pipeline is atomic and returns its document count on every transport", arguments: World.Way.allCases)
  func writing(_ way: World.Way) async throws {
    try await World.with(way) { world in
      let datastore = world.datastore()
      try await Self.fill(datastore)
      let few = PipelineMessage.Stage("where", [.function("less_than", [.field("n"), .constant(3)])])

      let update = try await datastore.execute(
        PipelineMessage([
          Self.all, few, .init("update", [.named([("n", .function("add", [.field("n"), .constant(5_000)]))])]),
        ]))
      #expect(update.results.map(\.data.fields) == [["documents_modified": 3]])
      #expect(try await datastore.lookup([key("c/d2")]).map(\.data?.fields) == [["n": 5_002, "even": true]])
      let failing = PipelineMessage([
        Self.all, .init("update", [.named([("n", .function("divide", [.constant(1), .field("n")]))])]),
      ])
      _ = try await datastore.commit([set("c/zero", ["n": 0])])
      await #expect(throws: RPCStatus.self) { try await datastore.execute(failing) }
      #expect(try await datastore.lookup([key("c/d9")]).map(\.data?.fields) == [["n": 9, "even": false]])
      let deletion = PipelineMessage([
        Self.all, .init("where", [.function("greater_than", [.field("n"), .constant(400)])]), .init("delete"),
      ])
      #expect(try await datastore.execute(deletion).results.map(\.data.fields) == [["documents_modified": 202]])
      #expect(try await datastore.lookup([key("c/d500"), key("c/d300")]).map(\.exists) == [false, true])
    }
  }
}
