// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

@Suite struct ImportRulesTests {
  private func record(_ json: String, name: String? = nil, line: Int = 1) -> InputRecord {
    let place = InputPosition(offset: 0, line: line, column: 1)
    return InputRecord(name: name, bytes: Array(json.utf8), place: place, start: place)
  }

  private func mutation(
    _ record: InputRecord, into collection: String? = nil, idField: FieldPath? = nil
  ) throws -> Mutation {
    try ImportRules(database: database, collection: collection.map { ResourcePath($0) }, idField: idField)
      .onlyMutation(for: record)
  }

  @Test("An imported record's path is its path member or its name")
  func paths() throws {
    let exported = try mutation(record("{\"data\": {\"a\": 1}, \"path\": \"c/d\", \"updateTime\": \"x\"}"))
    #expect(exported == Mutation(key: DocumentKey(unchecked: ResourcePath("c/d")), operation: .set(["a": .integer(1)])))
    #expect(try mutation(record("{}", name: "\"c/d\"")).key.path.text == "c/d")
    #expect(try mutation(record("{}", name: "\"d\\u0041\""), into: "c").key.path.text == "c/dA")
  }

  @Test("A plain document's id is read from a field, and the field remains")
  func ids() throws {
    let byText = try mutation(record("{\"m\": {\"id\": \"x\"}}"), into: "c", idField: FieldPath(segments: ["m", "id"]))
    #expect(byText.key.path.text == "c/x")
    #expect(byText.operation == .set(["m": .map(["id": .string("x")])]))
    #expect(try mutation(record("{\"id\": 7}"), into: "c", idField: FieldPath("id")).key.path.text == "c/7")
  }

  @Test("Without an id field the id is derived from the document and its line")
  func derivedIDs() throws {
    func id(_ json: String, _ line: Int) throws -> String {
      try mutation(record(json, line: line), into: "c").key.documentID
    }
    #expect(try id("{\"a\": 1}", 1).count == 20)
    #expect(try id("{\"a\": 1}", 1) == id("{\"a\": 1}", 1))
    #expect(try id("{\"a\": 1}", 1) != id("{\"a\": 1}", 2))
    #expect(try id("{\"a\": 1}", 1) != id("{\"a\": 2}", 1))
  }

  @Test(
    "A document that cannot be imported is reported with its line",
    arguments: [
      ("{\"path\": \"c\", \"data\": {}}", nil, 41, 1), ("{\"path\": 5, \"data\": {}}", nil, 41, 1),
      ("{\"path\": \"c/d\", \"data\": 5}", nil, 41, 25), ("{\"path\": \"c/d\"}", nil, 41, 1), ("[]", "c", 41, 1),
      ("{\"a\":\n  }", "c", 42, 3), ("{\"id\": true}", "c", 41, 8), ("{\"id\": \"a/b\"}", "c", 41, 8),
      ("{}", "c", 41, 1),
      ("{\"id\": \"x\", \"__a__\": 1}", "c", 41, 1),
    ] as [(String, String?, Int, Int)])
  func refuses(json: String, collection: String?, line: Int, column: Int) {
    #expect {
      try mutation(record(json, line: 41), into: collection, idField: collection == nil ? nil : FieldPath("id"))
    } throws: { error in
      (error as? JSONError).map { $0.line == line && $0.column == column } ?? false
    }
  }
}

@Suite("Importing to another path")
struct RenamedImportTests {
  private let folder: TemporaryFolder
  private let backend: LocalBackend

  init() throws {
    folder = try TemporaryFolder.made()
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private var datastore: InProcessDatastore { InProcessDatastore(backend: backend, database: database) }

  private func imported(
    _ lines: [String], as name: String = "in.jsonl", into: String? = nil, renames: [String] = [],
    idField: String? = nil,
    shown: @escaping (Mutation) -> Void = { _ in }, dry: Bool = false
  ) async throws -> [String] {
    let path = "\(folder.path)/\(name)"
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
    let rules = ImportRules(
      database: database, collection: into.map { ResourcePath($0) }, idField: idField.map { FieldPath($0) },
      paths: PathRules(renames: try renames.map { try CollectionRename(parsing: $0) }))
    let job = ImportJob(
      file: path, format: TransferFormat(input: path), rules: rules, backend: "test", into: into, idField: idField,
      badDocuments: dry ? .check : .stop)
    let datastore = datastore
    _ = try await job.run(
      into: { datastore }, note: { _ in }, reject: { _ in }, show: shown, progress: { _, _, _ in })
    var paths: [String] = []
    try await DocumentWalk(at: datastore, database, isRecursive: true).visit(.root) { document in
      paths.append("\(document.key.path) \(document.data?.fields["n"] == 1)")
    }
    return paths
  }

  private func line(_ path: String) -> String { "{\"path\": \"\(path)\", \"data\": {\"n\": 1}}" }

  @Test("--rename moves a collection with descendants, innermost first, and nothing else")
  func renames() async throws {
    let lines = ["c/1", "c/1/s/x", "c/2/t/y", "d/1"].map(line)
    #expect(
      try await imported(lines, renames: ["c=deep/down/c2", "c/2/t=u"])
        == ["d/1 true", "deep/down/c2/1 true", "deep/down/c2/1/s/x true", "u/y true"])
  }

