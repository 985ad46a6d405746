// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  /// Commands about whole databases.
  @Suite(.serialized) struct DatabaseCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    /// Whether this user may mount file systems.
    private static func canMount() async -> Bool {
      let process = try? ChildProcess(["unshare", "-m", "true"], environment: [:], streams: .pipes)
      return (try? await process?.exitStatus()) == 0
    }

    @Test(
      "Data on a read-only file system can be read with its WAL and is not written",
      .enabled("mounting needs root") { await canMount() })
    func readOnlyDisk() async throws {
      let data = path("data")
      let server = try await ServeProcess(surroundings, ["--data", data])
      _ = try await hearth("set", "c/a", "n=1", "--emulator", server.address)
      kill(server.process.id, SIGKILL)
      _ = try await server.process.exitStatus()
      #expect(FileManager.default.fileExists(atPath: data + "/backend.sqlite3-wal"))
      let script = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\""
      func reading(_ arguments: String...) async throws -> HeadlessRun {
        let runner = ["unshare", "-m", "sh", "-c", script, data]
        return try await HeadlessRun(arguments + ["--data", data], by: runner, surroundings)
      }

      #expect(try await reading("ls").lines == ["c"])
      let read = try await reading("get", "c/a")
      #expect(read.status == 0 && read.errors.contains("is on a read-only file system"), "\(read)")
      let exported = try await reading("export", "c")
      #expect(exported.output.contains("\"n\""), "\(exported)")
      let written = try await reading("set", "c/b", "n=2")
      #expect(written.status == 77 && written.hasOneErrorLine && written.errors.contains("read-only file system"))
      #expect(try await hearth("ls", "c", "--data", data).lines.count == 1)
    }

    @Test("Databases of other projects are listed, and suggested if a result is empty")
    func projects() async throws {
      let server = try await ServeProcess(surroundings)
      for place in [[], ["--emulator", server.address]] {
        func hearth(_ arguments: String...) async throws -> HeadlessRun {
          try await HeadlessRun(arguments + place, surroundings)
        }
        #expect(try await hearth("databases").output == "")
        _ = try await hearth("set", "c/1", "x=1", "--project", "my-app")
        _ = try await hearth("set", "c/2", "x=1", "--project", "my-app", "--database", "two")
        #expect(try await hearth("databases").lines == ["my-app/(default)", "my-app/two"])
        #expect(
          try await hearth("databases", "--json").lines.first == #"{"project": "my-app", "database": "(default)"}"#)
        for command in [
          ["ls"], ["get", "c"], ["count", "c"], ["tree"], ["stats"], ["schema", "c"], ["export", "/"],
        ] {
          let run = try await HeadlessRun(command + place, surroundings)
          #expect(run.status == 0 && run.errors.contains("Add --project my-app."), "\(command) \(run.errors)")
          #expect(try await HeadlessRun(command + ["-q"] + place, surroundings).errors == "", "\(command)")
        }
        let missing = try await hearth("get", "c/1")
        #expect(missing.status == 4 && missing.hasOneErrorLine && missing.errors.contains("Add --project my-app."))
        _ = try await hearth("set", "users/ada", "x=1")
        #expect(try await hearth("get", "user").errors.contains("Did you mean users?"))
        for command in [
          ["update", "user", "--where", "x == 1", "y=2", "--yes"], ["delete", "user", "--where", "x == 1", "--yes"],
          ["delete", "user", "--recursive", "--yes"],
        ] {
          let run = try await HeadlessRun(command + place, surroundings)
          #expect(run.status == 0 && run.errors.contains("Did you mean users?"), "\(command) \(run.errors)")
        }
      }
    }

    @Test("clear asks before emptying one database and never clears Cloud Firestore")
    func clear() async throws {
      let server = try await ServeProcess(surroundings)
      for place in [[], ["--emulator", server.address]] {
        func hearth(_ arguments: String...) async throws -> HeadlessRun {
          try await HeadlessRun(arguments + place, surroundings)
        }
        for path in ["c/1", "c/1/s/x", "d/ghost/s/y"] { _ = try await hearth("set", path, "x=1") }
        _ = try await hearth("set", "c/1", "x=1", "--project", "other")
        let asked = try await hearth("clear")
        #expect(asked.status == 64 && asked.errors.contains("Add --yes"), "\(asked.errors)")
        #expect(try await hearth("clear", "--dry-run").errors.contains("3 documents of hearth/(default) would be"))
        let cleared = try await hearth("clear", "--yes")
        #expect(cleared.status == 0 && cleared.errors.contains("3 documents deleted"), "\(cleared.errors)")
        #expect(try await hearth("databases").lines == ["other/(default)"])
        let deleted = try await hearth("delete", "/", "--recursive", "--yes")
        #expect(deleted.status == 64 && deleted.errors.contains("'hearth clear'"))
      }
      let cloud = try await HeadlessRun(["clear", "--yes", "--host", "127.0.0.1:1"], surroundings)
      #expect(cloud.status == 64 && cloud.errors.contains("production"), "\(cloud.errors)")
    }

    @Test("An export can be imported under another name from a file or pipe")
    func renamed() async throws {
      for path in ["cities/SF", "cities/SF/landmarks/x", "towns/A"] { _ = try await hearth("set", path, "x=1") }
      let all = try await hearth("export", "/").output
      #expect(all.split(separator: "\n").count == 3)
      let refused = try await hearth("import", "-", "--into", "z", input: all)
      #expect(refused.status == 65 && refused.errors.contains("--rename cities=z"), "\(refused.errors)")
      let one = try await hearth("export", "cities").output
      try surroundings.write("one.jsonl", one)
      let checked = try await hearth("import", path("one.jsonl"), "--into", "c2", "--dry-run")
      #expect(checked.lines.first == #"{"path": "c2/SF", "data": {"x": 1}}"#, "\(checked.output)\(checked.errors)")
      #expect(try await hearth("get", "c2").output == "")
      #expect(try await hearth("import", path("one.jsonl"), "--rename", "cities=c2").status == 0)
      #expect(try await hearth("import", "-", "--into", "c3", input: one).status == 0)
      #expect(try await hearth("export", "c3").output == one.replacingOccurrences(of: "cities/", with: "c3/"))
      #expect(try await hearth("get", "c2/SF/landmarks/x").status == 0)
    }

    @Test("Dry runs of import and update work on a read-only connection")
    func readOnly() async throws {
      try surroundings.write("in.jsonl", #"{"path": "c/1", "data": {}}"#)
      _ = try await hearth("set", "c/2", "x=1")
      let input = path("in.jsonl")
      let checked = try await hearth(
        "shell", "--readonly", "-c", "import \(input) --dry-run; update c --where 'x == 1' x=2 --dry-run")
      #expect(checked.status == 0, "\(checked.errors)")
      #expect(try await hearth("shell", "--readonly", "-c", "import \(input)").status == 77)
    }

    @Test("Repeating an option adds a value or is rejected")
    func repeated() async throws {
      _ = try await hearth("set", "c/1", "n=1", "t=2", "z=3")
      let both = try await hearth("get", "c", "--select", "n", "--select", "t")
      #expect(both.output == "c/1  {\"n\": 1, \"t\": 2}\n", "\(both.output)")
      let twice = try await hearth("get", "c", "--limit", "1", "--limit=2")
      #expect(twice.status == 64 && twice.errors.contains("--limit is given twice"), "\(twice.errors)")
      #expect(try await hearth("get", "c", "--where", "n == 1", "--where", "t == 2").output != "")
      let data = path("own")
      _ = try await hearth("set", "c/1", "n=1", "--data", data)
      let same = try await hearth("copy", "/", "data:\(data)", "--data", data)
      #expect(same.status == 64 && same.errors.contains("the database would be copied to itself"), "\(same.errors)")
    }

    @Test("copy, move, diff, export, import and the shell share one database syntax")
    func places() async throws {
      let folder = path("elsewhere")
      _ = try await hearth("set", "c/1", "n=1")
      #expect(try await hearth("copy", "/", "data:\(folder)", "--recursive").status == 0)
      let back = try await hearth("copy", "\(folder)/c", "restored")
      #expect(back.status == 0 && back.errors.contains("1 document copied to restored of "), "\(back.errors)")
      #expect(try await hearth("diff", "\(folder)/c", "restored").status == 0)
      let export = try await hearth("export", "\(folder)/c")
      #expect(export.output == "{\"path\": \"c/1\", \"data\": {\"n\": 1}}\n", "\(export.errors)")

      let input = path("c.jsonl")
      try export.output.write(toFile: input, atomically: true, encoding: .utf8)
      let third = path("third")
      #expect(try await hearth("import", input, "--into", "data:\(third)").status == 0)
      #expect(try await hearth("diff", folder, third).status == 0)
      #expect(try await hearth("move", "restored", "\(third)/c/1/moved").status == 0)
      #expect(try await hearth("ls").output == "c\n")
      let shell = try await hearth("shell", "-c", "\\c data:\(third)", "-c", "ls c/1")
      #expect(shell.output == "c/1/moved\n", "\(shell.output)\(shell.errors)")

      for (arguments, reason) in [
        (["copy", "/", "backup"], "use data:backup"), (["copy", "./nowhere/c", "d"], "no data in ./nowhere/c"),
        (["copy", "c", "d@-1m"], "data at an earlier time is read-only"), (["move", "c@-1m", "d"], "cannot be moved"),
        (["export", "c@-1m", "--at", "-2m"], "Remove --at"),
      ] {
        let run = try await HeadlessRun(arguments, surroundings)
        #expect(run.status != 0 && run.errors.contains(reason), "\(arguments): \(run.status) \(run.errors)")
      }
      #expect(try await hearth("ls").output == "c\n")
    }

    @Test("export and export --live print the same data, and --live with --at is rejected")
    func moment() async throws {
      _ = try await hearth("set", "c/1", "n=1")
      let run = try await hearth("export", "c")
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let live = try await hearth("export", "c", "--live")
      #expect(live.output == run.output)
      #expect(try await hearth("export", "c", "--live", "--at", "now").status == 64)
    }
  }
}
