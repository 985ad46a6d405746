// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct MissingDocumentTests {
  @Test(
    "Missing documents with descendants are listed in pages", arguments: World.Way.allCases)
  func listing(_ way: World.Way) async throws {
    try await World.with(way) { world in
      let datastore = world.datastore()
      func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }
      let numbers = (100..<500).map { "\($0)" }
      let paths = numbers.map { "c/\($0)" } + ["c/250/sub/x", "c/none1/sub/x", "c/none2/sub/y/deep/z", "c/0/sub/x"]
      for first in stride(from: 0, to: paths.count, by: 100) {
        let part = paths[first..<min(first + 100, paths.count)]
        _ = try await datastore.commit(
          part.map { Mutation(key: key($0), operation: .set(["n": .integer(1)]), precondition: .none) })
      }
      let missing = try await datastore.missingDocuments(in: ResourcePath("c"))
      #expect(missing == ["c/0", "c/none1", "c/none2"].map(key))
      let below = try await datastore.missingDocuments(in: ResourcePath("c/none2/sub"))
      #expect(below == [key("c/none2/sub/y")])
      let nowhere = try await datastore.missingDocuments(in: ResourcePath("d"))
      #expect(nowhere == [])
    }
  }
}