  @Test("--into moves an export of one collection, or get --json output, with descendants")
  func into() async throws {
    let lines = ["c/1", "c/1/s/x", "c/ghost/s/y"].map(line)
    #expect(try await imported(lines, into: "c2") == ["c2/1 true", "c2/1/s/x true", "c2/ghost/s/y true"])
    let printed = "{\"path\": \"c/1\", \"createTime\": \"x\", \"updateTime\": \"x\", \"data\": {\"n\": 1}}"
    #expect(try await imported([printed], into: "c3").contains("c3/1 true"))
  }

  @Test(
    "An ambiguous --into is rejected before writing, with the command to use",
    arguments: [
      (["c/1", "d/1"], "--rename c=z"), (["c/1/s/x", "c/1/s/y"], "--rename c/1/s=z"), (["c/1/s/x"], "--rename c=z"),
    ])
  func refusals(paths: [String], advice: String) async throws {
    let failure = await #expect(throws: CommandFailure.self) { try await imported(paths.map(line), into: "z") }
    #expect(failure?.status == .usage && failure?.message.contains(advice) == true, "\(failure?.message ?? "")")
    #expect(try await datastore.listCollectionIDs(below: .root).isEmpty)
  }

  @Test("Exported lines never become plain documents, and unused renames are rejected")
  func envelopes() async throws {
    let mixed = await #expect(throws: ImportJob.Failure.self) {
      try await imported(["{\"name\": \"Ada\"}", line("c/1")], into: "z")
    }
    #expect(mixed.map { "\($0.error)" }?.contains("this exported {path, data} object") == true)
    await #expect(throws: CommandFailure.self) { try await imported([line("c/1")], into: "z", idField: "n") }
    let mistyped = await #expect(throws: CommandFailure.self) { try await imported([line("c/1")], renames: ["x=y"]) }
    #expect(mistyped?.message.contains("Its collections are c.") == true)
    for wrong in ["c", "c=d/1", "=d"] { #expect(throws: (any Error).self) { try CollectionRename(parsing: wrong) } }
  }

  @Test("import --dry-run shows ten resulting documents and writes nothing")
  func shown() async throws {
    var shown: [String] = []
    let paths = try await imported(
      (0..<30).map { line("c/\($0)") }, renames: ["c=d"],
      shown: { shown.append(DocumentLine.json($0, in: database)) }, dry: true)
    #expect(paths.isEmpty)
    #expect(shown.count == 10 && shown.first == "{\"path\": \"d/0\", \"data\": {\"n\": 1}}")
  }

  @Test("An export in Google's format can be imported into another collection")
  func googles() async throws {
    _ = try await datastore.commit([set("c/1", ["n": 1]), set("c/1/s/x", ["n": 1])])
    let job = ExportJob(roots: nil, isRecursive: true, format: .google)
    let path = "\(folder.path)/out"
    _ = try await job.run(at: datastore, database, toFolder: path) { _ in }
    let rules = ImportRules(database: database, collection: ResourcePath("c2"), idField: nil)
    let again = ImportJob(file: path, format: .google, rules: rules, backend: "test", into: "c2")
    let datastore = datastore
    let outcome = try await again.run(
      into: { datastore }, note: { _ in }, reject: { _ in }, progress: { _, _, _ in })
    #expect(outcome.done.documents == 2)
    #expect(try await datastore.lookup([key("c2/1/s/x")]).first?.exists == true)
  }
}

@Suite struct ImportRunTests {
  private struct Stopped: Error {}

  private let folder = TemporaryFolder()
  private let backend: LocalBackend

