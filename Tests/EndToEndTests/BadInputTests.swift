// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct UsageTests {
    /// Runs hearth on a terminal, with standard error on a file.
    private func run(_ arguments: String, _ surroundings: Surroundings) async throws -> (status: CInt, errors: String) {
      let terminal = try PseudoTerminal()
      let process = try ChildProcess(
        ["sh", "-c", "exec '\(Surroundings.hearth)' \(arguments) 2>'\(surroundings.folder.path)/errors'"],
        environment: surroundings.environment, streams: .terminal(path: terminal.path))
      let status = try await process.exitStatus()
      return (status, try surroundings.text("errors"))
    }

    @Test(
      "After a usage error the exit status is 64, and one line suggests a valid name",
      arguments: [
        ("--dmeo", "--demo"), ("--theme embr", "ember"), ("--theme gruvbox", "gruvbox-dark"),
        ("-e 'wall; offlin 30s'", "column 7: no command is called offlin; did you mean offline?"),
        ("--clients 0", "a screen has room for 1 to 4 clients"), ("--clients 5", "1 to 4 clients, as in --clients 2"),
        ("--clients x", "1 to 4 clients"), ("plain --clients 2", "'--clients'"),
        ("draw 80x24 --clients 2", "'--clients'"),
        ("-e 'client'", "client needs more: bob; add bob"),
      ])
    func usage(arguments: String, nearest: String) async throws {
      let result = try await run(arguments, Surroundings())
      #expect(result.status == 64)
      #expect(result.errors.filter { $0 == "\n" }.count == 1 && result.errors.hasSuffix("\n"), "\(result.errors)")
      #expect(result.errors.contains(nearest), "\(result.errors)")
    }

    @Test(
      "Screen options are rejected by commands without a screen",
      arguments: ["plain -e wall", "draw 80x24 -e wall", "plain --slow"])
    func withoutScreen(arguments: String) async throws {
      let result = try await run(arguments, Surroundings())
      #expect(result.status == 64 && result.errors.filter { $0 == "\n" }.count == 1, "\(result.errors)")
    }

    @Test("An unwritable log file is reported before the screen opens")
    func logFile() async throws {
      let result = try await run("--log-file /dev/null/x", Surroundings())
      #expect(
        result.status == 73 && result.errors.contains("--log-file: /dev/null/x cannot be written"), "\(result.errors)")
    }

    @Test("--demo is rejected while FIRESTORE_EMULATOR_HOST is set")
    func demo() async throws {
      let surroundings = try Surroundings()
      surroundings.environment["FIRESTORE_EMULATOR_HOST"] = "127.0.0.1:1"
      let result = try await run("--demo", surroundings)
      #expect(result.status == 64 && result.errors.contains("$FIRESTORE_EMULATOR_HOST"), "\(result.errors)")
    }

    @Test("On an unknown terminal Hearth prints one error line instead of a broken screen")
    func unknownTerminal() async throws {
      let surroundings = try Surroundings()
      surroundings.environment["TERM"] = "nonsense"
      let result = try await run("", surroundings)
      #expect(result.status != 0)
      #expect(result.errors.filter { $0 == "\n" }.count == 1 && result.errors.contains("nonsense"), "\(result.errors)")
    }

    @Test("Without a terminal at standard output the dashboard prints one error line")
    func noTerminal() async throws {
      let surroundings = try Surroundings()
      let process = try ChildProcess(
        [Surroundings.hearth], environment: surroundings.environment, streams: .pipes)
      process.closeInput()
      #expect(try await ChildProcess.all(process.output) == "")
      let errors = try await ChildProcess.all(process.errors)
      #expect(try await process.exitStatus() != 0)
      #expect(errors.filter { $0 == "\n" }.count == 1 && errors.contains("terminal"), "\(errors)")
    }
  }
}

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct BadInputTests {
    @Test("With an unusable cache the dashboard uses a memory cache and shows the reason")
    func unwritable() async throws {
      // No one may make folders there, not even root.
      let hearth = try await TmuxTerminal(["--cache", "/proc/hearth"], in: Surroundings())
      try await hearth.wait(for: "the reason") {
        $0.rows("│ cache ", "In memory only").count == 1 && $0.text.contains("/proc/hearth")
      }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test(
      "A second dashboard shares the data, uses a memory cache and names the other one")
    func shared() async throws {
      let surroundings = try Surroundings()
      #expect(try await HeadlessRun(["set", "items/a0", "{}"], surroundings).status == 0)
      let first = try await TmuxTerminal(in: surroundings)
      try await first.wait("a0")
      let second = try Surroundings()
      for name in ["XDG_DATA_HOME", "XDG_STATE_HOME"] { second.environment[name] = surroundings.environment[name] }
      let hearth = try await TmuxTerminal(in: second)
      try await hearth.wait(for: "the reason") {
        $0.rows("│ cache ", "Only the cache is in memory").count == 1 && $0.text.contains("data is shared")
          && $0.rows("│ data ", "open in hearth dashboard").count == 1
      }
      try await first.wait(for: "the guest") {
        $0.rows("│ data ", "open here, shared with hearth").count == 1
      }
      let run = try await HeadlessRun(["set", "items/a1", "{}"], surroundings)
      #expect(run.status == 0, "\(run.errors)")
      for dashboard in [first, hearth] { try await dashboard.wait("a1") }
      try await first.keys("Q")
      #expect(try await first.exitStatus() == 0)
      try await hearth.wait(for: "the data in other hands") { $0.text.contains("This process now has the data open") }
    }

    @Test("A damaged cache is moved aside, and the user is notified")
    func damaged() async throws {
      let surroundings = try Surroundings()
      let cache = surroundings.cache
      try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
      let junk = String(repeating: "this is not a database ", count: 1000)
      try Data(junk.utf8).write(to: URL(filePath: cache + "/cache.sqlite3"))

      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait(for: "the reason") { $0.text.contains("damaged") || $0.text.contains("moved") }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
      let kept = try FileManager.default.contentsOfDirectory(atPath: cache).contains {
        $0 != "cache.sqlite3" && FileManager.default.contents(atPath: "\(cache)/\($0)") == Data(junk.utf8)
      }
      #expect(kept)
    }

    @Test("Invalid JSON can be edited again, with the error's line and column")
    func json() async throws {
      let surroundings = try Surroundings()
      try await surroundings.seed("items", ["a0": "seeded"])
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.select("a0")
      let wrong = "{\n  \"name\": ]\n}\n"
      try surroundings.write("edit", wrong)
      try await hearth.keys("e")
      try await hearth.wait("line 2, column 11")
      try surroundings.write("edit", #"{"name": "right"}"#)
      try await hearth.keys("Enter")
      try await hearth.wait(for: "the second edit") { $0.rows("a0", "right").count == 1 }
      #expect(try surroundings.text("given") == wrong)
    }

    @Test("A listener on an invalid path shows the reason and keeps the editor open")
    func listener() async throws {
      let hearth = try await TmuxTerminal(["--in-memory"], in: Surroundings())
      try await hearth.wait("1 Collections")
      try await hearth.keys("4", "n")
      try await hearth.wait("from")
      try await hearth.type("orders//x")
      try await hearth.wait("orders//x")
      try await hearth.keys("Enter")
      try await hearth.wait(for: "the reason in the open editor") {
        $0.text.contains("orders//x") && $0.text.lowercased().contains("empty")
      }
    }
  }
}
