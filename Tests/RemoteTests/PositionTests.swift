// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Testing

/// The document at a position of a query.
@Suite(.timeLimit(.minutes(10)))
struct PositionTests {
  @Test(
    "The document at a position in a query's result is found on every transport",
    arguments: [World.Way.inProcess, .gRPC])
  func positions(_ way: World.Way) async throws {
    try await World.with(way) { world in
      let datastore = world.datastore()
      let path = ResourcePath("events")
      func key(_ number: Int) -> DocumentKey { DocumentKey(unchecked: path.appending("e\(100_000 + number)")) }
      for start in stride(from: 0, to: 10_000, by: 500) {
        let batch = (start..<start + 500).map { number in
          Mutation(key: key(number), operation: .set(["even": .boolean(number.isMultiple(of: 2))]))
        }
        _ = try await datastore.commit(batch)
      }
      let all = Query(path: path, explicitOrderBy: [OrderBy(.documentID)])
      for position in [0, 1, 4_999, 9_999] {
        #expect(try await datastore.key(at: position, of: all.target) == key(position))
      }
      #expect(try await datastore.key(at: 10_000, of: all.target) == nil)
      let even = Query(
        path: path, filters: [.field(FieldFilter(FieldPath("even"), .equal, .boolean(true)))],
        explicitOrderBy: [OrderBy(.documentID)])
      #expect(try await datastore.key(at: 4_999, of: even.target) == key(9_998))
    }
  }
}