  init() throws {
    try folder.make()
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private func file(_ lines: [String]) throws -> String {
    try folder.write("input.jsonl", lines.map { $0 + "\n" }.joined())
    return folder("input.jsonl")
  }

  private func line(_ id: Int, _ value: Int) -> String { "{\"path\": \"c/\(id)\", \"data\": {\"v\": \(value)}}" }

  private func values() async throws -> [String: Value] {
    let documents = try await backend.run(ReadRequest(ServedQuery(Query(path: ResourcePath("c")).target), in: database))
      .documents
    return Dictionary(uniqueKeysWithValues: documents.map { ($0.key.documentID, $0.data?[FieldPath("v")] ?? .null) })
  }

  private func run(
    _ path: String, from done: ImportProgressPoint = ImportProgressPoint(), rejects: RejectFile? = nil,
    record: @escaping (ImportProgressPoint) throws -> Void = { _ in }
  ) async throws -> ImportProgressPoint {
    var input = try ImportInput(path, .jsonl)
    try input.skip(to: done.position, .jsonl)
    let rules = ImportRules(database: database, collection: nil, idField: nil)
    var run = ImportRun(
      rules, into: InProcessDatastore(backend: backend, database: database), from: done, rejects: rejects,
      record: record)
    try await run.run(&input)
    return run.done
  }

  @Test("The last of several writes to a document wins, however they are batched")
  func order() async throws {
    let path = try file((0..<5000).map { line($0 % 700, $0) })
    let done = try await run(path)
    #expect(done.documents == 5000 && done.position.line == 5001)
    #expect(
      try await values()
        == Dictionary(
          uniqueKeysWithValues: (0..<700).map { id in
            ("\(id)", Value.integer(Int64(stride(from: id, to: 5000, by: 700).max() ?? 0)))
          }))
  }

  @Test("An import that stops at any point can resume with the same result")
  func resumes() async throws {
    let path = try file((0..<3000).map { line($0, $0) })
    var last = ImportProgressPoint()
    var runs = 0
    while last.documents < 3000 {
      runs += 1
      do {
        var points = 0
        let from = last
        var noted = last
        defer { last = noted }
        noted = try await run(path, from: from) { point in
          noted = point
          points += 1
          if points == 2 { throw Stopped() }
        }
      } catch is Stopped {}
    }
    #expect(runs > 1 && last.documents == 3000)
    #expect(try await values().count == 3000)
  }

  @Test("An invalid document stops the import after all earlier documents are imported")
  func stops() async throws {
    var lines = (0..<1300).map { line($0, $0) }
    lines[700] = "{\"path\": \"c/700\"}"
    let path = try file(lines)
    var done = ImportProgressPoint()
    await #expect(throws: Rejection.Reason.self) { _ = try await run(path) { done = $0 } }
    #expect(done.documents == 700 && done.position.line == 701)
    #expect(Set(try await values().keys) == Set((0..<700).map(String.init)))
  }

  @Test("An import can save invalid documents to a file")
  func rejects() async throws {
    var lines = (0..<1300).map { line($0, $0) }
    lines[3] = "{"
    lines[900] = "{\"path\": \"c/900\", \"data\": {\"at\": {\"$timestamp\": \"x\"}}}"
    let path = try file(lines)
    var notes: [String] = []
    let aside = folder("aside")
    let done = try await run(path, rejects: RejectFile(aside) { notes.append($0) })
    #expect(done.documents == 1298 && done.rejected == 2)
    #expect(try String(contentsOfFile: aside, encoding: .utf8) == lines[3] + "\n" + lines[900] + "\n")
    #expect(notes.count == 2 && notes[0].hasPrefix("line 4, ") && notes[1].hasPrefix("line 901, "))
    #expect(try await values().count == 1298)
  }
}

@Suite struct TransferProgressTests {
  @Test("Import progress shows documents, rate, percentage and remaining time")
  func line() {
    #expect(TransferProgress.line(500, fraction: 0.25, after: .seconds(2)) == "500 documents, 250/s, 25 %, 0:06 left")
    #expect(TransferProgress.line(1, fraction: nil, after: .seconds(1)) == "1 document, 1/s")
    #expect(TransferProgress.line(0, fraction: 0, after: .zero) == "0 documents, 0/s")
    let resumed = TransferProgress.Start(documents: 30_000, fraction: 0.5)
    #expect(
      TransferProgress.line(30_500, fraction: 0.75, after: .seconds(1), from: resumed)
        == "30500 documents, 500/s, 75 %, 0:01 left")
    #expect(TransferProgress.summary(100_000, in: .milliseconds(3210)) == "3.2 s (31152/s)")
    #expect(TransferProgress.summary(1, in: .milliseconds(310)) == "0.3 s")
  }
}
