// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// One of everything that goes over the wire.
enum Samples {
  static let database = DatabaseID(project: "p", database: "(default)")

  static let fields: Fields = [
    "null": .null, "true": .boolean(true), "false": .boolean(false), "zero": .integer(0), "least": .integer(.min),
    "double": .double(-0.0), "nan": .double(.nan), "time": .timestamp(Timestamp(seconds: -5, nanoseconds: 123_456_000)),
    "empty": .string(""), "text": .string("żółw 🐢"), "bytes": .bytes([0, 255]), "none": .bytes([]),
    "place": .geoPoint(GeoPoint(latitude: 0, longitude: -179.5)),
    "other": .reference(database, DocumentKey(unchecked: ResourcePath("a/b/c/d"))),
    "list": .array([.integer(1), .null, .map(["x": .array([])])]), "nothing": .array([]),
    "map": .map(["b": .integer(2), "a": .map([:])]), "vector": .vector([1, -2.5]),
    // One key as Swift strings, two for Firestore.
    "\u{e1}": .integer(1), "a\u{301}": .integer(2),
  ]

  static let key = DocumentKey(unchecked: ResourcePath("rooms/ü/messages/__id7__"))
  static let version = SnapshotVersion(microseconds: 1_700_000_000_123_456)
  static let document = Document(
    key: key, version: version, createTime: SnapshotVersion(microseconds: 1), state: .found(DocumentData(fields)))

  static let token = ResumeToken([1, 2, 0])

  static let changes: [WatchChange] = [
    .added([TargetID(2)]), .removed([TargetID(2)], cause: nil),
    .removed([TargetID(4), TargetID(6)], cause: RPCStatus(.permissionDenied, "no\nentry")),
    .current([TargetID(2)], token), .reset([TargetID(2), TargetID(300)], nil), .token([TargetID(8)], token),
    .snapshot(version, token), .snapshot(version, nil),
    .document(document, updated: [TargetID(2), TargetID(400)], removed: [TargetID(6)]),
    .document(Document(key: key, version: version, state: .missing), updated: [], removed: [TargetID(1)]),
    .document(Document(key: key, version: version, state: .missing), updated: [TargetID(2)], removed: [TargetID(300)]),
    .documentRemoved(key, removed: [TargetID(2)]), .filter(TargetID(2), ExistenceFilter(count: 0)),
    .filter(
      TargetID(2),
      ExistenceFilter(count: 7, unchangedNames: BloomFilterBits(bitmap: [1, 2, 3], padding: 5, hashCount: 16))),
  ]

  static let queries: [Query] = [
    Query(path: ResourcePath("cities")),
    Query(path: ResourcePath("a/b/c")),
    Query(path: .root, collectionGroup: "cities", limit: 0),
    Query(path: ResourcePath("a/b"), collectionGroup: "c", limit: 5),
    Query(
      path: ResourcePath("cities"),
      filters: [
        .field(FieldFilter(FieldPath("a"), .greaterThan, .integer(1))),
        .field(FieldFilter(FieldPath(segments: ["x.y", "z"]), .equal, .null)),
        .field(FieldFilter(FieldPath("n"), .notEqual, .double(.nan))),
        .or([
          .field(FieldFilter(FieldPath("b"), .in, .array([.integer(1), .string("2")]))),
          .and([
            .field(FieldFilter(FieldPath("c"), .arrayContains, .boolean(true))),
            .field(FieldFilter(FieldPath("d"), .equal, .double(.nan))),
          ]),
        ]),
      ],
      explicitOrderBy: [OrderBy(FieldPath("a"), .descending), OrderBy(FieldPath("b"))], limit: 10,
      start: Bound(values: [.integer(9)], isInclusive: true), end: Bound(values: [.integer(2)], isInclusive: false)),
    Query(
      path: ResourcePath("cities"), limit: 3, limitType: .last,
      start: Bound(
        values: [.reference(database, DocumentKey(unchecked: ResourcePath("cities/SF")))], isInclusive: false)),
  ]

  /// Those that may be listened to; a document is one.
  static let watchedQueries = [Query(path: key.path)] + queries.filter { $0.collectionGroup == nil || $0.path.isRoot }
}
