// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import HearthCommand

/// The README, the manual and the papers of `.github` name only what exists, and the tables of the manual all of it.
@Suite("Manual pages name only existing things")
struct PageTests {
  private let grammar: CommandGrammar

  init() throws { grammar = try #require(CommandGrammar.ofProcess) }

  @Test("The README has at most 120 lines and 1,400 words")
  func bounds() throws {
    let readme = try Page("README.md").text
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count <= 120)
    #expect(readme.split(whereSeparator: \.isWhitespace).count <= 1_400)
  }

  @Test("Links, folders, files and scripts on manual pages exist", arguments: try Page.all())
  func paths(_ page: Page) {
    for link in page.links where !page.has(link) { Issue.record("\(page.path): there is no \(link)") }
    for span in page.spans {
      let first = span.split(separator: " ").first.map(String.init) ?? ""
      let isPath = first.wholeMatch(of: /(\.ci|\.github|Sources|Tests|themes)\/[\w.\/+-]+/) != nil
      let isPage = span.wholeMatch(of: /[A-Za-z-]+\.md/) != nil
      if isPath || isPage, !page.has(first) { Issue.record("\(page.path): there is no \(first)") }
      guard first.hasPrefix(".ci/"),
        let script = try? String(contentsOf: Page.root.appending(path: first), encoding: .utf8)
      else { continue }
      for option in span.matches(of: /--[a-z][a-z-]+/) {
        #expect(script.contains(option.output), "\(page.path): \(first) has no \(option.output)")
      }
    }
  }

