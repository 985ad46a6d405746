// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Hearth
import Testing

/// What the reading calls ask for. A mobile client watches where a server library requests, and always says the implied
/// orderings.
@Suite(.enabled(if: SpecFiles.areThere(for: "the conformance of queries")))
struct ReadConformanceTests {
  @Test("getDocument listens to the document", arguments: ConformanceFile.applicable(.get))
  func get(_ file: ConformanceFile) async throws {
    let datastore = RecordingDatastore()
    let key = try DocumentKey(specName: file.test["docRefPath"])

    let error = try await datastore.record { _ = try await $0.document(key.path.text).getDocument() }

    #expect(error == nil)
    let asked = try DocumentKey(specName: file.test["request"]?["name"])
    #expect(datastore.targets == [FirestoreQuery.Query(path: asked.path).target])
  }

  @Test("getDocuments sends the query with all its clauses", arguments: ConformanceFile.applicable(.query))
  func query(_ file: ConformanceFile) async throws {
    let datastore = RecordingDatastore()

    let hasOffset = file.test.list("clauses").contains { $0["offset"] != nil }
    #expect(hasOffset == (ConformanceFile.adapted[file.name] != nil), "what is adapted is named")

    let error = try await datastore.record { firestore in
      let collection = try #require(file.test["collPath"]?.string?.split(separator: "/").last)
      var query: any Hearth.Query = firestore.collection(String(collection))
      for clause in file.test.list("clauses") { query = try await self.query(query, refinedBy: clause) }
      _ = try await query.getDocuments()
    }

    if file.isError {
      expectRefusal(error)
      #expect(datastore.targets.isEmpty)
    } else {
      #expect(error == nil)
      #expect(datastore.targets == [try FirestoreQuery.Query(spec: try #require(file.test["query"])).target])
    }
  }

  private nonisolated(nonsending) func query(
    _ query: any Hearth.Query, refinedBy clause: JSONSyntax
  ) async throws -> any Hearth.Query {
    let member = try #require(clause.members?.first)
    let argument = member.value
    switch member.name {
    case "where": return try self.query(query, filteredBy: argument)
    case "orderBy":
      let isDescending = try #require(argument["direction"]?.string) == "desc"
      return query.order(by: try Hearth.FieldPath(spec: argument["path"]), descending: isDescending)
    case "limit": return query.limit(to: Int(try #require(argument.integer)))
    case "offset": return query  // Mobile clients have none; the rest of such a query is compared.
    default: break
    }
    if let snapshot = argument["docSnapshot"] {
      let document = try await document(snapshot, in: query.firestore)
      switch member.name {
      case "startAt": return query.start(atDocument: document)
      case "startAfter": return query.start(afterDocument: document)
      case "endAt": return query.end(atDocument: document)
      case "endBefore": return query.end(beforeDocument: document)
      default: throw clause.error("a clause \(member.name)")
      }
    }
    let values = try argument.list("jsonValues").map { try UserData.value($0.string) }
    switch member.name {
    case "startAt": return query.start(at: values)
    case "startAfter": return query.start(after: values)
    case "endAt": return query.end(at: values)
    case "endBefore": return query.end(before: values)
    default: throw clause.error("a clause \(member.name)")
    }
  }

  private func query(_ query: any Hearth.Query, filteredBy clause: JSONSyntax) throws -> any Hearth.Query {
    let path = try Hearth.FieldPath(spec: clause["path"])
    let value = try UserData.operand(clause["jsonValue"]?.string)
    switch clause["op"]?.string {
    case "==": return query.whereField(path, isEqualTo: value)
    case "<": return query.whereField(path, isLessThan: value)
    case "<=": return query.whereField(path, isLessThanOrEqualTo: value)
    case ">": return query.whereField(path, isGreaterThan: value)
    default: throw clause.error("an operator")
    }
  }

  /// The snapshot of a document that the client has just written.
  private nonisolated(nonsending) func document(
    _ json: JSONSyntax, in firestore: Firestore
  ) async throws -> any DocumentSnapshot {
    let reference = firestore.document(try DocumentKey(specName: json["path"]).path.text)
    try await reference.setData(try UserData.dictionary(json["jsonData"]?.string))
    return try await reference.getDocument(source: .cache)
  }
}
