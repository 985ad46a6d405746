// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Required composite indexes")
struct RequiredIndexTests {
  private typealias Field = CompositeIndex.Field

  private static func index(_ fields: [(String, FieldIndex.Kind)], group: Bool = false) -> CompositeIndex {
    CompositeIndex(
      collectionID: "c", isGroup: group, fields: fields.map { Field(path: FieldPath($0.0), kind: $0.1) })
  }

  /// `a == 1`, `b == 1`, ordered by `d`, largest first.
  private static let target = Query(
    path: ResourcePath("c"),
    filters: ["a", "b"].map { .field(FieldFilter(FieldPath($0), .equal, .integer(1))) },
    explicitOrderBy: [OrderBy(FieldPath("d"), .descending)]
  ).target

  @Test(
    "An index serves equalities in any order before its sort; indexes can be merged",
    arguments: [
      ([], false),
      ([index([("a", .ascending), ("b", .ascending), ("d", .descending)])], true),
      ([index([("b", .descending), ("a", .ascending), ("d", .descending)])], true),
      ([index([("b", .descending), ("a", .ascending), ("d", .ascending)])], false),
      ([index([("a", .ascending), ("d", .descending)]), index([("b", .ascending), ("d", .descending)])], true),
      ([index([("a", .ascending), ("d", .descending)]), index([("b", .ascending), ("d", .ascending)])], false),
      ([index([("a", .ascending), ("d", .descending)])], false),
      ([index([("d", .descending), ("a", .ascending), ("b", .ascending)])], false),
      ([index([("a", .ascending), ("b", .ascending)])], false),
      ([index([("a", .contains), ("b", .ascending), ("d", .descending)])], false),
      ([index([("a", .ascending), ("b", .ascending), ("d", .descending)], group: true)], false),
      ([index([("a", .ascending), ("b", .ascending), ("d", .descending), ("e", .ascending)])], false),
    ])
  private func met(_ indexes: [CompositeIndex], _ isMet: Bool) {
    let needs = IndexNeed.all(of: Self.target)
    #expect(needs.count == 1 && needs.allSatisfy { $0.isMet(by: indexes) == isMet })
  }

  @Test("Limit-to-last needs an index in the reverse direction and suggests it")
  func limitToLast() {
    var query = Query(
      path: ResourcePath("c"), filters: [.field(FieldFilter(FieldPath("a"), .equal, .integer(1)))],
      explicitOrderBy: [OrderBy(FieldPath("d"))])
    let (up, down) = (
      Self.index([("a", .ascending), ("d", .ascending)]), Self.index([("a", .ascending), ("d", .descending)])
    )
    #expect(IndexNeed.all(of: query.target).map { [$0.isMet(by: [up]), $0.isMet(by: [down])] } == [[true, false]])
    (query.limit, query.limitType) = (3, .last)
    #expect(IndexNeed.all(of: query.target).map { [$0.isMet(by: [up]), $0.isMet(by: [down])] } == [[false, true]])
    #expect(CompositeIndex.needed(for: query) == down)
  }

  @Test("A descending read by name without equalities needs an index")
  func backwards() {
    let down = [OrderBy(.documentID, .descending)]
    let equal = [Filter.field(FieldFilter(FieldPath("a"), .equal, .integer(1)))]
    func needs(_ filters: [Filter], _ order: [OrderBy], group: Bool = false) -> [CompositeIndex] {
      let query = Query(
        path: group ? .root : ResourcePath("c"), collectionGroup: group ? "c" : nil, filters: filters,
        explicitOrderBy: order)
      return IndexNeed.all(of: query.target).map(\.index)
    }
    let index = Self.index([("__name__", .descending)])

    #expect(needs([], down) == [index])
    #expect(needs([], down, group: true) == [Self.index([("__name__", .descending)], group: true)])
    #expect(needs(equal, down) == [] && needs([], [OrderBy(.documentID)]) == [])
    #expect(IndexNeed.all(of: Query(path: ResourcePath("c"), explicitOrderBy: down).target)[0].isMet(by: [index]))
    #expect(index.deployed(1, in: DatabaseID(project: "p")).lineText.ranges(of: "__name__").count == 1)
  }

  /// A `RunQueryRequest` for `a == 1` ordered by `d`.
  private var request: [UInt8] {
    bytes { writer in
      writer.field(1, string: root)
      writer.query(2, "c") { writer in
        writer.field(3) { writer in
          writer.field(2) { writer in
            writer.field(1) { $0.field(2, string: "a") }
            writer.field(2, varint: 5)
            writer.field(3) { $0.value(.integer(1)) }
          }
        }
        writer.field(4) { $0.field(1) { $0.field(2, string: "d") } }
      }
    }
  }

  @Test("A query without its index fails with the definition of the missing index")
  func required() async throws {
    let indexes = ServedIndexes(required: [])
    let service = FirestoreService(backend: try makeService().backend, indexes: indexes)
    let error = await #expect(throws: RPCStatus.self) { _ = try await service.messages(.runQuery, request) }
    #expect(error?.code == .failedPrecondition)
    let message = try #require(error?.message)
    #expect(message.contains("The query requires an index. You can create it here: https://"))
    #expect(message.contains(#"{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [{"fieldPath": "a""#))
    #expect(indexes.seen(in: "p") == [Self.index([("a", .ascending), ("d", .ascending)])])
    #expect(indexes.seen(in: "other").isEmpty)
    indexes.require(indexes.seen(in: "p"))
    #expect(try await service.messages(.runQuery, request).count == 1)
  }

  @Test("Without required indexes each query runs, and its index is recorded once")
  func notRequired() async throws {
    let indexes = ServedIndexes()
    let service = FirestoreService(backend: try makeService().backend, indexes: indexes)
    for _ in 0..<2 { #expect(try await service.messages(.runQuery, request).count == 1) }
    #expect(indexes.seen(in: "p").count == 1)
  }
}