  @Test("Workflows call existing scripts")
  func workflows() throws {
    let folder = Page.root.appending(path: ".github/workflows")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.count > 1)
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for script in text.matches(of: /\.ci\/[\w-]+/) {
        let path = Page.root.appending(path: String(script.output)).path
        #expect(FileManager.default.isExecutableFile(atPath: path), "\(file): \(script.output)")
      }
    }
  }

  @Test("Commands and options on manual pages exist", arguments: try Page.all())
  func commands(_ page: Page) {
    for line in page.spans + page.lines {
      for words in Self.commandLines(in: line) {
        if let wrong = wrong(words) { Issue.record("\(page.path): \(wrong) in: \(line)") }
      }
    }
  }

  @Test("Options on manual pages belong to some command", arguments: try Page.all())
  func options(_ page: Page) {
    // `swift test` and the Firebase CLI have them.
    let others: Set<String> = ["--filter", "--only", "--import"]
    func names(_ command: CommandGrammar.Command) -> [String] {
      (command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.typed) + (command.subcommands ?? []).flatMap(names)
    }
    let known = Set(names(grammar.root)).union(others).union(["--help", "--version", "--generate-completion-script"])
    for span in page.spans where span.hasPrefix("--") {
      for option in span.matches(of: /--[a-z][a-z_-]+/) where !known.contains(String(option.output)) {
        Issue.record("\(page.path): no command has \(option.output)")
      }
    }
  }

  // MARK: Tables

  @Test("Keys in the manual's tables are bound to a command", arguments: ["README.md", Page.manual + "Dashboard.md"])
  func keys(_ path: String) throws {
    let bound = Set(Keymap.standard.commands.flatMap(\.keys))
    let rows = try Page(path).rows(under: "keys")
    #expect(rows.count > 9)
    for row in rows {
      for name in Page.spans(of: row[0]) {
        let key = try #require(Key(name), "\(path): \(name) is no key")
        #expect(bound.contains(key), "\(path): nothing is done by \(name)")
      }
    }
  }

  @Test("Every key in the dashboard's footer is in the manual")
  func footer() throws {
    let rows = try Page(Page.manual + "Dashboard.md").rows(under: "keys")
    let told = Set(rows.flatMap { Page.spans(of: $0[0]).compactMap { Key($0) } })
    for command in Keymap.standard.commands where command.context == .screen && command.hint != nil {
      #expect(!told.isDisjoint(with: command.keys), "\(command.name)")
    }
  }

  @Test("Every palette command in the manual exists")
  func palette() throws {
    let known = Set((Keymap.standard.commands + Keymap.standard.unbound).map(\.name))
    let rows = try Page(Page.manual + "Dashboard.md").rows(under: "command")
    #expect(rows.count > 9)
    for span in rows.flatMap({ Page.spans(of: $0[0]) + Page.spans(of: $0[1]) }) {
      guard let name = span.wholeMatch(of: /:([a-z-]+)( .*)?/)?.1 else { continue }
      #expect(known.contains(String(name)), "\(span)")
    }
  }

  @Test("The table of exit statuses matches the program")
  func statuses() throws {
    let rows = try Page(Page.manual + "Commands.md").rows(under: "exit status")
    let told = rows.flatMap { $0[0].split(separator: ",").compactMap { Int32($0.drop { $0 == " " }) } }
    #expect(Set(told) == Set(ExitStatus.allCases.map(\.rawValue)).union([0, 129, 130, 143]))
    #expect(told == told.sorted())
  }

  @Test("Every option of serve and every location option is in the manual")
  func places() throws {
    let serve = try Page(Page.manual + "Serve.md").text
    for option in grammar.root.subcommand("serve")?.options ?? [] {
      guard let name = option.preferredName?.typed, !["--help", "--version"].contains(name) else { continue }
      #expect(serve.contains("`\(name)"), "Serve.md: \(name)")
    }
    let shell = try Page(Page.manual + "Shell.md").text
    for option in grammar.root.subcommand("count")?.options ?? [] {
      guard let name = option.preferredName?.typed,
        CommandLineShape(["count", "a", name], grammar).storage.contains(name)
      else { continue }
      #expect(shell.contains("`\(name)"), "Shell.md: \(name)")
    }
  }

  @Test("The manual and the shell have the same backslash commands")
  func backslash() throws {
    let rows = try Page(Page.manual + "Shell.md").rows(under: "command")
    let told = Set(
      rows.flatMap { Page.spans(of: $0[0]).compactMap { $0.split(separator: " ").first.map(String.init) } })
    #expect(told == Set(BackslashCommand.allCases.map { "\\" + $0.rawValue }))
  }

  // MARK: Command lines

  /// The words behind `hearth` of each command in a line for a shell.
  private static func commandLines(in line: String) -> [[String]] {
    let code = line.firstRange(of: "  #").map { String(line[..<$0.lowerBound]) } ?? line
    return code.split(separator: /\s(?:&&|\|\||\||;|&)(?:\s|$)|;\s|\$\(|<\(/).compactMap { part in
      let words = part.split(separator: " ").map(String.init).drop { $0.contains("=") && !$0.hasPrefix("-") }
      return words.first == "hearth" ? Array(words.dropFirst()) : nil
    }
  }

  /// - Returns: the first command or option that there is not.
  private func wrong(_ words: [String]) -> String? {
    var command = grammar.root
    if words.first?.hasPrefix("-") == true, let dashboard = grammar.root.subcommand("dashboard") { command = dashboard }
    var isNamed = command.commandName == "dashboard"
    // What follows -- belongs to another program.
    for word in words.prefix(while: { $0 != "--" }) {
      if word.hasPrefix("-"), word.count > 1 {
        let name = word.prefix { $0 != "=" && $0 != ")" }
        if ["--help", "--version", "--generate-completion-script"].contains(name) { continue }
        if !name.dropFirst(2).allSatisfy({ $0.isLowercase || "-_".contains($0) }) { continue }
        if command.arguments?.contains(where: { $0.isCalled(String(name)) }) != true { return String(name) }
      } else if !isNamed {
        if word == "help" || word.first?.isLetter != true || word == word.uppercased() { return nil }
        guard let found = command.subcommand(word) else { return command.subcommands?.isEmpty == false ? word : nil }
        command = found
        isNamed = found.subcommands?.isEmpty != false
      }
    }
    return nil
  }
}
