// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreTesting
import Foundation
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// What the palette runs for a typed word.
@Suite("Names in the palette")
struct PaletteNameTests {
  private let size = Size(width: 120, height: 36)

  /// The first row for a typed text.
  private func first(_ text: String, in driver: Driver) -> Palette.Item? {
    var driver = driver
    driver.press(":")
    driver.type(text)
    guard let list = driver.state.overlay?.list, case .palette(let palette) = list.content else { return nil }
    return driver.state.items(of: palette, list).first
  }

  private static let commands = (Keymap.standard.commands + Keymap.standard.unbound).filter { command in
    if case .overlay = command.context { false } else { true }
  }

  @Test("Each command's name in the palette runs that command", arguments: Set(commands.map(\.name)).sorted())
  func names(_ name: String) throws {
    let item = try #require(first(name, in: Scenario.online.play(size)))
    guard case .command(let command) = item.target else {
      Issue.record("\(name) runs \(item.title)")
      return
    }
    #expect(command.name == name)
  }

  @Test("Each palette command in the manual is found under its name")
  func manual() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources/Command/HearthCommand/Manual")
    var found: Set<String> = []
    for page in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      for match in try String(contentsOf: page, encoding: .utf8).matches(of: /`:([a-z][a-z-]+)[ `]/) {
        found.insert(String(match.1))
      }
    }
    // A request's rule and an order's direction have a colon as well.
    found.subtract(["rule", "desc"])
    #expect(found.count > 30)
    for name in found { #expect(first(name, in: Scenario.online.play(size))?.name == name, "\(name)") }
  }

  @Test("No two-letter input runs a command that quits, deletes or discards")
  func prefixes() {
    let letters = "abcdefghijklmnopqrstuvwxyz"
    var start = Scenario.online.play(size)
    start.press("o :")
    for one in letters {
      for other in letters {
        var driver = start
        driver.type("\(one)\(other)")
        driver.press("enter")
        let harm = driver.effects.filter { effect in
          switch effect {
          case .terminal(.quit): true
          case .client(let request):
            switch request {
            case .write, .edit, .undo, .redo, .cancelWrite, .dropRejected, .setWriteAside, .evict: true
            default: false
            }
          default: false
          }
        }
        #expect(harm.isEmpty, "\(one)\(other): \(harm)")
        #expect(driver.state.overlay?.kind != .confirm, "\(one)\(other)")
      }
    }
  }

  @Test("A partly typed destructive command is completed instead of run")
  func destructive() {
    var driver = Scenario.online.play(size)
    driver.press(":")
    driver.type("quit-n")
    #expect(driver.screen.contains("runs by its full name"))
    driver.press("enter")
    #expect(driver.effects.isEmpty && driver.state.overlay?.field?.text == "quit-now")
    driver.press("enter")
    #expect(driver.effects.first == .terminal(.quit(code: 0)))
  }

  @Test("A palette search matches the start of words, never letters inside them")
  func words() {
    let driver = Scenario.online.play(size)
    #expect(first("targets", in: driver)?.name == "inside")
    #expect(first("whole data", in: driver)?.name == "export-all")
    #expect(first("clm", in: driver) == nil)
    #expect(first("earing", in: driver) == nil)
  }

  @Test("A search that finds a dialog's command shows which dialog it works in")
  func dialogs() {
    #expect(first("wall-order", in: Scenario.online.play(size))?.title == "wall-order is a command of: Wall")
  }

  @Test("A palette row starts with the command's name; the selected row has a description")
  func rows() {
    var driver = Scenario.online.play(Size(width: 80, height: 24))
    driver.press(":")
    driver.type("lifetime")
    let lines = driver.screen.split(separator: "\n")
    #expect(lines.contains { $0.contains("lifetime          evict documents") && $0.contains("…") })
    #expect(driver.screen.contains("evict documents of a collection or query some time after"))
  }
}

/// A path that is only looked at.
@Suite("A visited path")
struct VisitedPathTests {
  private func visiting(_ text: String) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(":")
    driver.type("go \(text)")
    driver.press("enter")
    driver.answerWindow([], at: 5)
    return driver
  }

  @Test("Going to a missing document adds no collection to the tree")
  func document() {
    var driver = visiting("nothere/x")
    driver.press("esc")
    #expect(!driver.screen.contains("nothere"))
    #expect(driver.state.browser.visited == nil)
  }

  @Test("A visited empty collection disappears when you leave it", arguments: ["k", "esc"])
  func collection(_ key: String) {
    var driver = visiting("nothere")
    #expect(driver.screen.contains("▾ nothere"))
    driver.press(key)
    #expect(!driver.screen.contains("nothere"))
  }

  @Test("A visited collection with documents stays in the tree")
  func found() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(":")
    driver.type("go secret/x")
    driver.press("enter")
    driver.answerWindow([DashboardTests.document("secret/x", ["n": 1])], at: 5)
    driver.press("esc")
    #expect(driver.screen.contains("▾ secret"))
  }
}
