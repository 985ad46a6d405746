// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

/// How what is typed in `hearth shell` becomes commands and words.
@Suite struct ShellTextTests {
  private func commands(_ text: String) throws -> [[String]] {
    try ShellText.statements(in: text).map { statement in
      guard case .command(let words, _) = statement else { return ["\\"] }
      return words
    }
  }

  @Test(
    "Spaces separate words; quotes, backslashes and brackets keep them together",
    arguments: [
      ("get  cities\t--limit 10", ["get", "cities", "--limit", "10"]),
      ("get cities --where 'state == CA and x > \"5\"'", ["get", "cities", "--where", "state == CA and x > \"5\""]),
      (#"set a/b "say \"hi\" \n""#, ["set", "a/b", #"say "hi" \n"#]),
      ("get my\\ city/x\\#y", ["get", "my city/x#y"]),
      (#"set a/b {"x": [1, "}"], "y": "a ; b"}"#, ["set", "a/b", #"{"x": [1, "}"], "y": "a ; b"}"#]),
      (#"update a/b n={"$increment": 1} t=[a, b]"#, ["update", "a/b", #"n={"$increment": 1}"#, "t=[a, b]"]),
      ("get a[1]", ["get", "a[1]"]), ("set a/b x=''", ["set", "a/b", "x="]), ("hearth ls", ["ls"]),
      ("get a # what is behind it", ["get", "a"]), ("it's one'", ["its one"]),
    ])
  func words(text: String, words: [String]) throws {
    #expect(try commands(text) == [words])
  }

  @Test("Line ends and semicolons end commands, each with its line number")
  func statements() throws {
    let text = "# first\ncount a; count b\n\nset a/b {\n\"x\": 1}\n\\c prod\nget a \\\n  --limit 1"
    #expect(
      try ShellText.statements(in: text) == [
        .command(["count", "a"], line: 2), .command(["count", "b"], line: 2),
        .command(["set", "a/b", "{\n\"x\": 1}"], line: 4), .backslash(name: "c", rest: "prod", line: 6),
        .command(["get", "a", "--limit", "1"], line: 7),
      ])
    #expect(try ShellText.statements(in: " ;; \n # nothing") == [])
    #expect(try ShellText.statements(in: "\\timing;") == [.backslash(name: "timing", rest: "", line: 1)])
    #expect(try ShellText.statements(in: "\\!ls -l | wc") == [.backslash(name: "!", rest: "ls -l | wc", line: 1)])
  }

  @Test("The shell passes text after `|` to the system shell")
  func pipes() throws {
    #expect(
      try ShellText.statements(in: "get a --where 'x == \"|\"' | head -3; wc\ncount a") == [
        .piped(["get", "a", "--where", "x == \"|\""], into: "head -3; wc", line: 1), .command(["count", "a"], line: 2),
      ])
    for wrong in ["get a |", "get a || count b"] {
      #expect(throws: ShellText.Failure.self) { try ShellText.statements(in: wrong) }
    }
  }

  @Test("A backslash command uses its whole line and rejects text that it would ignore")
  func backslash() throws {
    #expect(try ShellSession.words("my\\ file;", of: .output) == ["my file"])
    #expect(try ShellSession.words("--emulator h:1", of: .connect) == ["--emulator", "h:1"])
    for (text, command, part) in [
      ("out; ls; \\o", BackslashCommand.output, "uses the whole line"), ("a b", .file, "does not take \"b\""),
      ("x", .connections, "does not take \"x\""),
    ] {
      let failure = #expect(throws: CommandFailure.self) { try ShellSession.words(text, of: command) }
      #expect(failure?.message.contains(part) == true && failure?.status == .usage, "\(failure?.message ?? "")")
    }
  }

  @Test(
    "A command of another shell suggests Hearth's equivalent",
    arguments: [
      (".tables", BackslashCommand.describe), ("show dbs", .describe), ("use shop", .connect), (".read x", .file),
    ])
  func otherShells(text: String, meant: BackslashCommand) {
    #expect(BackslashCommand.meant(by: text.split(separator: " ").map(String.init)) == meant)
    #expect(BackslashCommand.meant(by: ["ls"]) == nil && BackslashCommand.meant(by: ["show", "a"]) == nil)
  }

  @Test(
    "Unfinished shell input is reported with the start of the open part", arguments: ["'a", "\"a", "set a/b {\"x\""])
  func unfinished(text: String) {
    #expect(ShellText.isUnfinished(text))
    let failure = #expect(throws: ShellText.Failure.self) { try ShellText.statements(in: "count a\n" + text + "\n") }
    #expect(failure?.line == 2 && failure?.isUnfinished == true)
    #expect(ShellText.isUnfinished("x \\"))
  }

  @Test("Syntax of other shells is rejected with an alternative", arguments: ["||", ">", "&&", "=="])
  func foreign(sign: String) {
    let failure = #expect(throws: ShellText.Failure.self) { try ShellText.statements(in: "get a \(sign) b") }
    #expect(failure?.reason.contains("\(sign) is not supported here") == true)
    #expect(throws: Never.self) { try ShellText.statements(in: "get a '\(sign)' b") }
  }

  @Test("Completion finds the last word with its start and quote")
  func lastWord() {
    #expect(ShellText.end(of: "get ci")?.words == ["get"])
    #expect(ShellText.end(of: "get ci")?.last == ShellText.LastWord(text: "ci", start: 4))
    #expect(ShellText.end(of: "get ")?.last == ShellText.LastWord(start: 4))
    #expect(ShellText.end(of: "count a; get 'my c")?.words == ["get"])
    #expect(
      ShellText.end(of: "count a; get 'my c")?.last == ShellText.LastWord(text: "my c", start: 13, opening: .quote("'"))
    )
    #expect(ShellText.end(of: "get # ci") == nil)
  }

  @Test(
    "A completed word is quoted so that the shell reads it back unchanged",
    arguments: ["plain", "a b", "it's", #"\"#, "{x}", "é漢", "$a`"])
  func typed(text: String) throws {
    for opening in [nil, ShellText.Opening.quote("'"), .quote("\"")] {
      #expect(try commands("get " + ShellText.typed(text, in: opening)) == [["get", text]])
    }
  }
}
