// SPDX-License-Identifier: Apache-2.0
import Hearth
import Testing

/// What the query builder sends, seen through the embedded backend's answers.
@Suite(.timeLimit(.minutes(10)))
struct QueryTests {
  struct Example: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var ids: [String]
    var query: @Sendable (CollectionReference) -> any Query
  }

  static let examples: [Example] = [
    Example(testDescription: "the collection itself", ids: ["DC", "LA", "SF", "TOK"]) { $0 },
    Example(testDescription: "==", ids: ["LA", "SF"]) { $0.whereField("state", isEqualTo: "CA") },
    Example(testDescription: "== null", ids: ["TOK"]) { $0.whereField("state", isEqualTo: nil as String? as Any) },
    Example(testDescription: "!=", ids: ["DC"]) { $0.whereField("state", isNotEqualTo: "CA") },
    Example(testDescription: "<", ids: ["DC"]) { $0.whereField("population", isLessThan: 800) },
    Example(testDescription: "<=", ids: ["DC", "SF"]) { $0.whereField("population", isLessThanOrEqualTo: 860) },
    Example(testDescription: ">", ids: ["LA", "TOK"]) { $0.whereField("population", isGreaterThan: 860) },
    Example(testDescription: ">=", ids: ["SF", "LA", "TOK"]) {
      $0.whereField("population", isGreaterThanOrEqualTo: 860)
    },
    Example(testDescription: "array-contains", ids: ["LA", "SF"]) { $0.whereField("regions", arrayContains: "west") },
    Example(testDescription: "array-contains-any", ids: ["DC", "LA", "SF"]) {
      $0.whereField("regions", arrayContainsAny: ["west", "east"])
    },
    Example(testDescription: "in", ids: ["DC", "TOK"]) { $0.whereField("country.code", in: ["JP"]).orIDs(["DC"]) },
    Example(testDescription: "not-in", ids: ["TOK"]) { $0.whereField(FieldPath(["country", "code"]), notIn: ["US"]) },
    Example(testDescription: "document id", ids: ["SF"]) { $0.whereField(FieldPath.documentID(), isEqualTo: "SF") },
    Example(testDescription: "document ids", ids: ["LA", "SF"]) {
      $0.whereField(FieldPath.documentID(), in: [$0.document("SF"), "LA"])
    },
    Example(testDescription: "OR inside AND", ids: ["DC", "SF"]) {
      $0.whereFilter(
        .andFilter([
          .whereField("country.code", isEqualTo: "US"),
          .orFilter([.whereField("population", isLessThan: 800), .whereField("name", isEqualTo: "San Francisco")]),
        ]))
    },
    Example(testDescription: "order", ids: ["DC", "SF", "LA", "TOK"]) { $0.order(by: "population") },
    Example(testDescription: "descending, limit", ids: ["TOK", "LA"]) {
      $0.order(by: "population", descending: true).limit(to: 2)
    },
    Example(testDescription: "limit to last", ids: ["LA", "TOK"]) { $0.order(by: "population").limit(toLast: 2) },
    Example(testDescription: "start at", ids: ["SF", "LA", "TOK"]) { $0.order(by: "population").start(at: [860]) },
    Example(testDescription: "start after", ids: ["LA", "TOK"]) { $0.order(by: "population").start(after: [860]) },
    Example(testDescription: "end at", ids: ["DC", "SF"]) { $0.order(by: "population").end(at: [860]) },
    Example(testDescription: "end before", ids: ["DC"]) { $0.order(by: "population").end(before: [860]) },
    Example(testDescription: "cursor by id", ids: ["SF", "TOK"]) {
      $0.order(by: FieldPath.documentID()).start(at: ["M"])
    },
  ]

  @Test("A query returns its documents from the backend and from the cache", arguments: examples)
  func finds(_ example: Example) async throws {
    try await TestDatabase.run { test async throws in
      try await Self.fill(test.other)
      let query = example.query(test.db.collection("cities"))

      let fromServer = try await query.getDocuments(source: .server)
      #expect(fromServer.documents.map(\.documentID) == example.ids)
      _ = try await test.db.collection("cities").getDocuments()
      try await test.db.disableNetwork()
      #expect(try await query.getDocuments().map(\.documentID) == example.ids)
    }
  }

  @Test("A page of a query continues after a document")
  func pages() async throws {
    try await TestDatabase.run { test async throws in
      try await Self.fill(test.other)
      let ordered = test.db.collection("cities").order(by: "country.code", descending: true)
      let first = try await ordered.limit(to: 2).getDocuments()
      #expect(first.documents.map(\.documentID) == ["SF", "LA"])
      let second = try await ordered.start(afterDocument: first.documents[1]).getDocuments()
      #expect(second.documents.map(\.documentID) == ["DC", "TOK"])
      let upTo = try await ordered.end(atDocument: first.documents[1]).getDocuments()
      #expect(upTo == first || upTo.documents == first.documents)
    }
  }

  @Test("A collection group covers every collection with its id")
  func collectionGroup() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/SF/landmarks/bridge").setData(["type": "bridge"])
      try await test.other.document("parks/A/landmarks/tree").setData(["type": "tree"])
      let all = try await test.db.collectionGroup("landmarks").getDocuments()
      #expect(all.documents.map(\.reference.path) == ["cities/SF/landmarks/bridge", "parks/A/landmarks/tree"])
      #expect(all.documents[0].reference.parent.parent == test.db.document("cities/SF"))
    }
  }

  struct Refusal: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// What the message says.
    var text: String
    var query: @Sendable (CollectionReference) -> any Query
  }

  static let refused: [Refusal] = [
    Refusal(testDescription: "limit 0", text: "limit") { $0.limit(to: 0) },
    Refusal(testDescription: "largest limit", text: "limit can be at most 2147483647") { $0.limit(to: .max) },
    Refusal(testDescription: "last, largest limit", text: "at most") { $0.order(by: "n").limit(toLast: .max) },
    Refusal(testDescription: "limit(toLast:) without order", text: "order(by:)") { $0.limit(toLast: 1) },
    Refusal(testDescription: "empty in", text: "at least one value") { $0.whereField("a", in: []) },
    Refusal(testDescription: "two array-contains", text: "array-contains") {
      $0.whereField("a", arrayContains: 1).whereField("b", arrayContains: 1)
    },
    Refusal(testDescription: "order after cursor", text: "order(by:)") {
      $0.order(by: "a").start(at: [1]).order(by: "b")
    },
    Refusal(testDescription: "more values than orderings", text: "2 values") { $0.order(by: "a").start(at: [1, 2]) },
    Refusal(testDescription: "a sentinel as operand", text: "FieldValue") {
      $0.whereField("a", isEqualTo: FieldValue.serverTimestamp())
    },
    Refusal(testDescription: "an id with a slash", text: "a/b") {
      $0.whereField(FieldPath.documentID(), isEqualTo: "a/b")
    },
    Refusal(testDescription: "an empty field", text: "empty") { $0.order(by: "") },
    Refusal(testDescription: "an empty filter", text: "no conditions") { $0.whereFilter(.orFilter([])) },
  ]

  @Test("An invalid query throws invalidArgument before anything is sent", arguments: refused)
  func refuses(_ refusal: Refusal) async throws {
    try await TestDatabase.run { test async throws in
      await expect(.invalidArgument, refusal.text) {
        try await refusal.query(test.db.collection("cities")).getDocuments()
      }
    }
  }

  private static func fill(_ db: Firestore) async throws {
    let cities = db.collection("cities")
    let batch = db.batch()
    batch.setData(
      [
        "name": "San Francisco", "state": "CA", "population": 860, "regions": ["west", "norcal"],
        "country": ["code": "US"],
      ],
      forDocument: cities.document("SF"))
    batch.setData(
      [
        "name": "Los Angeles", "state": "CA", "population": 3900, "regions": ["west", "socal"],
        "country": ["code": "US"],
      ],
      forDocument: cities.document("LA"))
    batch.setData(
      ["name": "Washington", "state": "DC", "population": 680, "regions": ["east"], "country": ["code": "US"]],
      forDocument: cities.document("DC"))
    batch.setData(
      ["name": "Tokyo", "state": Optional<String>.none as Any, "population": 9000, "country": ["code": "JP"]],
      forDocument: cities.document("TOK"))
    try await batch.commit()
  }
}

extension Query {
  /// The same collection's documents with these ids, or what the query asks for.
  fileprivate func orIDs(_ ids: [String]) -> any Query {
    firestore.collection("cities").whereFilter(
      .orFilter([.whereField("country.code", in: ["JP"]), .whereField(FieldPath.documentID(), in: ids)]))
  }
}
