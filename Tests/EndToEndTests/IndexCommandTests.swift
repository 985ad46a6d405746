// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct IndexCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String...) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, surroundings)
    }

    /// Brings documents into the cache that `explain` reads.
    private func fill() async throws {
      let documents = (0..<300).map { "{\"path\": \"cities/c\($0)\", \"data\": {\"state\": \"S\($0 % 50)\"}}\n" }
      try surroundings.write("cities.jsonl", documents.joined())
      let imported = try await hearth("import", surroundings.folder.appending(path: "cities.jsonl").path)
      #expect(imported.status == 0, "\(imported.errors)")
      // A watch with a cache of its own leaves there what it saw.
      let watched = try await hearth("watch", "cities", "--until", "synced", "--cache", surroundings.cache)
      #expect(watched.status == 0 && watched.lines.count == 300, "\(watched.errors)")
    }

    @Test("explain reports a query's cost, which the suggested index reduces")
    func explain() async throws {
      try await fill()
      let before = try await hearth("cache", "explain", "cities", "--where", "state == S7")
      #expect(before.status == 0, "\(before.errors)")
      #expect(before.output.contains("all documents of the collection") && before.output.contains("returned 6,"))
      #expect(before.output.contains("cities(state ascending)"))

      try surroundings.write(
        "indexes.json",
        #"{"indexes": [{"collectionGroup": "cities", "fields": [{"fieldPath": "state", "order": "ASCENDING"}]}]}"#)
      try surroundings.write(
        "old.json",
        """
        { // by state
          "note": 1,
          "indexes": [{"collectionId": "old", "fields": [{"fieldPath": "a", "mode": "ASCENDING"}]}]
        }
        """)
      let old = try await hearth("cache", "indexes", "--set", surroundings.folder.appending(path: "old.json").path)
      #expect(old.status == 0 && old.output == "old(a ascending)  configured, ready\n", "\(old.errors)")
      #expect(old.errors.contains("old.json, line 2, column 11: note is unknown and has no effect."), "\(old.errors)")
      let set = try await hearth("cache", "indexes", "--set", surroundings.folder.appending(path: "indexes.json").path)
      #expect(set.status == 0 && set.output == "cities(state ascending)  configured, ready\n", "\(set.errors)")
      let after = try await hearth("cache", "explain", "cities", "--where", "state == S7", "--json")
      #expect(after.output.contains("\"plan\": \"index\"") && after.output.contains("\"documentsScanned\": 6,"))

      let listed = try await hearth("cache", "indexes", "--json")
      #expect(
        listed.output.contains("\"indexed\": 300") && listed.output.contains("\"total\": 300"), "\(listed.output)")

      let deleted = try await hearth("cache", "indexes", "--delete-all")
      #expect(deleted.status == 0 && deleted.output == "")
    }

    @Test("gc previews evictions and keeps everything while the cache is below its limit")
    func collect() async throws {
      try await fill()
      let due = try await hearth("cache", "gc")
      #expect(
        due.status == 0 && due.output.hasSuffix("is below its size limit. Nothing was removed.\n"), "\(due.output)")
      let dry = try await hearth("cache", "gc", "--dry-run", "--json")
      #expect(dry.output.contains(#""isDryRun": true"#) && dry.output.contains(#""isDue": true"#), "\(dry.output)")
      let kept = try await hearth("cache", "explain", "cities", "--json")
      #expect(kept.output.contains(#""documentsReturned": 300"#), "\(kept.output)")
    }

    @Test("An invalid index definition is reported with line and column; nothing changes")
    func wrong() async throws {
      try surroundings.write(
        "indexes.json",
        "{\"indexes\": [\n  {\"collectionGroup\": \"cities\", \"fields\": [{\"fieldPath\": \"a\", \"order\": \"UP\"}]}]}"
      )
      let run = try await hearth("cache", "indexes", "--set", surroundings.folder.appending(path: "indexes.json").path)
      #expect(run.status == 65 && run.hasOneErrorLine && run.errors.contains("line 2, column"), "\(run.errors)")
      let missing = try await hearth("cache", "indexes", "--set", "/nowhere.json")
      #expect(missing.status == 66 && missing.hasOneErrorLine)
      #expect(try await hearth("cache", "indexes").output == "")
    }
  }
}
