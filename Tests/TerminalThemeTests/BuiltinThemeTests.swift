// SPDX-License-Identifier: Apache-2.0

import TerminalCanvas
import Testing

@testable import TerminalTheme

@Suite struct BuiltinThemeTests {
  static let slugs = ThemeCatalog().slugs

  @Test("There are fifteen built-in themes")
  func count() {
    #expect(Self.slugs.count == 15)
    #expect(Self.slugs.first == "ember")
  }

  @Test("A built-in theme loads without warnings and passes the lint", arguments: slugs)
  func lint(slug: String) throws {
    let (theme, warnings) = try ThemeCatalog().theme(named: slug)

    #expect(warnings == [])
    #expect(theme.slug == slug)
    #expect(theme.name == ThemeCatalog().name(of: slug))
    #expect(ThemeLint.findings(theme).map(\.description) == [])
  }

  @Test("Listener names, repeated values and changes are text with sufficient contrast", arguments: slugs)
  func hues(slug: String) throws {
    let theme = try ThemeCatalog().theme(named: slug).theme
    let roles = Role.allCases.filter { role in
      ["listener.", "value.", "change.", "write.", "json.", "state.", "flag."].contains { role.rawValue.hasPrefix($0) }
    }
    #expect(roles.count > 30)
    for role in roles {
      for depth in [ColorDepth.trueColor, .c256] {
        let style = theme.style(of: role)
        guard let ink = style.foreground?.rgb(at: depth), let paper = style.background?.rgb(at: depth) else { continue }
        let value = ink.contrast(to: paper)
        #expect(value >= 4.5, "\(role.rawValue) in \(slug) at \(depth): \(value)")
      }
    }
  }

  @Test(
    "A built-in theme styles every role at every color depth and distinguishes states", arguments: slugs)
  func complete(slug: String) throws {
    let theme = try ThemeCatalog().theme(named: slug).theme
    for depth in ColorDepth.allCases {
      #expect(Role.allCases.map { theme.resolved($0, at: depth) }.count == Role.allCases.count)
      for role in [Role.paneTitleFocus, .selection, .stateFault, .stateConnecting, .changeModified, .match] {
        #expect(theme.resolved(role, at: depth) != theme.resolved(.text, at: depth), "\(role) at \(depth)")
      }
    }
    #expect(
      Role.allCases.map { theme.resolved($0, at: .mono) }.allSatisfy {
        $0.foreground == .terminal && $0.background == .terminal
      })
  }

  @Test(
    "Color-blind themes distinguish added, modified and removed at both color depths",
    arguments: [("ember", 42.0, 25.0), ("paper", 26.5, 25), ("okabe-ito", 33.5, 25)])
  func colorBlindSafety(slug: String, trueColor: Double, c256: Double) throws {
    let theme = try ThemeCatalog().theme(named: slug).theme
    let roles: [Role] = [.changeAdded, .changeModified, .changeRemoved]

    #expect(theme.isColorBlindSafe)
    #expect(try #require(ThemeLint.smallestDifference(among: roles, in: theme, at: .trueColor)) >= trueColor)
    #expect(try #require(ThemeLint.smallestDifference(among: roles, in: theme, at: .c256)) >= c256)
  }

  @Test("The lint detects gray text on gray, and green next to red")
  func lintFinds() {
    func rgb(_ hex: String) -> ThemeColor { .rgb(RGB(hex: hex) ?? RGB(0, 0, 0), c256: nil, c16: nil) }
    let theme = Theme(
      slug: "bad", name: "Bad", variant: .dark, isColorBlindSafe: true, foreground: rgb("#777777"),
      background: rgb("#222222"),
      styles: [
        .changeAdded: RoleStyle(foreground: rgb("#a3be8c")), .changeRemoved: RoleStyle(foreground: rgb("#d08770")),
      ])
    let findings = ThemeLint.findings(theme).map(\.subject)

    #expect(findings.contains("contrast of text"))
    #expect(findings.contains("difference of change.added and change.removed for color-blind people"))
    #expect(!findings.contains("contrast of border"))
  }

  @Test("A tint is visible, and in 256 colors differs from the selection and other tints", arguments: slugs)
  func tints(slug: String) throws {
    let theme = try ThemeCatalog().theme(named: slug).theme
    guard slug != "monochrome" else { return }
    let roles: [Role] = [.text, .selection, .diffAdded, .diffModified, .diffRemoved]
    let papers = roles.map { theme.resolved($0, at: .c256).background }
    #expect(Set(papers).count == roles.count, "\(papers)")
    let paper = try #require(theme.style(of: .text).background?.rgb(at: .trueColor))
    for role in roles.dropFirst(2) {
      let tint = try #require(theme.style(of: role).background?.rgb(at: .trueColor))
      let channels = [(tint.red, paper.red), (tint.green, paper.green), (tint.blue, paper.blue)]
      #expect(channels.reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } >= 45, "\(role)")
    }
  }

  @Test("The monochrome theme uses no color", arguments: ColorDepth.allCases)
  func monochrome(depth: ColorDepth) throws {
    let theme = try ThemeCatalog().theme(named: "monochrome").theme

    #expect(
      Role.allCases.map { theme.resolved($0, at: depth) }.allSatisfy {
        $0.foreground == .terminal && $0.background == .terminal
      })
  }
}
