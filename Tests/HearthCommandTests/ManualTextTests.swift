// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TerminalCanvas
import TerminalTheme
import Testing

@testable import CommandOutput
@testable import HearthCommand

@Suite("Manual pages on a terminal and in a pipe")
struct ManualTextTests {
  private let plain = ManualText(width: 40, paint: .none)

  private func lines(_ source: String) -> [String] { plain.lines(of: source).map(\.text) }

  @Test("Manual paragraphs wrap at words, list items are indented, and code is unchanged")
  func prose() {
    #expect(
      lines(
        "# A page\n\nWords that are\nmore than fit on a line of it.\n\n- one\n- two with `code in it` at\n  its end\n")
        == [
          "A PAGE", "", "  Words that are more than fit on a line", "  of it.", "", "  - one",
          "  - two with `code in it` at its end",
        ])
    #expect(
      lines("```sh\nhearth  get # x | y\n\n# no heading\n```") == [
        "    hearth  get # x | y", "    ", "    # no heading",
      ])
  }

  @Test("A manual table keeps its columns and wraps cells; an escaped bar is cell text")
  func tables() {
    let source =
      "| keys | do |\n|---|---|\n| `a` `\\|` | an explanation that is longer than its column |\n| b | short |\n"
    #expect(
      lines(source) == [
        "  keys     do", "  `a` `|`  an explanation that is longer", "           than its column", "  b        short",
      ])
  }

  @Test("A manual table that is too wide for the terminal becomes a list")
  func narrowTables() {
    let source = "| a | b | c |\n|---|---|---|\n| `/emulator/v1/projects/P` | the same | and-a-long-word-of-its-own |\n"
    #expect(
      lines(source) == ["  `/emulator/v1/projects/P`", "      b: the same", "      c: and-a-long-word-of-its-own"])
  }

  @Test("Links to pages show the command to read them, and other links show their text")
  func links() {
    #expect(
      lines("See [the shell](Shell.md), [this](../x.md).") == ["  See the shell (`hearth help shell`),", "  this."])
  }

  @Test("With colors, code is colored and has no back-quotes")
  func colors() throws {
    let theme = try ThemeCatalog().theme(named: "ember").theme
    let line = try #require(ManualText(width: 40, paint: TerminalPaint(theme: theme)).lines(of: "a `key` b").first)
    #expect(line.text.contains("\u{1B}[") && !line.text.contains("`"))
    #expect(line.text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == "  a key b")
  }

  @Test(
    "No line of a manual page exceeds the terminal's width, except code", arguments: ManualPage.all.map(\.topic),
    [40, 80, 100])
  func widths(_ topic: String, _ width: Int) throws {
    let page = try #require(ManualPage.named(topic))
    for block in ManualBlock.blocks(of: page.source) {
      if case .code = block { continue }
      for line in ManualText(width: width, paint: .none).lines(ofBlock: block) {
        // A word, such as an address, is not broken.
        let isWord = !line.text.drop { $0 == " " }.contains(" ")
        #expect(isWord || SafeText.columns(of: line.text) <= width, "\(topic): \(line.text)")
      }
    }
  }

  @Test("Each manual topic has a page, is completed by name and is listed in the help")
  func topics() async throws {
    #expect(ManualPage.asked(["help", "queries"])?.title == "Queries, values, orders, durations")
    #expect(ManualPage.asked(["help"]) == nil && ManualPage.asked(["help", "theme", "check"]) == nil)
    #expect(CommandHelp.unknownTopic(["help", "queries"]) == nil)
    #expect(CommandHelp.unknownTopic(["help", "querys"])?.message.hasSuffix("The nearest is 'queries'.") == true)
    let help = CommandHelp.whole
    for page in ManualPage.all { #expect(help.contains("\n  \(page.topic)") && help.contains(page.title)) }
    let engine = CompletionEngine(grammar: try #require(CommandGrammar.ofProcess), place: { _ in nil })
    #expect(await engine.complete(["help"], "que").candidates.map(\.value) == ["queries"])
    #expect(await engine.complete(["help"], "serv").candidates.map(\.value) == ["serve"])
  }
}
