// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import Testing

/// The members of `request` and `resource`, as Google's emulator has them for each method.
@Suite("Members of request and resource")
struct RequestMemberTests {
  private static let database = DatabaseID(project: "p")
  private static let all = "get list create update delete"

  private static func document(_ path: String, _ fields: Fields) throws -> Document {
    Document(
      key: try #require(DocumentKey(path)), version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(fields)))
  }

  private static func request(_ method: RulesRequest.Method) throws -> RulesRequest {
    let user = RulesUser(uid: "u1", claims: ["sub": .string("u1"), "email": .string("a@b.c")])
    let path = method == .list ? "e" : method == .create ? "e/new" : "e/old"
    var request = RulesRequest(
      method: method, database: database, path: ResourcePath(path), user: user, time: Timestamp(seconds: 1))
    switch method {
    case .get, .list, .create: break
    case .update:
      let key = try #require(DocumentKey(path))
      request.mutations = [
        Mutation(key: key, operation: .patch(["n": .integer(2)], FieldMask([FieldPath("n")])))
      ]
    case .delete: request.mutations = [Mutation(key: try #require(DocumentKey(path)), operation: .delete)]
    }
    if method == .list {
      let order = [OrderBy(FieldPath("n"), .descending)]
      let query = Query(
        path: ResourcePath(path), collectionGroup: nil, filters: [], explicitOrderBy: order, limit: 7, start: nil,
        end: nil)
      request.query = RulesQuery(target: query.target, explicitOrderBy: order)
    } else if method != .create {
      request.resource = try document(path, ["n": .integer(1), "role": .string("u")])
    }
    if method.hasResult { request.newResource = try document(path, ["n": .integer(2)]) }
    return request
  }

  @Test(
    "Members of request and resource exist for the same methods as in the emulator",
    arguments: [
      ("request.auth.uid == 'u1'", all), ("request.auth.token.email == 'a@b.c'", all),
      ("request.auth.token.sub == 'u1'", all), ("request.auth.keys().hasOnly(['uid', 'token'])", all),
      ("request.method in ['get', 'list', 'create', 'update', 'delete']", all),
      ("request.method == 'update'", "update"),
      ("request.path is path", all), ("request.path == /databases/(default)/documents/e/old", "get update delete"),
      ("request.query.limit == 7", "list"), ("request.query.offset == 0", "list"),
      ("request.query.orderBy.n == 'DESC'", "list"), ("'query' in request", "list"),
      ("request.resource.data.n == 2", "create update"), ("request.resource.id == 'new'", "create"),
      ("request.resource.id == 'old'", "update"),
      ("request.resource.__name__ == /databases/$(d)/documents/e/$(id)", "create update"),
      ("request.resource.keys().hasOnly(['data', 'id', '__name__'])", "create update"),
      ("request.resource == null", "delete"), ("'resource' in request", "create update delete"),
      ("request.time is timestamp", all), ("request.headers == {}", all),
      ("request.writeFields == null", "create delete"), ("request.writeFields.hasOnly(['n'])", "update"),
      ("request.writeFields.size() == 1", "update"), ("!('role' in request.writeFields)", "update"),
      ("'writeFields' in request", "create update delete"),
      ("request.fields == null", "get list"), ("'fields' in request", "get list"),
      ("request.inTransaction == false", "get list"), ("request.inTransaction is bool", all),
      ("resource.data.n == 1", "get update delete"), ("resource.id == 'old'", "get update delete"),
      ("resource.__name__ == /databases/$(d)/documents/e/old", "get update delete"), ("resource == null", "create"),
      ("request.app == null", ""), ("request.params == null", ""), ("resource.createTime is timestamp", ""),
    ])
  func members(_ condition: String, _ methods: String) throws {
    let text =
      "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { match /e/{id} "
      + "{ allow read, write: if \(condition); } } }"
    let ruleset = try #require(Ruleset.compile([RulesFile(name: "r", content: text)]).ruleset)
    let allowed = try RulesRequest.Method.allCases.filter {
      ruleset.decide(try Self.request($0), FixedDocuments()).isAllowed
    }

    #expect(allowed.map(\.rawValue).joined(separator: " ") == methods)
  }

  @Test("writeFields lists masks, transforms and the fields of a set with transforms")
  func writeFields() throws {
    let key = try #require(DocumentKey("e/old"))
    let transform = FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)
    let patch = { (paths: [FieldPath]) in Mutation(key: key, operation: .patch(Fields(), FieldMask(paths))) }
    var transformed = patch([FieldPath("n")])
    transformed.transforms = [transform]
    let set = Mutation(key: key, operation: .set(["role": .string("admin")]))
    let cases: [([Mutation], String)] = [
      ([patch([])], "[]"), ([patch([FieldPath(segments: ["m", "a"]), FieldPath("x y")])], "['`x y`', 'm.a']"),
      ([transformed], "['t', 'n']"), ([patch([FieldPath("n")]), patch([FieldPath("role")])], "['role', 'n']"),
      ([set], "null"), ([set, transformed], "null"), ([transformed, Mutation(key: key, operation: .delete)], "null"),
      ([Mutation(key: key, operation: set.operation, transforms: [transform])], "['role', 't']"),
    ]
    for (mutations, value) in cases {
      let text =
        "service cloud.firestore { match /databases/{d}/documents { match /e/{id} { allow update: "
        + "if request.writeFields == \(value); } } }"
      let ruleset = try #require(Ruleset.compile([RulesFile(name: "r", content: text)]).ruleset)
      var request = try Self.request(.update)
      request.mutations = mutations
      #expect(ruleset.decide(request, FixedDocuments()).isAllowed, "\(mutations)")
    }
  }
}
