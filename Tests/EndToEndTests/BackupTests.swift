// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  /// A database with its rules and indexes, into a folder and back.
  @Suite(.serialized) struct BackupTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    private let rules = """
      rules_version = '2';
      service cloud.firestore { match /databases/{db}/documents { match /{any=**} { allow read: if true; } } }

      """
    private let indexes = """
      {"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
        {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]}]}

      """

    @Test("A backup restores documents, enforced rules and indexes to a server or locally")
    func roundTrip() async throws {
      try surroundings.write("rules", rules)
      try surroundings.write("indexes.json", indexes)
      let server = try await ServeProcess(surroundings, ["--in-memory", "--rules", path("rules")])
      let from = ["--emulator", server.address]
      for path in ["c/1", "c/1/s/x", "d/ghost/s/y"] {
        #expect(try await HeadlessRun(["set", path, "see=ref:c/1"] + from, surroundings).status == 0)
      }
      let backup = try await HeadlessRun(
        ["backup", path("backup"), "--indexes", path("indexes.json")] + from, surroundings)
      #expect(backup.status == 0, "\(backup.errors)")
      #expect(backup.errors.contains("3 documents, the rules that the server enforces and indexes in "))
      #expect(try surroundings.text("backup/firestore.rules") == rules)
      #expect(try surroundings.text("backup/firestore.indexes.json") == indexes)
      #expect(try surroundings.text("backup/backup.json").contains(#""documents": 3"#))
      #expect(try surroundings.text("backup/firebase.json").contains(#""rules": "firestore.rules""#))

      let other = try await ServeProcess(surroundings)
      let there = ["--emulator", other.address, "--project", "elsewhere"]
      let dry = try await HeadlessRun(["restore", path("backup"), "--dry-run"] + there, surroundings)
      #expect(dry.status == 0 && dry.errors.contains("3 documents of hearth/(default) as of "), "\(dry.errors)")
      #expect(try await HeadlessRun(["databases"] + there, surroundings).output == "")
      let restored = try await HeadlessRun(["restore", path("backup")] + there, surroundings)
      #expect(
        restored.status == 0 && restored.errors.contains("the server enforces the backup's rules"),
        "\(restored.errors)")
      #expect(
        try await HeadlessRun(["get", "c/1", "--no-path", "--json"] + there, surroundings).output.contains("\"c/1\""))
      let again = try await HeadlessRun(["backup", path("again")] + there, surroundings)
      #expect(try again.status == 0 && surroundings.text("again/firestore.rules") == rules, "\(again.errors)")

      let here = try await hearth("restore", path("backup"))
      #expect(here.status == 0 && here.errors.contains("'hearth serve --rules \(path("backup"))/firestore.rules'"))
      #expect(here.errors.contains("--require-indexes \(path("backup"))/firestore.indexes.json"))
      #expect(try await hearth("diff", path("backup") + "/documents.jsonl.zst", "/").status == 0)
    }

    @Test(
      "A backup replaces only earlier backups, and an incomplete backup lists its gaps")
    func refusals() async throws {
      _ = try await hearth("set", "c/1", "x=1")
      for _ in 0..<2 {
        let plain = try await hearth("backup", path("b") + "/")
        #expect(plain.status == 0 && plain.errors.hasSuffix("1 document, no rules and no indexes in \(path("b"))/.\n"))
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: path("b")).sorted() == [
          "backup.json", "documents.jsonl.zst",
        ])
      try surroundings.write("indexes.json", #"{"indexes": [], "fieldOverrides": []}"#)
      let indexed = try await hearth("backup", path("indexed"), "--indexes", path("indexes.json"))
      #expect(
        indexed.errors.hasSuffix("1 document, indexes and no rules in \(path("indexed")).\n"), "\(indexed.errors)")
      try surroundings.write("b/mine.txt", "x")
      let taken = try await hearth("backup", path("b"))
      #expect(taken.status == 73 && taken.hasOneErrorLine && taken.errors.contains("mine.txt"), "\(taken.errors)")
      for (option, file) in [("--rules", "b/mine.txt"), ("--indexes", "b/mine.txt")] {
        #expect(try await hearth("backup", path("other"), option, path(file)).status == 65)
      }
      #expect(try await hearth("restore", path("data")).status == 66)
      let whole = try Data(contentsOf: surroundings.folder.appending(path: "b/documents.jsonl.zst"))
      try whole.dropLast(4).write(to: surroundings.folder.appending(path: "b/documents.jsonl.zst"))
      #expect(try await hearth("restore", path("b"), "--yes").status == 65)
      try whole.write(to: surroundings.folder.appending(path: "b/documents.jsonl.zst"))
      try surroundings.write(
        "b/backup.json", try surroundings.text("b/backup.json").replacing("\"documents\": 1", with: "\"documents\": 2"))
      let lacking = try await hearth("restore", path("b"), "--yes")
      #expect(
        lacking.status == 65 && lacking.errors.contains("should have 2 documents, but 1 document"), "\(lacking.errors)")
      try surroundings.write("b/backup.json", "{\"format\": 2}")
      #expect(try await hearth("restore", path("b"), "--yes").status == 65)
    }
  }
}
