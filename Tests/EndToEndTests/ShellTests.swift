// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InShells {
  @Suite(.serialized) struct ShellTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    @Test("The shell runs lines from standard input until one fails, and prints its number")
    func script() async throws {
      let lines = """
        # cities
        set cities/SF {
          "name": "San Francisco", "population": 870000
        }
        set cities/LA name=LA population=3900000; count cities
        \\d
        get cities/nope
        count cities
        """
      let stopped = try await hearth("shell", input: lines)
      #expect(stopped.lines == ["2", "cities"] && stopped.status == 4)
      #expect(stopped.hasOneErrorLine && stopped.errors.hasPrefix("hearth: line 7: cities/nope"), "\(stopped.errors)")
      let all = try await hearth("shell", "--keep-going", input: lines)
      #expect(all.lines == ["2", "cities", "2"] && all.status == 4)
      let open = try await hearth("shell", input: "count cities\nget 'x\n")
      #expect(open.lines == ["2"] && open.status == 64 && open.errors.contains("line 2: the quote ' is not closed"))
      let file = surroundings.folder.appending(path: "commands").path
      try surroundings.write("commands", "sum cities population\nget nope/x\n")
      let included = try await hearth("shell", "-c", "\\i \(file)", "-c", "count cities")
      #expect(included.lines == ["4770000"] && included.status == 4 && included.errors.contains("commands:2: nope/x"))
      let piped = try await hearth("shell", input: "set a/b -\n")
      #expect(piped.status == 64 && piped.errors.contains("line 1: standard input contains the shell's commands"))
      let printed = surroundings.folder.appending(path: "printed").path
      let output = try await hearth("shell", "-c", "\\o \(printed)\ncount cities\n\\o\ncount cities")
      #expect(try output.lines == ["2"] && surroundings.text("printed") == "2\n")
    }

    @Test("Output can be piped or split into fields, and \\c switches the database")
    func conveniences() async throws {
      let lines = """
        set cities/SF name=SF
        set cities/LA name=LA
        ls cities | tr a-z A-Z | head -1
        count cities
        \\x
        get cities/SF
        \\x off
        \\c --project other
        count cities
        \\c -
        count cities
        """
      let run = try await hearth("shell", "-q", input: lines)
      #expect(
        run.lines == ["CITIES/LA", "2", "-[ cities/SF ]-", "name  SF", "0", "2"] && run.status == 0,
        "\(run.output)\(run.errors)")
      let refused = try await hearth(
        "shell", "--keep-going", input: "set c/1 x=1\n\\c --emulator 127.0.0.1:1\ncount c\n")
      #expect(refused.lines == ["1"] && refused.status == 69 && refused.errors.contains("refuses"), "\(refused.errors)")
    }

    @Test("\\e edits the last command and runs it again")
    func editing() async throws {
      try surroundings.write("edit", "ls c\n")
      let run = try await hearth("shell", input: "set c/1 x=1\ncount c\n\\e\n")
      #expect(run.lines == ["1", "c/1"] && run.status == 0, "\(run.output)\(run.errors)")
      #expect(try surroundings.text("given") == "count c\n")
    }

    @Test("\\watch repeats the last command, and \\copy writes and reads files")
    func repetition() async throws {
      let file = surroundings.folder.appending(path: "cities").path
      let lines = """
        \\watch
        set cities/SF name=SF n=1
        count cities | sed s/^/=/
        \\watch 0.01 3
        \\copy cities to \(file).jsonl
        \\copy cities to \(file).csv
        \\copy towns from \(file).jsonl
        \\copy towns from \(file).csv
        \\copy nope to \(file).none
        get towns
        \\watch 0
        """
      let run = try await hearth("shell", "--keep-going", input: lines)
      #expect(run.lines == ["=1", "=1", "=1", "=1", #"towns/SF  {"n": 1, "name": "SF"}"#], "\(run.output)")
      #expect(run.status == 64 && run.errors.contains("line 1: \\watch repeats the last command"), "\(run.errors)")
      #expect(run.errors.components(separatedBy: ", every 0.01 s:").count == 4, "\(run.errors)")
      #expect(run.errors.contains("line 8: ") && run.errors.contains("has a column of paths"), "\(run.errors)")
      #expect(try surroundings.text("cities.csv") == "path,n,name\ncities/SF,1,SF\n")
      #expect(try surroundings.text("cities.jsonl").hasPrefix(#"{"path": "cities/SF""#))
      let files = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder.path)
      #expect(files.filter { $0.hasPrefix("cities") }.sorted() == ["cities.csv", "cities.jsonl"])
    }

    @Test("A read-only shell rejects writes; a shell starts no server, shell or dashboard")
    func refusals() async throws {
      let written = try await hearth("shell", "--readonly", "-c", "set a/b x=1")
      #expect(written.status == 77 && written.errors == "hearth: 'set' writes, but this shell is read-only.\n")
      let others = try await hearth("shell", "--keep-going", "-c", "serve; shell; dashboard; --demo")
      #expect(others.status == 64 && others.errors.split(separator: "\n").count == 4, "\(others.errors)")
    }

    @Test("Connections are listed and used by name in commands and in the shell")
    func connections() async throws {
      try FileManager.default.createDirectory(
        at: surroundings.folder.appending(path: "config/hearth"), withIntermediateDirectories: true)
      try surroundings.write(
        "config/hearth/connections.toml",
        "[other]\ndata = \"../../other\"\n\n[fixed]\nembedded = true\nreadonly = true\n\n[bad]\nemulater = \"x\"\n")
      let list = try await hearth("connections")
      #expect(list.status == 78 && list.lines.count == 3 && list.errors.contains("connections.toml:9: [bad]"))
      #expect(try await hearth("set", "a/b", "x=1", "-C", "other").status == 0)
      #expect(try await hearth("get", "a/b", "--data", surroundings.folder.path + "/other").status == 0)
      let moved = try await hearth("shell", "--quiet", "-c", "count a; \\c other\ncount a\n\\c nope")
      #expect(moved.lines == ["0", "1"] && moved.status == 64 && moved.errors.contains("\"nope\""))
      let fixed = try await hearth("set", "a/b", "x=1", "-C", "fixed")
      #expect(fixed.status == 77 && fixed.errors.contains("'set' writes, but the connection fixed is read-only"))
      #expect(try await hearth("get", "a", "-C", "bad").status == 78)
    }

    @Test(
      "Without an option, the default connection or the environment selects the data")
    func defaultConnection() async throws {
      try FileManager.default.createDirectory(
        at: surroundings.folder.appending(path: "config/hearth"), withIntermediateDirectories: true)
      try surroundings.write(
        "config/hearth/connections.toml",
        "[other]\ndata = \"../../other\"\nproject = \"p\"\n\n[fixed]\nembedded = true\nreadonly = true\n")
      #expect(try await hearth("connections", "use", "othr").status == 64)
      let chosen = try await hearth("connections", "use", "other")
      #expect(
        chosen.status == 0 && chosen.errors.hasPrefix("hearth: other is the default: data in "), "\(chosen.errors)")
      #expect(try await hearth("connections").lines.filter { $0.hasSuffix("default") }.count == 1)
      #expect(try await hearth("connections", "list", "--json").lines[0].contains(#""default": true"#))
      #expect(try await hearth("set", "a/b", "x=1").status == 0)
      #expect(
        try await hearth("get", "a/b", "--data", surroundings.folder.path + "/other", "--project", "p").status == 0)
      #expect(try await hearth("count", "a", "--project", "q").output == "0\n")
      #expect(try await hearth("copy", "a/b", "a/c", "--to-database", "d").status == 0)
      #expect(try await hearth("count", "a", "--database", "d").output == "1\n")
      let shell = try await hearth("shell", "-c", "\\c")
      #expect(shell.errors.hasPrefix("other: data in "), "\(shell.errors)")
      #expect(try await hearth("plain", "--demo").status == 64)

      surroundings.environment["HEARTH_CONNECTION"] = "fixed"
      let refused = try await hearth("set", "a/b", "x=1")
      #expect(refused.status == 77 && refused.errors.contains("the connection fixed is read-only"))
      surroundings.environment["HEARTH_CONNECTION"] = "gone"
      let gone = try await hearth("count", "a")
      #expect(gone.status == 64 && gone.hasOneErrorLine && gone.errors.contains("$HEARTH_CONNECTION"), "\(gone.errors)")
      surroundings.environment["HEARTH_CONNECTION"] = ""
      #expect(try await hearth("count", "a").output == "0\n")
      surroundings.environment["HEARTH_CONNECTION"] = nil
      #expect(try await hearth("count", "a").output == "1\n")
      #expect(try await hearth("connections", "use", "--none").status == 0)
      #expect(try await hearth("count", "a").output == "0\n")
    }

    @Test("A sum over no documents prints 0 and says that there were none")
    func sum() async throws {
      _ = try await hearth("set", "cities/SF", "population=5")
      let swapped = try await hearth("sum", "population", "cities")
      #expect(swapped.output == "0\n" && swapped.status == 0)
      #expect(swapped.errors == "hearth: population has no documents. The collection comes first, then the field.\n")
      let absent = try await hearth("sum", "cities", "nope")
      #expect(absent.errors == "hearth: no document of cities has a number in nope.\n")
      let found = try await hearth("sum", "cities", "population")
      #expect(found.output == "5\n" && found.errors == "")
    }

    @Test("Shell completion scripts read the database and never create a database")
    func completions() async throws {
      let empty = try await hearth("__complete", "fish", "hearth", "get", "ci")
      #expect(empty.output == "" && empty.errors == "" && empty.status == 0)
      #expect(!FileManager.default.fileExists(atPath: surroundings.backend))
      _ = try await hearth("set", "cities/San Francisco", "population=5")
      _ = try await hearth("set", "citizens/a", "x=1")
      for (shell, program) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        try surroundings.write("script.\(shell)", try await hearth("--generate-completion-script", shell).output)
        guard Tools.has(program) else { continue }
        #expect(try await answers(of: shell) == ["cities/San Francisco"], "\(shell)")
      }
    }

    /// What a shell completes `hearth get cities/S` to.
    private func answers(of shell: String) async throws -> [String] {
      let folder = surroundings.folder.path
      let ask =
        switch shell {
        case "bash":
          """
          . \(folder)/script.bash; COMP_LINE='hearth get "cities/S'; COMP_POINT=${#COMP_LINE}
          _hearth hearth '"cities/S' get; printf '%s\\n' "${COMPREPLY[@]}" | tr -d '"' | sed 's/ $//'
          """
        case "zsh":
          """
          compdef() { :; }; compadd() { print -r -- "${@[-1]}"; }; . \(folder)/script.zsh
          words=(hearth get cities/S); CURRENT=3; PREFIX=cities/S; _hearth
          """
        default:
          "source \(folder)/script.fish; complete -C 'hearth get cities/S' | string split -f1 \\t | string unescape"
        }
      let process = try ChildProcess(
        [shell] + (shell == "zsh" ? ["-f"] : shell == "bash" ? ["--norc"] : ["--no-config"]) + ["-c", ask],
        environment: surroundings.environment.merging([
          "PATH":
            "\(URL(filePath: Surroundings.hearth).deletingLastPathComponent().path):\(surroundings.environment["PATH"] ?? "")"
        ]) { $1 }, streams: .pipes)
      process.closeInput()
      let output = try await ChildProcess.all(process.output)
      _ = try await process.exitStatus()
      return output.split(separator: "\n").map(String.init)
    }
  }
}

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct ShellTerminalTests {
    @Test("The shell edits, completes and recalls lines, and ctrl-c ends a watch")
    func session() async throws {
      let surroundings = try Surroundings()
      try await surroundings.seed("cities", ["SF": "San Francisco", "Sacramento": "Sacramento"])
      try FileManager.default.createDirectory(
        at: surroundings.folder.appending(path: "config/hearth"), withIntermediateDirectories: true)
      try surroundings.write("config/hearth/connections.toml", "[other]\ndata = \"../../other\"\nproduction = true\n")
      let shell = try await TmuxTerminal(["shell"], in: surroundings, width: 80, height: 24)
      try await shell.wait("embedded>")
      try await shell.type("get ci")
      try await shell.keys("Tab")
      try await shell.wait("> get cities/")
      try await shell.type("S")
      try await shell.keys("Tab")
      try await shell.wait("Sacramento  document")
      try await shell.type("F")
      try await shell.keys("Enter")
      try await shell.wait("San Francisco")
      try await shell.type("watch cities")
      try await shell.keys("Enter")
      try await shell.wait("added")
      try await shell.keys("C-c")
      try await shell.wait(for: "the prompt") { $0.lines.last { !$0.isEmpty } == "embedded>" }
      try await shell.type("count 漢x")
      try await shell.keys("Left", "BSpace", "C-a", "C-k")
      try await shell.type("\\c ot")
      try await shell.keys("Tab", "Enter")
      try await shell.wait("other hearth PRODUCTION>")
      try await shell.keys("C-r")
      try await shell.type("watch")
      try await shell.wait("search 'watch': watch cities")
      try await shell.keys("C-c", "C-c")
      try await shell.wait("^C")
      try await shell.keys("C-d")
      #expect(try await shell.exitStatus() == 0)
      #expect(try surroundings.text("state/hearth/shell-history") == "get cities/SF\nwatch cities\n\\\\c other\n")
    }
  }
}
