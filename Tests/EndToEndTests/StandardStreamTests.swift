// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct StandardStreamTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ command: String, _ redirection: String, input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(
        command.split(separator: " ").map(String.init), input: input, redirection: redirection, surroundings)
    }

    @Test("Every command exits with 74 and one error line if its output cannot be written")
    func unwritableOutput() async throws {
      let server = try await ServeProcess(surroundings)
      let commands = [
        "--help", "--version", "help get", "keys", "get a", "get a/b", "export --all", "watch a --until synced",
        "explain a", "set a/b {} --json", "play -", "--generate-completion-script bash",
        "cache indexes --suggest --emulator \(server.address)",
      ]
      _ = try await hearth("set a/b {}", "<&0")
      for (command, redirection) in commands.map({ ($0, ">/dev/full") }) + [("get a", ">&-"), ("--help", ">&-")] {
        let run = try await hearth(command, redirection, input: "set c/d {}\n")
        #expect(run.status == 74, "\(command) \(redirection) \(run.errors)")
        #expect(run.hasOneErrorLine && run.errors.contains("standard output cannot be written"), "\(run.errors)")
      }
    }

    @Test("A full or closed standard error does not change the exit status", arguments: ["/dev/full", "&-"])
    func unwritableErrors(target: String) async throws {
      #expect(try await hearth("get a/missing", "2>\(target)").status == 4)
      #expect(try await hearth("get a --limit x", "2>\(target)").status == 64)
      let lines = "{\"path\": \"a/b\", \"data\": {}}\nno document\n{\"path\": \"a/c\", \"data\": {}}\n"
      let rejects = surroundings.folder.appending(path: "rejects").path
      #expect(try await hearth("import - --rejects \(rejects)", "2>\(target)", input: lines).status == 65)
      #expect(try await hearth("get a", "2>\(target)").lines.count == 2)
      let server = try await ServeProcess(surroundings, redirection: "2>\(target)")
      #expect(try await hearth("get a/missing --emulator \(server.address)", "2>&1").status == 4)
    }

    @Test("A closed standard stream is not confused with a file opened later")
    func closed() async throws {
      try surroundings.write("in.jsonl", "{\"path\": \"a/b\", \"data\": {}}\n")
      let file = surroundings.folder.appending(path: "in.jsonl").path
      #expect(try await hearth("import \(file)", "0<&- 1>&- 2>&-").status == 0)
      #expect(try await hearth("set c/d -", "0<&-").status == 66)
      #expect(try surroundings.text("in.jsonl") == "{\"path\": \"a/b\", \"data\": {}}\n")
      #expect(try await hearth("get a", "0<&- 2>&-").lines.count == 1)
    }

    @Test("An internal error ends the program immediately without a backtrace", arguments: [SIGILL, SIGTRAP, SIGQUIT])
    func fatalSignal(signal: CInt) async throws {
      let server = try await ServeProcess(surroundings, redirection: "0<&0")
      kill(server.process.id, signal)
      #expect(try await server.process.exitStatus() == 128 + signal)
      #expect(try await ChildProcess.all(server.process.errors) == "")
    }

    @Test("Messages quote files and arguments without terminal control characters")
    func messages() async throws {
      let line = "{\"path\": \"a\\u001b]52;c;SEVBUlRI\\u0007/b/c\\u202e\", \"data\": {}}\n"
      let run = try await hearth("import - --dry-run", "2>&1", input: line)
      #expect(run.status == 65 && run.output.contains("␛]52") && run.output.contains("⟨U+202E⟩"), "\(run.output)")
      let argument = try await HeadlessRun(["get", "\u{1b}]0;x\u{7}/y/z", "--limit", "\u{1b}[2J"], surroundings)
      #expect(argument.status == 64 && argument.errors.contains("␛[2J"), "\(argument.errors)")
      for text in [run.output, argument.errors] {
        #expect(!text.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{7}" || $0 == "\u{202e}" })
      }
    }
  }
}

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct TerminalOutputTests {
    @Test("Invisible characters are escaped for a terminal and unchanged in a pipe")
    func documents() async throws {
      let surroundings = try Surroundings()
      let document = "{\"a\": \"x\u{202e}y\u{200b}z\u{e0041}\", \"b\": \"👩\u{200d}🚀 می\u{200c}خواهم\"}"
      #expect(try await HeadlessRun(["set", "c/d", document], surroundings).status == 0)
      surroundings.environment["PAGER"] = "cat"
      for command in [["get", "c/d"], ["export", "c"], ["watch", "c", "--until", "1"]] {
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
          [Surroundings.hearth] + command, environment: surroundings.environment,
          streams: .terminal(path: terminal.path))
        #expect(try await terminal.exitStatus(of: process) == 0)
        let hidden: [Unicode.Scalar] = ["\u{202e}", "\u{200b}", "\u{e0041}"]
        #expect(!terminal.text.unicodeScalars.contains(where: hidden.contains), "\(terminal.text)")
        #expect(terminal.text.contains("\"x\\u202ey\\u200bz\\udb40\\udc41\""), "\(terminal.text)")
        #expect(terminal.text.contains("👩\u{200d}🚀 می\u{200c}خواهم"), "\(terminal.text)")
      }
      #expect(try await HeadlessRun(["export", "c"], surroundings).output.contains("x\u{202e}y\u{200b}z\u{e0041}"))
    }
  }
}
