// SPDX-License-Identifier: Apache-2.0
import ByteCompression
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

extension ImportRules {
  /// The mutation for a record of one document.
  func onlyMutation(for record: InputRecord) throws -> Mutation {
    var forms = RecognizedForms()
    let mutations = try mutations(for: record, &forms)
    return try #require(mutations.count == 1 ? mutations.first : nil)
  }
}

/// The files of other tools that `hearth import` recognizes: what is written, and what is reported.
@Suite("Importing the files of other tools")
struct ForeignImportTests {
  private let folder: TemporaryFolder
  private let backend: LocalBackend

  init() throws {
    folder = try TemporaryFolder.made()
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private struct Outcome {
    /// `users/u1 {"n": 1}`
    var documents: [String] = []
    var notes: [String] = []
  }

  private func imported(
    _ text: String, as name: String = "in.json", into: String? = nil, renames: [String] = [], types: String? = nil,
    idField: String? = nil, layout: InputLayout? = nil, dry: Bool = false
  ) async throws -> Outcome {
    let path = folder(name)
    try Data(text.utf8).write(to: URL(filePath: path))
    let rules = ImportRules(
      database: database, collection: into.map { ResourcePath($0) }, idField: idField.map { FieldPath($0) },
      paths: PathRules(renames: try renames.map { try CollectionRename(parsing: $0) }))
    let job = ImportJob(
      file: path, format: TransferFormat(input: path), rules: rules, backend: "test", into: into, idField: idField,
      badDocuments: dry ? .check : .stop, types: try types.map(ColumnTypesText.parse) ?? [:], isFormatGiven: false,
      layout: layout)
    let datastore = InProcessDatastore(backend: backend, database: database)
    var outcome = Outcome()
    _ = try await job.run(
      into: { datastore }, note: { outcome.notes.append($0) }, reject: { _ in },
      show: { outcome.documents.append(DocumentLine.json($0, in: database)) }, progress: { _, _, _ in })
    if dry { return outcome }
    try await DocumentWalk(at: datastore, database, isRecursive: true).visit(.root) { document in
      let fields = document.data.map { DocumentLine.json(document.key, $0.fields, in: database) } ?? ""
      outcome.documents.append(fields)
    }
    outcome.documents = outcome.documents.map { line in
      line.replacing("{\"path\": \"", with: "").replacing("\", \"data\": ", with: " ").dropLast().description
    }
    return outcome
  }

  private func failure(_ text: String, as name: String = "in.json", into: String? = nil) async -> String {
    do {
      let outcome = try await imported(text, as: name, into: into)
      return "imported: \(outcome.documents)"
    } catch let failure as CommandFailure {
      return failure.message
    } catch let stopped as ImportJob.Failure {
      return "\(stopped.error)"
    } catch { return "\(error)" }
  }

  @Test(
    "Collections are recognized in the files of all common tools",
    arguments: [
      (
        #"{"__collections__": {"c": {"a": {"n": 1, "__collections__": {"s": {"x": {"n": 2}}}}, "b": {}}}}"#,
        ["c/a {\"n\": 1}", "c/a/s/x {\"n\": 2}", "c/b {}"], "\"__collections__\""
      ),
      (
        #"{"c": {"a": {"n": 1}, "b": {}}, "d": {"e": {"m": {"k": 1}}}}"#,
        ["c/a {\"n\": 1}", "c/b {}", "d/e {\"m\": {\"k\": 1}}"], "documents by id (c, d)"
      ),
      (
        #"{"c": {"a": {"n": 1, "subCollection": {"c/a/s": {"x": {"n": 2}}}}}}"#,
        ["c/a {\"n\": 1}", "c/a/s/x {\"n\": 2}"], "documents by id (c)"
      ),
      (#"{"c/a/s": {"x": {"n": 2}}}"#, ["c/a/s/x {\"n\": 2}"], "documents by id (c/a/s)"),
      (
        #"{"c": [{"id": "a", "n": 1}, {"id": 7}], "d": []}"#, ["c/7 {\"id\": 7}", "c/a {\"id\": \"a\", \"n\": 1}"],
        "lists of documents (c, d)"
      ),
      (
        #"{"documents": [{"name": "projects/p/databases/(default)/documents/c/a", "fields": {"n": {"integerValue": "1"}},"#
          + #" "createTime": "t", "updateTime": "t"}], "nextPageToken": "x"}"#, ["c/a {\"n\": 1}"], "REST interface"
      ),
      (
        #"[{"document": {"name": "projects/p/databases/(default)/documents/c/a", "fields": {}}, "readTime": "t"},"#
          + #" {"readTime": "t"}]"#, ["c/a {}"], "REST interface"
      ),
      (#"[{"path": "c/a", "data": "{\"n\": 1}"}]"#, ["c/a {\"n\": 1}"], "data as a JSON string"),
      (
        #"[{"path": "c/a", "data": {"t": {"_seconds": 1, "_nanoseconds": 0}}, "timestamps": ["t"]}]"#,
        ["c/a {\"t\": {\"$timestamp\": \"1970-01-01T00:00:01Z\"}}"], "of another tool"
      ),
      (#"[{"ID": "a", "Path": "c/a", "Data": {"n": 1}, "CreateTime": "t"}]"#, ["c/a {\"n\": 1}"], "of another tool"),
    ])
  func collections(_ text: String, _ documents: [String], _ note: String) async throws {
    let outcome = try await imported(text)

    #expect(outcome.documents == documents)
    #expect(outcome.notes.contains { $0.contains(note) }, "\(outcome.notes)")
  }

  @Test("A file's indentation, compression and name do not change its documents")
  func layouts() async throws {
    let pretty = "\u{feff}{\n  \"c\": {\n    \"a\": {\"n\": 1},\n    \"b\": {\"n\": 2}\n  }\n}\n"
    let expected = ["c/a {\"n\": 1}", "c/b {\"n\": 2}"]
    for name in ["in.json", "in", "in.txt", "in.jsonl"] {
      #expect(try await imported(pretty, as: name).documents == expected, "\(name)")
    }
    #expect(try await imported(#"{"c": {"a": {"n": 1}, "b": {"n": 2}}}"#, as: "in").documents == expected)
    let lines = "{\"path\": \"c/a\", \"data\": {\"n\": 1}}\n{\"path\": \"c/b\", \"data\": {\"n\": 2}}\n"
    #expect(try await imported(lines, as: "in.json").documents == expected)
    let apart = "{\n\"path\": \"c/a\", \"data\": {\"n\": 1}}\n{\n\"path\": \"c/b\", \"data\": {\"n\": 2}\n}\n"
    #expect(try await imported(apart, as: "in.json").documents == expected)
    #expect(try await imported("id;n\na;1\nb;2\n", as: "in", into: "d", idField: "id").documents.count == 4)
  }

  @Test("--into renames a tree's only collection instead of making it a document")
  func intoTree() async throws {
    let tree = #"{"users": {"u1": {"n": 1}, "u2": {"n": 2}}}"#
    #expect(try await imported(tree, into: "users").documents == ["users/u1 {\"n\": 1}", "users/u2 {\"n\": 2}"])
    let other = try await imported(tree, into: "people", dry: true)
    #expect(other.documents.first == #"{"path": "people/u1", "data": {"n": 1}}"#)
    #expect(other.notes.first?.contains("--layout documents") == true)
    let asked = try await imported(tree, into: "people", layout: .documents, dry: true)
    #expect(asked.documents.count == 1)
    let list = try await imported(#"{"users": [{"uid": "a"}]}"#, into: "z", idField: "uid", dry: true)
    #expect(list.documents == [#"{"path": "z/a", "data": {"uid": "a"}}"#])
    let marked = #"{"__collections__": {"users": {"u1": {"__collections__": {"s": {"x": {}}}}}}}"#
    let moved = try await imported(marked, into: "z", dry: true)
    #expect(moved.documents == [#"{"path": "z/u1", "data": {}}"#, #"{"path": "z/u1/s/x", "data": {}}"#])
  }

  @Test("A single line whose document has only maps is imported as one document")
  func linesOfMaps() async throws {
    for name in ["in.jsonl", "in"] {
      let outcome = try await imported(#"{"m": {"x": 1}}"#, as: name, into: "c", dry: true)
      #expect(outcome.documents.count == 1 && outcome.documents[0].hasSuffix(#""data": {"m": {"x": 1}}}"#))
    }
    let tree = try await imported(#"{"c": {"a": {"n": 1}}}"#, as: "in", into: "c", dry: true)
    #expect(tree.documents == [#"{"path": "c/a", "data": {"n": 1}}"#])
  }

  @Test("Derived ids are reported, and an empty collection creates no document")
  func derived() async throws {
    let outcome = try await imported(#"[{"id": "x", "n": 1}]"#, into: "c", dry: true)
    #expect(outcome.notes == ["read: 1 object with derived IDs. To use the field id, add --id-field id."])
    #expect(try await imported(#"{"users": []}"#).documents.isEmpty)
  }

  @Test("With --into, documents that have only maps are imported as documents")
  func documentsOfMaps() async throws {
    let outcome = try await imported(#"{"u1": {"p": {"n": 1}}, "u2": {"p": {"n": 2}}}"#, into: "c")
    #expect(outcome.documents == ["c/u1 {\"p\": {\"n\": 1}}", "c/u2 {\"p\": {\"n\": 2}}"])
    #expect(outcome.notes.isEmpty)
  }

  @Test(
    "A file that cannot be imported is identified, and a working command suggested",
    arguments: [
      (#"{"u1": {"n": 1}}"#, "in.json", nil, "documents by id (u1)", "in.json --into COLLECTION"),
      (#"{"name": "Ada", "n": 1}"#, "in.json", nil, "is one document (name, n)", "hearth set COLLECTION/ID - <"),
      (#"{"name": "Ada", "m": {"k": 1}}"#, "in.json", "c", "is one document", "hearth set c/ID - <"),
      (#"{"users": {"u1": {"n": 1}}, "count": 5}"#, "in.json", nil, "has collections of documents", "also \"count\""),
      (
        #"{"users": {"u1": {"n": 1}}, "orders": {"o1": {"n": 1}}}"#, "in.json", "users", "several collections",
        "--rename orders=users"
      ),
      (
        #"{"users": {"u1": {"n": 1}}, "orders": {"o1": {"n": 1}}}"#, "in.json", "z", "can be collections",
        "--layout documents"
      ),
      (#"{"n": 1, "__collections__": {"s": {}}}"#, "in.json", nil, "one document with its subcollections", "jq '"),
      (#"[{"id": "a"}]"#, "in.json", nil, "has no path", "--into COLLECTION and --id-field id"),
      (
        #"{"version": "1", "firestore": {"path": "e", "metadata_file": "e/e.overall_export_metadata"}}"#, "in.json",
        nil,
        "belongs to an export", "hearth import FOLDER"
      ),
      (
        #"{"indexes": [{"collectionGroup": "c", "fields": []}]}"#, "in.json", nil, "index definitions",
        "hearth cache indexes --set"
      ),
      ("PK\u{3}\u{4}....xl/workbook.xml", "in.xlsx", "c", "an Excel workbook", "FILE.csv --into c"),
      ("PK\u{3}\u{4}....", "in.zip", nil, "a zip archive", "Unpack it"),
      ("SQLite format 3\0", "in.db", "c", "an SQLite database", "| hearth import - --into c"),
      ("\u{16}\0\0\0\u{2}name\0\u{2}\0\0\0Ad\0\0", "in.bson", nil, "BSON", "bsondump --quiet"),
      ("users:\n  u1:\n    n: 1\n", "in.yaml", "c", "is YAML", "yq -o json"),
      (#"{"users": {"u1": {"n": 1}, "u2""#, "in.json", nil, "Expected a whole document", "the end of the file"),
      ("<!DOCTYPE html><html>", "in.json", nil, "XML or a web page", "JSON lines"),
      (#"{"a": {"__datatype__": "moon", "value": 1}}"#, "in.jsonl", "c", "\"moon\" is unknown", "geopoint"),
      (#"{"path": "c/a", "data": "{n: 1}"}"#, "in.jsonl", nil, "in the string is not JSON", "Expected a name"),
    ] as [(String, String, String?, String, String)])
  func refusals(_ text: String, _ name: String, _ into: String?, _ what: String, _ advice: String) async {
    let message = await failure(text, as: name, into: into)
    #expect(message.contains(what) && message.contains(advice), "\(message)")
  }

  @Test("Rejected documents keep their path, so that they can be corrected and imported")
  func rejected() async throws {
    let path = folder("in.json")
    let text = #"{"c": {"a": {"n": 1}, "b": {"__x__": 1, "t": {"_seconds": 1, "_nanoseconds": 0}}}}"#
    try Data(text.utf8).write(to: URL(filePath: path))
    let job = ImportJob(
      file: path, format: .json, rules: ImportRules(database: database, idField: nil), backend: "test",
      badDocuments: .collect(folder("rejected")), isFormatGiven: false)
    let datastore = InProcessDatastore(backend: backend, database: database)
    let outcome = try await job.run(
      into: { datastore }, note: { _ in }, reject: { _ in }, progress: { _, _, _ in })
    #expect(outcome.done.documents == 1 && outcome.done.rejected == 1)

    let line = try String(contentsOf: URL(filePath: folder("rejected")), encoding: .utf8)
    #expect(line.contains(#""path": "c/b", "data": {"__x__": 1"#))
    let corrected = try await imported(line.replacing("__x__", with: "x"), as: "again.jsonl")
    #expect(
      corrected.documents == ["c/a {\"n\": 1}", #"c/b {"t": {"$timestamp": "1970-01-01T00:00:01Z"}, "x": 1}"#])
  }

  @Test("A UTF-16 file is rejected with the command that converts it")
  func wideText() async throws {
    let path = folder("in.csv")
    try Data([0xff, 0xfe, 0x61, 0x00]).write(to: URL(filePath: path))
    var input = try ImportInput(path, .csv)
    #expect {
      try input.recognize(path, nil, into: nil)
    } throws: {
      ($0 as? CommandFailure)?.message.contains("iconv -f UTF-16") == true
    }
  }

  @Test("A record that expands to many documents is committed in parts")
  func manyDocuments() async throws {
    let inner = (0..<1_200).map { "\"d\($0)\": {\"n\": 1}" }.joined(separator: ", ")
    let outcome = try await imported("{\"c\": {\"a\": {\"n\": 1, \"__collections__\": {\"s\": {\(inner)}}}}}")
    #expect(outcome.documents.count == 1_201)
  }

  @Test("An export by Firefoo becomes documents with times and subcollections")
  func firefoo() async throws {
    func text(_ resource: String, _ data: String) -> String {
      """
      {"meta": {"format": "JSON", "version": "1.1.0", "projectId": "p", \(resource)"app": "firefoo"},
       "data": {\(data)}}
      """
    }
    let data = """
      "u1": {"n": 1, "at": {"__time__": "2026-03-02T11:58:03.500Z"}, "__collections__": {"o": {"x": {"m": 2}}}},
      "u2": {"n": 3, "__collections__": {}}
      """
    let outcome = try await imported(text(#""resourcePath": ["users"], "#, data))
    #expect(
      outcome.documents == [
        #"users/u1 {"at": {"$timestamp": "2026-03-02T11:58:03.500Z"}, "n": 1}"#, #"users/u1/o/x {"m": 2}"#,
        #"users/u2 {"n": 3}"#,
      ])
    #expect(outcome.notes.first?.hasSuffix("a Firefoo export of the collection users.") == true)
    let other = try await imported(text("", #""rooms/r/seats/s": {"n": 4}"#), dry: true)
    #expect(other.documents == [#"{"path": "rooms/r/seats/s", "data": {"n": 4}}"#])
    #expect(
      await failure(text(#""resourcePath": ["users", "u1"], "#, #""n": 1"#)).contains("the document users/u1"))
    let unknown = await failure(text(#""resourcePath": ["users"], "#, #""u1": {"see": {"__ref__": "a/b"}}"#))
    #expect(unknown.contains("__ref__"), "\(unknown)")
  }
}
