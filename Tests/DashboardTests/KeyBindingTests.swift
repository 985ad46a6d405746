// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Custom key bindings")
struct KeyBindingTests {
  private func remapped(_ bindings: KeyBinding...) -> (keymap: Keymap, problems: [String]) {
    let (keymap, problems) = Keymap.standard.remapped(bindings)
    return (keymap, problems.map { "\($0.line.map(String.init) ?? "-"): \($0.reason)" })
  }

  private func keys(_ name: String, _ context: KeyContext, in keymap: Keymap) -> String {
    (keymap.commands + keymap.unbound).first { $0.name == name && $0.context == context }?.keyText(.ascii, limit: 9)
      ?? ""
  }

  @Test("The default keymap has no conflicts")
  func standard() {
    let all = Keymap.standard.commands
    for (place, one) in all.enumerated() {
      for other in all[..<place]
      where one.context.overlaps(other.context) && (one.name != other.name || one.context == other.context) {
        #expect(one.keys.allSatisfy { !other.keys.contains($0) }, "\(one.name) and \(other.name)")
      }
    }
  }

  @Test("A custom key works globally and in every pane that has the command")
  func everywhere() {
    let (keymap, problems) = remapped(KeyBinding("edit", ["B", "f4"]), KeyBinding("toggle-network", ["O"]))

    #expect(problems == [])
    for pane in [Pane.collections, .writes, .feed, .detail] { #expect(keys("edit", .pane(pane), in: keymap) == "B f4") }
    #expect(keymap.command(for: Key(.character("O")), in: [.screen])?.name == "toggle-network")
    #expect(keymap.command(for: Key(.character("o")), in: [.screen]) == nil)
  }

  @Test("A key binding for one part of the screen overrides a global binding")
  func section() {
    let (keymap, problems) = remapped(
      KeyBinding(section: "live-feed", "edit", ["B"]), KeyBinding("edit", ["f4"]),
      KeyBinding(section: "themes", "accept", ["enter", "ctrl-j"]))

    #expect(problems == [])
    #expect(keys("edit", .pane(.feed), in: keymap) == "B")
    #expect(keys("edit", .pane(.detail), in: keymap) == "f4")
    #expect(keys("accept", .overlay(.themes), in: keymap) == "enter ctrl-j")
    #expect(keys("accept", .overlay(.palette), in: keymap) == "enter")
  }

  @Test("Custom key bindings can swap keys, remove them or add a command's first key")
  func swap() {
    let (keymap, problems) = remapped(
      KeyBinding("toggle-pause", ["o"]), KeyBinding("toggle-network", ["p"]), KeyBinding("mouse", []),
      KeyBinding("messages", ["Z"]))

    #expect(keys("toggle-pause", .screen, in: keymap) == "o")
    #expect(keymap.command(for: Key(.character("%")), in: [.screen]) == nil)
    #expect(keymap.command(for: Key(.character("Z")), in: [.screen])?.name == "messages")
    // The pane of the feed and that of the network have the same command on space, which the swap takes too.
    #expect(problems == [])
  }

  @Test("A conflicting key is rejected with its line number, and other keys are accepted")
  func conflicts() {
    let (keymap, problems) = remapped(
      KeyBinding("edit", ["p"], line: 4), KeyBinding("zoom", ["Z"], line: 5), KeyBinding("unzoom", ["Z"], line: 6))

    #expect(problems.count == 2)
    #expect(problems.first?.hasPrefix("4: edit: p is bound to toggle-pause there (") == true, "\(problems)")
    #expect(problems.last?.hasPrefix("6: unzoom: Z is bound to zoom there") == true, "\(problems)")
    #expect(keys("edit", .pane(.collections), in: keymap) == "e")
    #expect(keys("zoom", .screen, in: keymap) == "Z")
    #expect(keys("unzoom", .screen, in: keymap) == "_")
  }

  @Test(
    "An unknown command, key or section is reported with its line and a suggestion",
    arguments: [
      (KeyBinding("quit-noww", ["x"], line: 2), "2: quit-noww: unknown command; did you mean quit?"),
      (KeyBinding("follow", ["ctrl-"], line: 3), "3: follow: invalid key \"ctrl-\"; use a character, space, enter"),
      (
        KeyBinding(section: "feed", "follow", ["x"], line: 4),
        "4: feed.follow: no part of the screen is called feed; did you mean live-feed?"
      ),
      (KeyBinding("next-field", ["x"], line: 5), "5: next-field: no such command there; it belongs to [keys.question]"),
      (KeyBinding("interrupt", [], line: 6), "6: interrupt: it needs a key"),
      (
        KeyBinding(section: "question", "cancel", ["x"], line: 7),
        "7: question.cancel: dialogs use x as text or for a choice"
      ),
    ])
  func wrong(binding: KeyBinding, message: String) {
    let (keymap, problems) = remapped(binding, KeyBinding("zoom", ["Z"]))

    #expect(problems.contains { $0.hasPrefix(message) }, "\(problems)")
    #expect(keys("zoom", .screen, in: keymap) == "Z")
    #expect(!keymap.commands.contains { $0.keys.isEmpty })
  }

  @Test("Footer, help, palette and the printed reference follow custom keys")
  func follow() {
    let (keymap, _) = remapped(KeyBinding("toggle-network", ["ctrl-o"]))
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.configure(keymap)

    #expect(driver.screen.contains("ctrl-o go offline"))
    driver.press("ctrl-o")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
    driver.press("?")
    #expect(driver.screen.contains("ctrl-o"))
    driver.press("esc :")
    driver.type("go off")
    #expect(driver.screen.contains("ctrl-o"))
    let reference = KeyReference.plainText(keymap)
    #expect(
      reference.contains("ctrl-o") && reference.contains("toggle-network") && reference.contains("[keys.live-feed]"))
  }
}

extension Driver {
  mutating func configure(_ keymap: Keymap) {
    let now = DashboardPreferences(
      themes: state.configuration.themes, theme: state.screen.theme, keymap: keymap, glyphs: .unicode, isMouseOn: true)
    send(.configured(now, at: self.now))
  }
}
