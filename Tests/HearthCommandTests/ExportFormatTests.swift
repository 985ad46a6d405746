// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreExports
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@Suite("Import and export in Google's format")
struct ExportFormatTests {
  private let folder: TemporaryFolder
  private let backend: LocalBackend

  init() throws {
    folder = try TemporaryFolder.made()
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_800_000_000) }))
  }

  private func datastore(_ database: DatabaseID) -> InProcessDatastore {
    InProcessDatastore(backend: backend, database: database)
  }

  private func imported(
    _ path: String, into target: DatabaseID, bad: ImportJob.BadDocuments = .stop, state: String? = nil,
    told: @escaping (String) -> Void = { _ in },
    progress: @escaping (ImportProgressPoint) throws -> Void = { _ in }
  ) async throws -> ImportJob.Outcome {
    let job = ImportJob(
      file: path, format: TransferFormat(input: path),
      rules: ImportRules(database: target, collection: nil, idField: nil), backend: "test", state: state,
      badDocuments: bad)
    return try await job.run(
      into: { datastore(target) }, note: told, reject: told, progress: { point, _, _ in try progress(point) })
  }

  private func lines(_ database: DatabaseID) async throws -> [String] {
    var lines: [String] = []
    let walk = DocumentWalk(at: datastore(database), database, isRecursive: true)
    try await walk.visit(.root) { document in
      lines.append(DocumentLine.json(document.key, document.data?.fields ?? [:], in: database))
    }
    return lines
  }

  private func fill(_ database: DatabaseID, _ count: Int = 40) async throws {
    let mutations = (0..<count).map { number in
      set(
        "c/\(number)/below/x",
        [
          "n": .integer(Int64(number)), "self": .reference(database, key("c/1")), "v": .vector([1, 2]),
          "other": .array([.map(["r": .reference(DatabaseID(project: "elsewhere"), key("c/1"))])]),
        ])
    }
    _ = try await datastore(database).commit(mutations)
  }

  private func export(_ database: DatabaseID, to name: String) async throws -> String {
    let job = ExportJob(roots: nil, isRecursive: true, format: .google)
    let path = folder.path + "/" + name
    _ = try await job.run(at: datastore(database), database, toFolder: path) { _ in }
    return path
  }

  @Test("In an imported export, references to the export's own database are rewritten")
  func roundTrip() async throws {
    let (source, target) = (DatabaseID(project: "a", database: "named"), DatabaseID(project: "b"))
    try await fill(source)

    let path = try await export(source, to: "backup")
    let outcome = try await imported(path, into: target)

    #expect(outcome.done.documents == 40)
    // Lines have references relative to the database.
    #expect(try await lines(target) == lines(source))
    let document = try await datastore(target).lookup([key("c/1/below/x")])[0]
    #expect(document[FieldPath("self")] == .reference(target, key("c/1")))
  }

  @Test("An interrupted import continues after its last written document")
  func resume() async throws {
    let (source, target) = (DatabaseID(project: "a"), DatabaseID(project: "b"))
    for start in 0..<4 {
      _ = try await datastore(source).commit((0..<500).map { set("c/\(start)-\($0)") })
    }
    let path = try await export(source, to: "backup")
    let state = ImportJob.state(of: path)
    struct Stop: Error {}

    await #expect(throws: ImportJob.Failure.self) {
      try await imported(
        path, into: target, state: state, progress: { if $0.documents >= 1000 { throw Stop() } })
    }
    let outcome = try await imported(path, into: target, state: state)

    #expect(outcome.before >= 500 && outcome.before < 2000)
    #expect(outcome.done.documents == 2000)
    #expect(try await lines(target).count == 2000)
    #expect(!FileManager.default.fileExists(atPath: state))
  }

  @Test("A damaged export is imported up to the damage, with its position")
  func damage() async throws {
    let (source, target) = (DatabaseID(project: "a"), DatabaseID(project: "b"))
    try await fill(source)
    let path = try await export(source, to: "backup")
    let output = URL(filePath: path + "/all_namespaces/all_kinds/output-0")
    var bytes = try Data(contentsOf: output)
    bytes[bytes.count - 300] ^= 1
    try bytes.write(to: output)

    do {
      _ = try await imported(path, into: target)
      Issue.record("It was imported.")
    } catch let failure as ImportJob.Failure {
      let reason = try #require(failure.error as? CommandFailure)
      #expect(reason.status == .badData)
      #expect(reason.message.contains("/output-0, byte "))
      #expect(failure.done.documents >= 37 && failure.done.documents < 40)
    }
  }

  @Test("Invalid documents are reported by position and saved as editable lines")
  func rejected() async throws {
    let target = DatabaseID(project: "b")
    let path = folder.path + "/bad"
    var writer = try ExportWriter(path, DatabaseID(project: "a"), begin: Timestamp(seconds: 1))
    try writer.append(key("c/good"), ["n": .integer(1)])
    try writer.append(key("c/bad"), ["__x__": .integer(1)])
    try writer.append(key("c/late"), [:])
    try writer.finish(end: Timestamp(seconds: 2))
    let rejects = folder.path + "/rejects"
    var told: [String] = []

    let outcome = try await imported(path, into: target, bad: .collect(rejects), told: { told.append($0) })

    #expect(outcome.done.documents == 2 && outcome.done.rejected == 1)
    #expect(told.count == 1 && told[0].contains("/output-0, byte ") && told[0].contains("__x__"))
    #expect(try String(contentsOfFile: rejects, encoding: .utf8) == "{\"path\": \"c/bad\", \"data\": {\"__x__\": 1}}\n")
    #expect(try await lines(target).count == 2)
  }
}
