// SPDX-License-Identifier: Apache-2.0

import Foundation
import TerminalCanvas
import Testing

@testable import TerminalTheme

@Suite struct ThemeFileTests {
  private static let head = "schema = 1\n[palette]\nfg = \"#fff\"\nbg = \"#000000\"\n"

  private func parse(_ text: String) throws(ThemeError) -> ThemeSource {
    try ThemeParser.parse(text, file: "x.toml", slug: "x")
  }

  @Test(
    "A mistake in a theme file is reported with line and reason",
    arguments: [
      ("schema = 1\nname = [\n", "x.toml:2: this array has no end"), ("name = \"x\"\n", "x.toml:1: schema"),
      ("schema = 2\n", "x.toml:1: schema must"),
      ("schema = 1\nname = 3\n", "x.toml:2: name must be a string"),
      ("schema = 1\n\nvariant = \"grey\"", "x.toml:3: variant"),
      ("schema = 1\ncvd = 1", "x.toml:2: cvd"), ("schema = 1\nbackground = \"x\"", "x.toml:2: background"),
      ("schema = 1\nglyphs = 3", "x.toml:2: glyphs must be a table"),
      (
        head + "[glyphs]\nborder = \"double\"",
        "x.toml:6: border must be one of \"rounded\", \"single\", \"none\", \"ascii\""
      ),
      ("schema = 1\npalette = 3", "x.toml:2: palette"),
      ("schema = 1\n[palette]\nfg = \"#ff\"", "x.toml:3: fg: invalid color \"#ff\""),
      ("schema = 1\n[palette]\n\"a b\" = 3", "x.toml:3: a b must be"),
      ("schema = 1\n[palette]\nfg = { hex = 1 }", "x.toml:3: fg: hex"),
      ("schema = 1\n[palette]\nfg = { hex = \"#fff\", c256 = 3 }", "x.toml:3: fg: c256"),
      ("schema = 1\n[palette]\nfg = { hex = \"#fff\", c16 = \"mauve\" }", "x.toml:3: fg: c16"),
      ("schema = 1\n[palette]\nfg = { hex = \"#fff\", c88 = 1 }", "x.toml:3: fg: unknown key c88"),
      (head + "[roles]\n\"text\" = 1", "x.toml:6: text must be"),
      (head + "[roles]\n'ok' = { fg = 1 }", "x.toml:6: ok: fg"),
      (head + "[roles]\nok = { attrs = [\"blink\"] }", "x.toml:6: ok: unknown attribute \"blink\""),
      (head + "[roles]\nok = { attrs = \"bold\" }", "x.toml:6: ok: attributes"),
      (head + "[roles]\nok = { mono = [1] }", "x.toml:6: ok: use"),
      (
        head + "[roles]\n\n\"change.added\" = \"fgg\"",
        "x.toml:7: change.added: \"fgg\" is not a color of the palette; did you mean \"fg\"?"
      ),
      ("schema = 1\n[palette]\nfg = \"#fff\"", "x.toml: [palette] must define fg and bg"),
    ])
  func errors(text: String, message: String) {
    #expect {
      _ = try parse(text).theme()
    } throws: { error in
      "\(error)".hasPrefix(message)
    }
  }

  @Test(
    "An unknown name in a theme is a warning with a suggestion",
    arguments: [
      (
        Self.head + "[roles]\n\"change.aded\" = \"fg\"",
        "x.toml:6: warning: unknown role change.aded; did you mean change.added?"
      ),
      (Self.head + "[roles]\n\"xyzzyxyzzy\" = \"fg\"", "x.toml:6: warning: unknown role xyzzyxyzzy"),
      (
        Self.head + "[glyphs]\nbordr = \"none\"", "x.toml:6: warning: unknown key bordr of glyphs; did you mean border?"
      ),
      ("schema = 1\nautor = \"me\"\n", "x.toml:2: warning: unknown key autor; did you mean author?"),
      (Self.head + "[roles]\npane.title = \"fg\"", "x.toml:6: warning: pane is not a role; quote names with dots"),
      (Self.head + "[roles]\ntext.muted = \"fg\"", "x.toml:6: warning: text: unknown key muted; quote names with dots"),
    ])
  func warnings(text: String, message: String) throws {
    #expect(try parse(text).warnings.map(\.description) == [message])
  }

  @Test("A role inherits colors from itself, its parents and the palette, in this order")
  func resolution() throws {
    let theme = try parse(
      Self.head + """
        accent = { hex = "#ff8800", c256 = 215, c16 = "yellow" }
        [roles]
        accent = "accent"
        "listener.6" = { bg = "#112233", attrs = ["underline"], mono = ["bold", "italic"] }
        """
    ).theme()

    #expect(
      theme.resolved(.listener6, at: .trueColor)
        == ResolvedStyle(foreground: .rgb(RGB(255, 136, 0)), background: .rgb(RGB(17, 34, 51)), attributes: .underline))
    #expect(
      theme.resolved(.cursorGutter, at: .c256)
        == ResolvedStyle(foreground: .index(215), background: .index(16), attributes: []))
    #expect(theme.resolved(.accent, at: .sixteen).foreground == .index(3))
    #expect(
      theme.resolved(.listener6, at: .eight)
        == ResolvedStyle(foreground: .index(6), background: .terminal, attributes: []))
    #expect(theme.resolved(.listener6, at: .mono).attributes == [.bold, .italic])
    #expect(theme.resolved(.paneTitleFocus, at: .c256).attributes == [.reverse, .bold])
    #expect(theme.resolved(.text, at: .trueColor).foreground == .rgb(RGB(255, 255, 255)))
  }

  @Test("A derived theme changes the palette and keeps the roles")
  func inheritance() throws {
    let directory = try TemporaryThemes([
      "mine.toml": "schema = 1\ninherits = \"ember\"\n[palette]\naccent = \"#123456\"\n",
      "ember.toml": "schema = 1\ninherits = \"ember\"\nname = \"Warmer\"\n[palette]\nbg = \"#200000\"\n",
    ])
    let catalog = ThemeCatalog(directories: [directory.path])
    let mine = try catalog.theme(named: "mine").theme

    #expect(mine.style(of: .accent).foreground == .rgb(RGB(0x12, 0x34, 0x56), c256: nil, c16: nil))
    #expect(mine.background.rgb(at: .trueColor) == RGB(0x20, 0, 0))
    #expect(!mine.isColorBlindSafe)
    #expect(try catalog.theme(named: "ember").theme.name == "Warmer")
    #expect(catalog.slugs.last == "mine")
    #expect(catalog.slugs.count { $0 == "ember" } == 1)
  }

  @Test("Theme cycles, missing parents and unreadable files give errors with advice")
  func catalogErrors() throws {
    let directory = try TemporaryThemes([
      "a.toml": "schema = 1\ninherits = \"b\"\n", "b.toml": "schema = 1\n\ninherits = \"a\"\n",
      "c.toml": "schema = 1\ninherits = \"drakula\"\n", "d.toml": "schema = 1\ninherits = \"d\"\n",
      "big.toml": String(repeating: "#\n", count: 200_000),
    ])
    let catalog = ThemeCatalog(directories: ["/nonexistent", directory.path])
    func message(_ slug: String) -> String {
      do {
        _ = try catalog.theme(named: slug)
        return ""
      } catch { return error.description }
    }

    #expect(message("a") == "\(directory.path)/b.toml:3: a inherits from itself")
    #expect(message("c") == "\(directory.path)/c.toml:2: no theme drakula; did you mean dracula?")
    #expect(message("d").hasPrefix("\(directory.path)/d.toml:2: no theme d;"))
    #expect(message("embr") == "embr: no theme embr; did you mean ember?")
    #expect(message("../../etc/passwd").contains("no theme"))
    #expect(message("big").contains("too large"))
    #expect(
      catalog.check(atPath: "/nonexistent/x.toml").errors.map(\.description) == ["/nonexistent/x.toml: cannot be read"])
  }

  @Test("A theme check reports every error and unreadable part of a file with its line")
  func report() throws {
    let directory = try TemporaryThemes([
      "bad.toml": """
      schema = 1
      inherits = "ember"
      variant = "grey"
      [palette]
      muted = "#12"
      [roles]
      "text.muted" = "mutedd"
      "hint" = { attrs = ["blink", "bold"] }
      "nothing" = "fg"
      """,
      "dim.toml": """
      schema = 1
      inherits = "ember"
      [roles]
      "text" = "fg"
      "text.muted" = "#333333"
      """,
      "fine.toml": "schema = 1\ninherits = \"ember\"\n",
    ])
    let catalog = ThemeCatalog(directories: [directory.path])
    func path(_ name: String) -> String { "\(directory.path)/\(name).toml" }

    let bad = catalog.check(atPath: path("bad"))
    #expect(bad.theme == nil && !bad.isGood)
    #expect(bad.errors.map(\.line) == [3, 5, 8, 7])
    #expect(bad.warnings.map(\.line) == [9])
    let dim = catalog.check(atPath: path("dim"))
    #expect(dim.errors == [] && !dim.isGood)
    #expect(
      dim.lint.first?.description.hasPrefix("\(path("dim")):5: warning: contrast of text.muted: 1.") == true,
      "\(dim.lint)")
    #expect(catalog.check(atPath: path("fine")).isGood)
    #expect(catalog.ownSlugs == ["bad", "dim", "fine"])
  }

  @Test(
    "A terminal's reply about its background distinguishes dark from light",
    arguments: [
      ("11;rgb:ffff/ffff/ffff", Theme.Variant.light), ("11;rgb:1111/1414/1a1a", .dark), ("11;rgb:ff/ff/f0", .light),
      ("11;rgba:0000/0000/0000/ffff", .dark), ("11;rgb:f/f/f", .light), ("11;?", nil), ("10;rgb:ffff/ffff/ffff", nil),
      ("11;rgb:ffff/ffff", nil), ("11;rgb:-fff/ffff/ffff", nil), ("11;rgb:fffff/0/0", nil), ("", nil),
    ])
  func background(report: String, variant: Theme.Variant?) {
    #expect(Theme.Variant(backgroundReport: report) == variant)
  }

  @Test(
    "The last number of COLORFGBG distinguishes dark from light",
    arguments: [
      ("15;0", Theme.Variant.dark), ("0;15", .light), ("0;default;7", .light), ("0;8", .dark), ("0;default", nil),
      ("", nil),
    ])
  func colorFGBG(text: String, variant: Theme.Variant?) { #expect(Theme.Variant(colorFGBG: text) == variant) }

  @Test("User folders follow the XDG specification and ignore relative paths")
  func directories() {
    #expect(
      ThemeCatalog.userDirectories(environment: ["HOME": "/h", "XDG_DATA_DIRS": "/a:b:/c"]) == [
        "/h/.config/hearth/themes", "/h/.local/share/hearth/themes", "/a/hearth/themes", "/c/hearth/themes",
      ])
    #expect(
      ThemeCatalog.userDirectories(environment: ["XDG_CONFIG_HOME": "/x", "XDG_DATA_HOME": "r"]).first
        == "/x/hearth/themes")
  }

  @Test("Pane borders come from the theme file, or from the theme it inherits from")
  func border() throws {
    let directory = try TemporaryThemes([
      "plain.toml": "schema = 1\ninherits = \"nord\"\n",
      "bare.toml": "schema = 1\ninherits = \"nord\"\n[glyphs]\nborder = \"none\"\n",
      "heir.toml": "schema = 1\ninherits = \"bare\"\n",
      "single.toml": "schema = 1\ninherits = \"bare\"\n[glyphs]\nborder = \"single\"\n",
    ])
    let catalog = ThemeCatalog(directories: [directory.path])
    #expect(
      ["plain", "bare", "heir", "single"].map(catalog.border) == [nil, BorderStyle.none, BorderStyle.none, .single])
    #expect(catalog.border(of: "nord") == nil && catalog.border(of: "nothing") == nil)
  }

  @Test("Only regular files are themes, so a pipe in the folder is ignored")
  func onlyFiles() throws {
    let directory = try TemporaryThemes(["mine.toml": "schema = 1\ninherits = \"nord\"\n"])
    #expect(mkfifo("\(directory.path)/pipe.toml", 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory.path)/zero.toml", withDestinationPath: "/dev/zero")
    try FileManager.default.createDirectory(atPath: "\(directory.path)/folder.toml", withIntermediateDirectories: true)
    let catalog = ThemeCatalog(directories: [directory.path])
    #expect(catalog.ownSlugs == ["mine"])
    #expect(!catalog.has("pipe") && !catalog.slugs.contains("zero"))
    #expect(catalog.check(named: "mine")?.errors == [])
  }
}

/// Theme files in a folder of their own, removed with the value.
final class TemporaryThemes {
  let path: String

  init(_ files: [String: String]) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("themes-\(UUID().uuidString)")
    path = url.path
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, text) in files {
      try text.write(to: url.appendingPathComponent(name), atomically: false, encoding: .utf8)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
