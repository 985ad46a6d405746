// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery

/// The documents and queries that random runs are about: few, so that they meet.
///
/// The backend compares numbers by value where the client is strict (`in`, `array-contains`); `a` and `tags` therefore
/// hold integers only, and doubles are in `n`, which is only ordered and compared, and in `list`, which no query names.
enum ModelQueries {
  static let keys: [DocumentKey] = [
    "rooms/r0", "rooms/r1", "rooms/r2", "rooms/r3", "rooms/r4", "rooms/r5", "rooms/r1/msgs/m0", "rooms/r1/msgs/m1",
    "rooms/r2/msgs/m0", "rooms/r2/msgs/m1", "msgs/m0", "msgs/m1",
  ].map { DocumentKey(unchecked: ResourcePath($0)) }

  /// Stands for the version that the document has when its turn comes.
  static let asItIs = Precondition.updateTime(SnapshotVersion(microseconds: -1))

  /// What may be indexed; each answers one or more of the queries.
  static let indexes: [FieldIndex] = [
    index("rooms", [FieldIndex.Field(a)]), index("rooms", [FieldIndex.Field(a, .descending)]),
    index("rooms", [FieldIndex.Field(FieldPath("tags"), .contains)]),
    index("rooms", [FieldIndex.Field(n, .descending), FieldIndex.Field(FieldPath("b"))]),
    index("rooms", [FieldIndex.Field(n)]), index("rooms", [FieldIndex.Field(FieldPath("t"), .descending)]),
    index("rooms", [FieldIndex.Field(x)]), index("rooms", [FieldIndex.Field(FieldPath("b")), FieldIndex.Field(x)]),
    index("msgs", [FieldIndex.Field(a)]),
  ]

  private static func index(_ group: String, _ fields: [FieldIndex.Field]) -> FieldIndex {
    do { return try FieldIndex(collectionGroup: group, fields: fields) } catch {
      preconditionFailure("no index: \(error)")
    }
  }

  private static let rooms = ResourcePath("rooms")
  private static let a = FieldPath("a")
  private static let n = FieldPath("n")
  private static let x = FieldPath(segments: ["d", "x"])

  static let all: [Query] = [
    Query(path: rooms),
    Query(path: rooms, filters: [.field(FieldFilter(a, .equal, .integer(1)))]),
    Query(path: rooms, filters: [.field(FieldFilter(a, .greaterThanOrEqual, .integer(2)))]),
    Query(path: rooms, explicitOrderBy: [OrderBy(a, .descending)], limit: 3),
    Query(path: rooms, explicitOrderBy: [OrderBy(a)], limit: 3, limitType: .last),
    Query(path: rooms, explicitOrderBy: [OrderBy(a)], limit: 2, limitType: .last),
    Query(path: rooms, limit: 2),
    Query(path: rooms, filters: [.field(FieldFilter(FieldPath("tags"), .arrayContains, .integer(1)))]),
    Query(path: rooms, filters: [.field(FieldFilter(a, .in, .array([.integer(1), .integer(3)])))], limit: 2),
    Query(
      path: rooms,
      filters: [
        .or([
          .field(FieldFilter(a, .equal, .integer(0))),
          .and([
            .field(FieldFilter(FieldPath("b"), .equal, .string("β"))),
            .field(FieldFilter(x, .greaterThan, .integer(0))),
          ]),
        ])
      ]),
    Query(path: rooms, filters: [.field(FieldFilter(a, .notEqual, .integer(2)))]),
    Query(path: rooms, explicitOrderBy: [OrderBy(n, .descending), OrderBy(FieldPath("b"))]),
    Query(
      path: rooms, explicitOrderBy: [OrderBy(n)], start: Bound(values: [.integer(1)], isInclusive: true),
      end: Bound(values: [.integer(6)], isInclusive: false)),
    Query(path: rooms, explicitOrderBy: [OrderBy(FieldPath("t"), .descending)], limit: 2),
    Query(path: rooms, filters: [.field(FieldFilter(x, .lessThan, .integer(2)))], limit: 2, limitType: .last)
      .ordered(by: OrderBy(x)),
    Query(path: ResourcePath("rooms/r1")),
    Query(path: ResourcePath("rooms/r2")),
    Query(path: ResourcePath("rooms/r2/msgs/m0")),
    Query(path: ResourcePath("rooms/r1/msgs")),
    Query(path: .root, collectionGroup: "msgs"),
    Query(path: .root, collectionGroup: "msgs", explicitOrderBy: [OrderBy(a)], limit: 2),
    Query(
      path: .root, collectionGroup: "msgs", filters: [.field(FieldFilter(a, .lessThan, .integer(3)))]),
  ]

  /// What the query selects of all the documents there are, in its order.
  static func select(_ query: Query, from documents: some Sequence<Document>) -> [Document] {
    let matches = query.orderBy.sorted(documents.filter { $0.exists && query.matches($0) })
    guard let limit = query.limit else { return matches }
    return Array(query.limitType == .first ? matches.prefix(limit) : matches.suffix(limit))
  }
}

extension Query {
  fileprivate func ordered(by order: OrderBy) -> Query {
    var query = self
    query.explicitOrderBy = [order]
    return query
  }
}
