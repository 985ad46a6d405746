// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreTesting
import Foundation
import TerminalCanvas
import TerminalTheme
import Testing

@testable import CommandOutput
@testable import HearthCommand

@Suite("Configuration file")
struct ConfigurationFileTests {
  private func parse(_ text: String) -> ConfigurationFile { ConfigurationFile.parse(text, name: "config.toml") }

  @Test("The file that 'hearth config' prints is valid and contains only defaults")
  func template() {
    let file = parse(ConfigurationFile.template)

    #expect(file.problems == [])
    #expect(file.theme == nil && file.mouse == true && file.glyphs == .auto && file.keys == [])
  }

  @Test("A budget and a price are accepted, and errors in them are reported by line")
  func inside() {
    let file = parse(
      """
      [budget]
      opening = "20ms"
      p99 = 5
      p98 = "5ms"
      [bill]
      reads = 0.03
      currency = "EUR"
      as-of = 2026
      """)
    #expect(file.inside?.budget.opening == .milliseconds(20) && file.inside?.budget.p99 == LatencyBudget().p99)
    #expect(file.inside?.price == ReadPrice(millionths: 30_000, currency: "EUR", asOf: ReadPrice().asOf))
    #expect(
      file.problems == [
        "config.toml:3: p99 must be a time in quotes, such as \"50ms\"",
        "config.toml:4: unknown budget \"p98\"; known budgets: opening, first-snapshot, p50 and p99",
        "config.toml:8: as-of must be a date in quotes, such as \"2025-06\"",
      ])
    #expect(parse(ConfigurationFile.template).inside == InsideSettings())
  }

  @Test("An invalid setting is reported with line and reason; all other settings apply")
  func wrong() {
    let file = parse(
      """
      theem = "nord"
      theme = "nord"
      mouse = "yes"
      glyphs = "ascii"

      [keys]
      zoom = 3
      quit = "ctrl-q"
      """)

    #expect(
      file.problems == [
        "config.toml:1: unknown setting \"theem\"; did you mean theme?", "config.toml:3: mouse must be true or false",
        "config.toml:7: zoom must be a key in quotes or a list of them",
      ])
    #expect(file.theme == "nord" && file.themeLine == 2 && file.mouse == nil && file.glyphs == .ascii)
    #expect(file.keys == [KeyBinding("quit", ["ctrl-q"], line: 8)])
  }

  @Test("Color, copy command and links can be set, and an invalid value keeps the default")
  func newer() {
    let file = parse("color = \"never\"\ncopy = \"xsel -bi\"\nlinks = true\n")
    #expect(file.problems == [] && file.color == .never && file.copy == "xsel -bi" && file.links == true)
    let wrong = parse("color = \"sometimes\"\ncopy = \"\"\nlinks = 1\n")
    #expect(
      wrong.problems == [
        "config.toml:1: color must be \"auto\", \"always\" or \"never\"",
        "config.toml:2: copy must be a command in quotes", "config.toml:3: links must be true or false",
      ])
    #expect(wrong.color == nil && wrong.copy == nil && wrong.links == nil)
  }

  @Test("The --color option overrides the configuration, which overrides the terminal")
  func color() throws {
    var preferences = Preferences.read(Paths(environment: ["HOME": "/nowhere"]))
    func depth(_ arguments: [String]) throws -> ColorDepth? {
      try AppearanceOptions.parse(arguments).depth(preferences)
    }
    #expect(try depth([]) == nil)
    #expect(try depth(["--color", "never"]) == .mono)
    preferences.file.color = .never
    #expect(try depth([]) == .mono)
    #expect(try depth(["--color", "always"]) == .trueColor)
    #expect(try depth(["--color", "auto"]) == nil, "auto on the command line is the terminal's own")
    preferences.file.color = .always
    #expect(try depth([]) == .trueColor)
  }

  @Test(
    "An invalid TOML line is skipped and reported, and the other lines apply",
    arguments: ["mouse = = true", "mouse = [", "mouse", "mouse = \"", "mouse = '''", "\u{1}"])
  func syntax(line: String) {
    let file = parse("theme = \"nord\"\n\(line)\n# a comment\n")

    #expect(file.problems.count == 1)
    #expect(file.problems.first?.hasPrefix("config.toml:2: line ignored: ") == true, "\(file.problems)")
    #expect(file.theme == "nord" && file.mouse == nil)
  }

  @Test("A configuration file that is not TOML is reported as one problem")
  func garbage() {
    let file = parse(String(repeating: "<html>\n", count: 50))

    #expect(file.problems == ["config.toml:1: not a TOML file; the file is ignored"])
  }

  @Test("Key tables apply to the whole screen or a part and record their line numbers")
  func keys() {
    let file = parse(
      """
      [keys]
      down = "j down ctrl-n"
      mouse = []
      network = { retry = "R" }
      [keys.live-feed]
      "clear-feed" = ["C", "f9"]
      """)

    #expect(file.problems == [])
    #expect(
      file.keys == [
        KeyBinding("down", ["j", "down", "ctrl-n"], line: 2), KeyBinding("mouse", [], line: 3),
        KeyBinding(section: "network", "retry", ["R"], line: 4),
        KeyBinding(section: "live-feed", "clear-feed", ["C", "f9"], line: 6),
      ])
  }

  @Test("An unreadable configuration file is reported, and a missing one is not")
  func unreadable() throws {
    let folder = try TemporaryFolder.made()
    #expect(ConfigurationFile.read(folder.path, name: "config.toml").problems.count == 1)
    #expect(ConfigurationFile.read(folder.path + "/none", name: "config.toml").problems == [])
  }
}
