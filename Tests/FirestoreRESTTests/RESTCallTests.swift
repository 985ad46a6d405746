// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import Testing

@testable import FirestoreREST

/// One request, and what is answered to it. `ROOT` stands for the database's name, `T` for the time of the backend.
private struct Exchange: CustomTestStringConvertible {
  let verb: String
  let path: String
  let body: String
  let status: Int
  let answer: String

  init(_ verb: String, _ path: String, _ body: String, _ status: Int, _ answer: String) {
    self.verb = verb
    self.path = path + (path.contains("?") ? "&" : "?") + "prettyPrint=false"
    self.body = Self.spelledOut(body)
    self.status = status
    self.answer = Self.spelledOut(answer)
  }

  init(_ verb: String, _ path: String, _ body: String, _ answer: String) { self.init(verb, path, body, 200, answer) }
  init(_ verb: String, _ path: String, _ answer: String) { self.init(verb, path, "", 200, answer) }

  private static func spelledOut(_ text: String) -> String {
    text.replacing("ROOT", with: "projects/p/databases/(default)/documents")
  }

  var testDescription: String { "\(verb) \(path)" }

  func expect(of service: FirestoreService) async {
    let (status, body) = await ask(service, verb, path, body)
    #expect(status == self.status, "\(verb) \(path): \(body)")
    #expect(body.replacing(/"1970-01-01T00:16:40[.0-9]*Z"/, with: "T") == answer, "\(verb) \(path)")
  }

  static func error(_ code: Int, _ status: String, _ message: String) -> String {
    #"{"error":{"code":\#(code),"message":"\#(message)","status":"\#(status)"}}"#
  }
}

@Suite("Requests over REST")
struct RESTCallTests {
  private static let a = #"{"name":"ROOT/c/a","fields":{"n":{"integerValue":"1"}},"createTime":T,"updateTime":T}"#
  private static let fieldsA = #"{"fields":{"n":{"integerValue":1}}}"#

  private func run(_ exchanges: [Exchange]) async throws {
    let service = try makeService()
    for exchange in exchanges { await exchange.expect(of: service) }
  }

