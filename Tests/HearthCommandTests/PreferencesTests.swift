// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreTesting
import Foundation
import TerminalTheme
import Testing

@testable import CommandOutput
@testable import HearthCommand

@Suite("User preferences")
struct PreferencesTests {
  private let folder: TemporaryFolder
  private let paths: Paths

  init() throws {
    folder = try TemporaryFolder.made()
    paths = Paths(environment: ["HOME": folder.path])
  }

  private func choice(
    option: String? = nil, background: Theme.Variant? = nil
  ) throws -> (slug: String, source: ThemeChoice.Source, notices: [String]) {
    let preferences = Preferences.read(paths)
    let choice = try ThemeChoice.make(option: option, preferences, background: background)
    return (choice.theme.slug, choice.source, Notices.about(preferences.problems, choice, paths))
  }

  @Test("Options override the configuration, remembered choices and the terminal")
  func precedence() throws {
    #expect(try choice() == ("ember", .terminal, []))
    #expect(try choice(background: .light) == ("paper", .terminal, []))
    try RememberedChoices(theme: "nord").write(paths.memoryFile)
    #expect(try choice(background: .light) == ("nord", .remembered, []))
    try folder.write(".config/hearth/config.toml", "# mine\ntheme = \"dracula\"\n")
    #expect(try choice() == ("dracula", .configuration(line: 2), []))
    #expect(try choice(option: "okabe-ito") == ("okabe-ito", .option, []))
  }

  @Test("A missing or broken theme is reported with file and line, and Hearth continues")
  func broken() throws {
    try folder.write(".config/hearth/config.toml", "theme = \"nrod\"\n")
    #expect(
      try choice() == (
        "ember", .terminal,
        ["~/.config/hearth/config.toml:1: no theme nrod; did you mean nord? The theme is ember."]
      ))
    try folder.write(".config/hearth/themes/mine.toml", "schema = 1\ninherits = \"ember\"\n[palette]\nfg = \"#12\"\n")
    try folder.write(".config/hearth/config.toml", "theme = \"mine\"\n")
    let wrong =
      "~/.config/hearth/themes/mine.toml:4: fg: invalid color \"#12\"; use \"#rrggbb\", \"default\" or an ANSI name"
    #expect(try choice() == ("ember", .terminal, [wrong + ". The theme is ember."]))
    try folder.write(".config/hearth/config.toml", "theme = \"nord\"\n")
    #expect(try choice() == ("nord", .configuration(line: 1), [wrong]))
  }

  @Test("A broken user theme with the default's name is replaced by the built-in one")
  func brokenDefault() throws {
    try folder.write(".config/hearth/themes/ember.toml", "schema = 2\n")
    let found = try choice()
    #expect(found.slug == "ember" && found.notices == ["~/.config/hearth/themes/ember.toml:1: schema must be 1"])
  }

  @Test("A damaged file of remembered choices counts as empty and is then replaced")
  func damaged() throws {
    try folder.write(".local/state/hearth/remembered.json", "{")
    #expect(RememberedChoices.read(paths.memoryFile) == RememberedChoices())
    try RememberedChoices(theme: "nord").write(paths.memoryFile)
    #expect(RememberedChoices.read(paths.memoryFile).theme == "nord")
    try RememberedChoices(theme: "nord", commands: ["offline 30s", "theme nord"]).write(paths.memoryFile)
    #expect(RememberedChoices.read(paths.memoryFile).commands == ["offline 30s", "theme nord"])
  }

  @Test("Writing remembered choices to an unwritable file throws an error")
  func unwritable() throws {
    try folder.write(".local/state/hearth", "a file where the folder should be")
    #expect(throws: (any Error).self) { try RememberedChoices(theme: "nord").write(paths.memoryFile) }
  }

  @Test("A conflicting key is reported with file and line, and the other keys apply")
  func keys() throws {
    try folder.write(".config/hearth/config.toml", "[keys]\nzoom = \"Z\"\nedit = \"p\"\n")
    let preferences = Preferences.read(paths)

    #expect(preferences.problems.count == 1)
    #expect(
      preferences.problems.first?.hasPrefix("~/.config/hearth/config.toml:3: edit: p is bound to toggle-pause") == true)
    #expect(KeyReference.plainText(preferences.keymap).contains("  Z                 zoom "))
  }
}
