// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct TransferTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    private func lines(_ count: Int) -> String {
      (0..<count).map { "{\"path\": \"c/d\(100_000 + $0)\", \"data\": {\"n\": \($0)}}\n" }.joined()
    }

    @Test("Status 65 reports an empty compressed file, endless input or an unused rename")
    func misleadingInputs() async throws {
      for name in ["a.jsonl.gz", "a.jsonl.zst"] {
        try Data().write(to: surroundings.folder.appending(path: name))
        let run = try await hearth("import", path(name))
        #expect(run.status == 65 && run.hasOneErrorLine && run.errors.contains("is empty"), "\(run.errors)")
      }
      let endless = try await hearth("play", "/dev/zero")
      #expect(endless.status == 65 && endless.errors.contains("larger than the limit of 64 MiB"), "\(endless.errors)")

      let documents = #"{"path": "a/1", "data": {"x": 1}}"# + "\n"
      let piped = try await hearth("import", "-", "--rename", "b=c", input: documents)
      #expect(piped.status == 65 && piped.errors.contains("standard input has nothing at b"), "\(piped.errors)")
      #expect(try await hearth("import", "-", "--rename", "a=c", input: documents).status == 0)
      #expect(try await hearth("get", "c/1").output.contains("1"))
    }

    @Test("Export, import and export again gives the same bytes for all types")
    func roundTrip() async throws {
      let documents = [
        #"{"path": "a/1", "data": {"at": {"$timestamp": "2026-03-02T11:58:03.120456Z"}, "see": {"$ref": "b/2"}}}"#,
        #"{"path": "a/1/sub/x", "data": {}}"#,
        #"{"path": "a/1.5", "data": {"d": 1.0, "i": 1, "nan": {"$double": "NaN"}, "v": {"$vector": [1.0]}}}"#,
        #"{"path": "a/ghost/sub/y", "data": {"b": {"$bytes": "aGk="}, "g": {"$geo": [1.0, -2.0]}}}"#,
        #"{"path": "b/ž", "data": {"m": {"$map": {"$ref": "no"}}, "text": "a\nb \"c\""}}"#,
      ].map { $0 + "\n" }.joined()
      try surroundings.write("in.jsonl", documents)
      let first = try await hearth("import", path("in.jsonl"))
      #expect(first.status == 0 && first.output == "" && first.errors.contains("5 documents"))
      let exported = try await hearth("export", "--all", "--recursive")
      #expect(exported.status == 0 && exported.errors == "")
      #expect(exported.output == documents)

      for format in ["json", "jsonl.gz", "jsonl.zst"] {
        let file = path("out.\(format)")
        #expect(try await hearth("export", "--all", "--recursive", "-o", file).status == 0)
        for collection in ["a", "b"] { _ = try await hearth("delete", collection, "--recursive", "--yes") }
        #expect(try await hearth("import", file).status == 0)
        #expect(try await hearth("export", "--all", "--recursive").output == documents)
      }
      let top = try await hearth("export", "a", "--no-recursive")
      #expect(top.lines.count == 2)
    }

    @Test("An import killed at any moment is completed by repeating the command")
    func killed() async throws {
      let documents = lines(20_000)
      let arguments = ["import", "-", "--resume", path("progress")]
      let process = try ChildProcess(
        [Surroundings.hearth] + arguments, environment: surroundings.environment, streams: .pipes)
      // More than fits into the pipe: when it is written, some of it was read.
      process.write(String(documents.prefix(documents.count / 2)))
      kill(process.id, SIGKILL)
      #expect(try await process.exitStatus() == 128 + SIGKILL)
      let second = try await HeadlessRun(arguments, input: documents, surroundings)
      #expect(second.status == 0, "\(second.errors)")
      #expect(try await hearth("export", "c").output == documents)
      #expect(!FileManager.default.fileExists(atPath: path("progress")))
    }

    @Test("Importing the same plain documents twice creates no duplicates")
    func plain() async throws {
      try surroundings.write("people.json", "[{\"name\": \"Ada\"},\n {\"name\": \"Ada\"}]")
      try surroundings.write("cities.json", "{\"SF\": {\"state\": \"CA\"}, \"LA\": {\"state\": \"CA\"}}")
      for _ in 1...2 {
        #expect(try await hearth("import", path("people.json"), "--into", "people").status == 0)
        #expect(try await hearth("import", path("cities.json"), "--into", "cities").status == 0)
      }
      #expect(try await hearth("export", "people").lines.count == 2)
      let cities = try await hearth("export", "cities", "--format", "json")
      #expect(
        cities.output == """
          [
          {"path": "cities/LA", "data": {"state": "CA"}},
          {"path": "cities/SF", "data": {"state": "CA"}}
          ]

          """)
    }

    @Test("An invalid line stops the import, or is saved to a file with --keep-going")
    func badLines() async throws {
      try surroundings.write("in.jsonl", "\(lines(2)){\"path\": \"c/x\", \"data\": {\"a\": }}\n\(lines(3))")
      let checked = try await hearth("import", path("in.jsonl"), "--dry-run")
      #expect(checked.status == 65 && checked.errors.contains("line 3, column 31"), "\(checked.errors)")
      let all = try await hearth("import", path("in.jsonl"), "--dry-run", "--keep-going")
      #expect(all.status == 65 && all.errors.contains("5 documents can be imported"), "\(all.errors)")
      #expect(!FileManager.default.fileExists(atPath: path("in.jsonl.rejected")))
      #expect(try await hearth("export", "c").output == "")
      let stopped = try await hearth("import", path("in.jsonl"))
      #expect(
        stopped.status == 65 && stopped.errors.contains("line 3, column 31") && stopped.errors.contains("2 documents"))
      #expect(try await hearth("export", "c").output == lines(2))
      let kept = try await hearth("import", path("in.jsonl"), "--keep-going", "--quiet")
      #expect(kept.status == 65 && kept.hasOneErrorLine && kept.errors.contains(".rejected"))
      #expect(try surroundings.text("in.jsonl.rejected") == "{\"path\": \"c/x\", \"data\": {\"a\": }}\n")
      #expect(try await hearth("export", "c").output == lines(3))
    }

    @Test("CSV and TSV printed by get can be imported, with types shown by --dry-run")
    func rows() async throws {
      for id in ["a", "b"] {
        #expect(try await hearth("set", "c/\(id)", "n=5", "m.x=one, two", "zip=string:01").status == 0)
      }
      for format in ["csv", "tsv"] {
        let printed = try await hearth("get", "c", "--\(format)")
        try surroundings.write("in.\(format)", printed.output)
        let checked = try await hearth("import", path("in.\(format)"), "--dry-run")
        #expect(checked.status == 0 && checked.errors.contains("columns: m.x string, n integer, zip string."))
        #expect(try await hearth("delete", "c", "--recursive", "--yes").status == 0)
        #expect(try await hearth("import", path("in.\(format)")).status == 0)
        #expect(try await hearth("get", "c", "--\(format)").output == printed.output)
      }
      let wrong = try await hearth("export", "c", "-o", path("out.csv"))
      #expect(wrong.status == 64 && wrong.hasOneErrorLine && wrong.errors.contains("hearth get"))
    }

    @Test("The format of standard input is recognized and reported")
    func recognizedInputs() async throws {
      let array = try await hearth(
        "import", "-", "--into", "a", "--id-field", "id", input: "[{\"id\": \"x\", \"n\": 1}]")
      #expect(array.status == 0, "\(array.errors)")
      let rows = try await hearth("import", "-", "--into", "a", "--id-field", "id", input: "id,ok\ny,TRUE\nz,FALSE\n")
      #expect(rows.status == 0, "\(rows.errors)")
      let tree = #"{"b": {"u": {"at": {"_seconds": 1, "_nanoseconds": 0}}}}"#
      let dry = try await hearth("import", "-", "--dry-run", input: tree)
      #expect(dry.status == 0 && dry.errors.contains("standard input: collections with documents by id (b)."))
      #expect(dry.errors.contains("read as timestamp: 1 object {\"_seconds\", \"_nanoseconds\"}, such as at."))
      #expect(try await hearth("import", "-", "--into", "b", input: tree).status == 0)
      #expect(
        try await hearth("export", "--all").output == """
          {"path": "a/x", "data": {"id": "x", "n": 1}}
          {"path": "a/y", "data": {"id": "y", "ok": true}}
          {"path": "a/z", "data": {"id": "z", "ok": false}}
          {"path": "b/u", "data": {"at": {"$timestamp": "1970-01-01T00:00:01Z"}}}

          """)
      try surroundings.write("tree.json", tree)
      #expect(try await hearth("diff", path("tree.json"), "b").status == 0)
    }

    @Test("Duplicate paths and a file changed since the interrupted import are reported")
    func surprises() async throws {
      try surroundings.write("in.jsonl", lines(2) + lines(3) + "{")
      let stopped = try await hearth("import", path("in.jsonl"))
      #expect(stopped.status == 65 && !stopped.errors.contains("starting over"), "\(stopped.errors)")
      try surroundings.write("in.jsonl", lines(2) + lines(3))
      let run = try await hearth("import", path("in.jsonl"))
      #expect(run.status == 0 && run.errors.contains("starting over: "), "\(run.errors)")
      #expect(run.errors.contains("2 documents replaced an earlier document with the same path"), "\(run.errors)")
      #expect(try await hearth("export", "c").output == lines(3))
    }

    @Test("Status 66 reports missing input, 73 unwritable output; no partial file is left")
    func files() async throws {
      let missing = try await hearth("import", path("missing"))
      #expect(missing.status == 66 && missing.hasOneErrorLine)
      let unwritable = try await hearth("export", "--all", "-o", "/proc/hearth.jsonl")
      #expect(unwritable.status == 73 && unwritable.hasOneErrorLine)
      for absent in ["c/absent", "absent"] {
        for format in ["jsonl", "google"] {
          let run = try await hearth("export", absent, "--format", format, "-o", path("absent"))
          #expect(run.status == 4 && run.hasOneErrorLine && run.errors.contains(absent), "\(run.errors)")
        }
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder.path)
      #expect(!left.contains { $0.contains(".part-") || $0 == "absent" })
    }
  }
}