  @Test("A document is created, read, listed, changed and deleted")
  func documents() async throws {
    try await run([
      Exchange("POST", "/c?documentId=a", Self.fieldsA, Self.a),
      Exchange(
        "POST", "/c?documentId=a", "{}", 409, Exchange.error(409, "ALREADY_EXISTS", "Document already exists: ROOT/c/a")
      ),
      Exchange("GET", "/c/a", Self.a),
      Exchange(
        "GET", "/c/a?mask.fieldPaths=x&mask.fieldPaths=y", #"{"name":"ROOT/c/a","createTime":T,"updateTime":T}"#),
      Exchange("GET", "/c/b", "", 404, Exchange.error(404, "NOT_FOUND", #"Document \"ROOT/c/b\" not found."#)),
      Exchange(
        "PATCH", "/c/a?updateMask.fieldPaths=m&mask.fieldPaths=m&currentDocument.exists=true",
        #"{"fields": {"m": {"mapValue": {"fields": {"x": {"doubleValue": "NaN"}}}}}, "name": "elsewhere"}"#,
        #"{"name":"ROOT/c/a","fields":{"m":{"mapValue":{"fields":{"x":{"doubleValue":"NaN"}}}}},"createTime":"#
          + #"T,"updateTime":T}"#
      ),
      Exchange("GET", "/c?pageSize=2&orderBy=n%20desc&mask.fieldPaths=n", #"{"documents":[\#(Self.a)]}"#),
      Exchange(
        "DELETE", "/c/x?currentDocument.exists=true", "", 404,
        Exchange.error(404, "NOT_FOUND", "No document to update: ROOT/c/x")),
      Exchange("DELETE", "/c/a", "{}"), Exchange("GET", "/c", "{}"),
    ])
  }

  @Test("Names may be percent-encoded and may contain colons")
  func names() async throws {
    let document = #"{"name":"ROOT/c:d/a:commit é","createTime":T,"updateTime":T}"#
    try await run([
      Exchange("PATCH", "/c%3Ad/a:commit%20%C3%A9", "", document), Exchange("GET", "/c:d/a%3acommit é", document),
      Exchange("POST", "/c:e?documentId=%2B+", "", #"{"name":"ROOT/c:e/+ ","createTime":T,"updateTime":T}"#),
    ])
  }

  @Test("Writes commit singly and in transactions")
  func writes() async throws {
    let service = try makeService()
    let write =
      #"{"update": {"name": "ROOT/c/a", "fields": {"n": {"integerValue": "1"}}}}"#
    for exchange in [
      Exchange("POST", ":commit", #"{"writes": [\#(write)]}"#, #"{"writeResults":[{"updateTime":T}],"commitTime":T}"#),
      Exchange(
        "POST", ":commit",
        #"{"database": "is the address's", "writes": [{"transform": {"document": "ROOT/c/a", "#
          + #""fieldTransforms": [{"fieldPath": "n", "increment": {"integerValue": "2"}}, {"fieldPath": "t", "#
          + #""setToServerValue": "REQUEST_TIME"}]}}]}"#,
        #"{"writeResults":[{"updateTime":T,"transformResults":[{"integerValue":"3"},{"timestampValue":T}]}],"#
          + #""commitTime":T}"#
      ),
      Exchange(
        "POST", ":batchWrite",
        #"{"writes": [\#(write), {"delete": "ROOT/c/z", "currentDocument": {"exists": true}}]}"#,
        #"{"writeResults":[{"updateTime":T},{}],"status":[{},{"code":5,"message":"No document to update: "#
          + #"ROOT/c/z"}]}"#),
      Exchange(
        "POST", ":rollback", #"{"transaction": "AAAA"}"#, 400,
        Exchange.error(400, "INVALID_ARGUMENT", "Invalid transaction.")),
    ] { await exchange.expect(of: service) }

    let begun = await ask(service, "POST", ":beginTransaction?prettyPrint=0", #"{"options": {"readWrite": {}}}"#)
    let id = try #require(begun.body.firstMatch(of: /^\{"transaction":"([A-Za-z0-9+\/]+=*)"\}$/)?.1)
    let encoded = id.replacing("+", with: "%2B").replacing("/", with: "%2F")
    for exchange in [
      Exchange("GET", "/c/a?transaction=\(encoded)", Self.a),
      Exchange("POST", ":commit", #"{"transaction": "\#(id)", "writes": []}"#, #"{"commitTime":T}"#),
    ] { await exchange.expect(of: service) }
  }

  @Test("Queries and lookups return an array")
  func streams() async throws {
    let query =
      #"{"structuredQuery": {"from": [{"collectionId": "c"}], "where": {"fieldFilter": {"field": {"fieldPath":"#
      + #" "n"}, "op": "EQUAL", "value": {"integerValue": "1"}}}}}"#
    try await run([
      Exchange("POST", "/c?documentId=a", Self.fieldsA, Self.a),
      Exchange("POST", ":runQuery", query, #"[{"document":\#(Self.a),"readTime":T,"done":true}]"#),
      Exchange("POST", "/c/a:runQuery", query, #"[{"readTime":T,"done":true}]"#),
      Exchange(
        "POST", ":batchGet",
        #"{"documents": ["ROOT/c/a", "ROOT/c/b"]}"#,
        #"[{"found":\#(Self.a),"readTime":T},{"missing":"ROOT/c/b","readTime":T}]"#),
      Exchange("POST", ":batchGet", "", "[]"),
      Exchange(
        "POST", ":runAggregationQuery",
        #"{"structuredAggregationQuery": {"structuredQuery": {"from": [{"collectionId": "c"}]}, "#
          + #""aggregations": [{"alias": "n", "count": {}}]}}"#,
        #"[{"result":{"aggregateFields":{"n":{"integerValue":"1"}}},"readTime":T}]"#),
      Exchange(
        "POST", ":executePipeline",
        #"{"structuredPipeline": {"pipeline": {"stages": [{"name": "collection", "args": [{"referenceValue": "/c"}]}, "#
          + #"{"name": "select", "args": [{"mapValue": {"fields": {"m": {"functionValue": {"name": "add", "args": "#
          + #"[{"fieldReferenceValue": "n"}, {"integerValue": "1"}]}}}}}]}]}}}"#,
        #"[{"results":[{"fields":{"m":{"integerValue":"2"}}}],"executionTime":T}]"#),
      Exchange("POST", ":listCollectionIds", #"{"pageSize": 5}"#, #"{"collectionIds":["c"]}"#),
      Exchange("POST", "/c/a:listCollectionIds", "{}"),
      Exchange(
        "POST", ":partitionQuery",
        #"{"partitionCount": "2", "structuredQuery": {"from": [{"collectionId": "c", "allDescendants": true}],"#
          + #" "orderBy": [{"field": {"fieldPath": "__name__"}}]}}"#,
        "{}"),
    ])
  }

  @Test("An invalid body is rejected with Google's message and the path")
  func refusals() async throws {
    func invalid(_ message: String) -> String { Exchange.error(400, "INVALID_ARGUMENT", message) }
    func refused(_ body: String, _ message: String) -> Exchange {
      Exchange("PATCH", "/c/a", body, 400, invalid(message))
    }
    try await run([
      refused(
        #"{"fields": {"a": {"integerValue": "x"}}}"#,
        #"Invalid value at 'document.fields[0].value.integer_value' (TYPE_INT64), \"x\""#),
      refused(
        #"{"feilds": {}}"#, #"Invalid JSON payload received. Unknown name \"feilds\" at 'document': Cannot find field."#
      ),
      refused(
        #"{"fields": {"a": {"integerValue": 1, "stringValue": ""}}}"#,
        "Invalid value at 'document.fields[0].value' (oneof), oneof field 'value_type' is already set. "
          + "Cannot set 'stringValue'"
      ),
      refused(
        #"{"name": ["x"]}"#,
        #"Invalid JSON payload received. Unknown name \"name\" at 'document': Proto field is not repeating, "#
          + #"cannot start list."#
      ),
      refused(
        #"{"fields": {"a": 1}}"#,
        "Invalid value at 'document.fields[0].value' (type.googleapis.com/google.firestore.v1.Value), 1"),
      refused(#"{"fields": {"a": {}}}"#, "Cannot convert firestore.v1.Value with type unset."),
      refused(
        #"{"fields": {"a": {"bytesValue": "é"}}}"#,
        #"Invalid value at 'document.fields[0].value.bytes_value' (TYPE_BYTES), Base64 decoding failed for \"é\""#),
      refused(
        "{",
        "Invalid JSON payload received. Line 1, column 2: Expected a name in double quotes, found the end of "
          + "the text."),
      Exchange(
        "POST", ":commit", #"{"writes": [{"x": 1}]}"#, 400,
        invalid(#"Invalid JSON payload received. Unknown name \"x\" at 'writes[0]': Cannot find field."#)),
      Exchange(
        "POST", ":runQuery", #"{"structuredQuery": {"orderBy": [{"direction": "UP"}]}}"#, 400,
        invalid(
          #"Invalid value at 'structured_query.order_by[0].direction' "#
            + #"(type.googleapis.com/google.firestore.v1.StructuredQuery.Direction), \"UP\""#
        )),
      Exchange(
        "POST", ":runQuery", #"{"structuredQuery": {"from": [{"collectionId": "c"}], "where": {}}}"#, 400,
        invalid("Unknown Filter type.")),
      Exchange(
        "POST", ":runQuery",
        #"{"structuredQuery": {"where": {"compositeFilter": {"op": "AND", "filters": [{}]}}}}"#, 400,
        invalid("Unknown Filter type.")),
      Exchange(
        "POST", ":runQuery",
        #"{"structuredQuery": {"from": [{"collectionId": "c"}], "where": {"compositeFilter": {"op": "OR"}}}}"#, 400,
        invalid("Composite filter must have at least one sub-filter.")),
      Exchange(
        "GET", "/c/a?pageSize=1", "", 400,
        invalid(
          #"Invalid JSON payload received. Unknown name \"pageSize\": Cannot bind query parameter. Field "#
            + #"'pageSize' could not be found in request message."#
        )),
      Exchange(
        "GET", "/c/a?readTime=yesterday", "", 400,
        invalid(
          #"Invalid value at 'read_time' (type.googleapis.com/google.protobuf.Timestamp), \"yesterday\" is "#
            + #"not a time such as \"2026-03-02T11:58:03.120Z\", which ends with Z or an offset."#
        )),
      Exchange("GET", "/c/a?alt=proto", "", 400, invalid("alt=proto is not supported. Responses are JSON.")),
      Exchange(
        "POST", ":listen", "{}", 501, Exchange.error(501, "UNIMPLEMENTED", "listen is not served over REST.")),
    ])
  }

  @Test(
    "Unknown addresses return 404",
    arguments: [
      ("GET", ""), ("GET", "/"), ("GET", "/c//a"), ("PUT", "/c/a"), ("PATCH", ""), ("POST", ":wrong"),
      ("GET", ":runQuery"),
    ])
  func unknown(verb: String, path: String) async throws {
    #expect(await ask(try makeService(), verb, path, "{}").status == 404)
  }

  @Test(
    "A collection name in place of a document name is reported",
    arguments: [
      ("PATCH", "/c", "name"), ("DELETE", "/c", "name"), ("POST", "/c/a", "parent name"),
      ("POST", "/c/a:commit", "parent name"), ("POST", "/c:runQuery", "parent name"),
      ("POST", "/c:listCollectionIds", "parent name"),
    ])
  func collection(verb: String, path: String, name: String) async throws {
    let answer = await ask(try makeService(), verb, path, "{}")

    #expect(answer.status == 400)
    #expect(answer.body.contains("Document \(name)") && answer.body.contains("/documents/c"))
  }

  @Test("A database method's name is valid as a collection name")
  func colons() async throws {
    let service = try makeService()

    #expect(await ask(service, "POST", "/c:commit?documentId=a", "{}").status == 200)
    #expect(await ask(service, "GET", "/c:commit/a", "").status == 200)
  }

  @Test("Values in short and unusual forms are read correctly")
  func values() async throws {
    let written =
      #"{"fields":{"a":{"doubleValue":100000000000000000000},"b":{"bytesValue":"-_8"},"c":{"null_value":"#
      + #""NULL_VALUE"},"d":{"integerValue":3.0},"e":{"arrayValue":{}},"f":{"mapValue":{}},"g":"#
      + #"{"timestampValue":"2020-01-01T01:00:00+01:00"},"h":{"doubleValue":"-Infinity"},"i":{"doubleValue":-0},"#
      + #""j":{"stringValue":"<\u0001\"é"},"k":{"geoPointValue":{"latitude":1}}}}"#
    let read =
      #"{"name":"ROOT/c/a","fields":{"a":{"doubleValue":1e+20},"b":{"bytesValue":"+/8="},"c":{"nullValue":"#
      + #"null},"d":{"integerValue":"3"},"e":{"arrayValue":{}},"f":{"mapValue":{}},"g":{"timestampValue":"#
      + #""2020-01-01T00:00:00Z"},"h":{"doubleValue":"-Infinity"},"i":{"doubleValue":-0},"j":{"stringValue":"#
      + #""\u003c\u0001\"é"},"k":{"geoPointValue":{"latitude":1}}},"createTime":T,"updateTime":T}"#
    try await run([Exchange("PATCH", "/c/a", written, read), Exchange("GET", "/c/a?$alt=json;enum-encoding=int", read)])
  }

  @Test("Responses are pretty-printed unless disabled")
  func pretty() async throws {
    let call = try RESTCall("GET", "/v1/projects/p/databases/d/documents/c/a?key=1", body: [])
    let text = try call.text(of: [WireWriter.message { $0.field(1, string: "n") }], isFirst: true)
    #expect(String(decoding: text, as: UTF8.self) == "{\n  \"name\": \"n\"\n}\n")
    let status = RESTCall.text(of: RPCStatus(.notFound, "x"), to: "/v1/?prettyPrint=true")
    #expect(String(decoding: status, as: UTF8.self).contains("\n    \"code\": 404,\n"))
  }
}
