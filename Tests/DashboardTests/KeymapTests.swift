// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite struct KeymapTests {
  @Test("A key has one meaning in each context")
  func noConflicts() {
    let groups = Dictionary(grouping: Keymap.standard.commands, by: \.context)
    for (context, commands) in groups {
      let keys = commands.flatMap(\.keys)
      #expect(keys.count == Set(keys).count, "\(context)")
    }
  }

  @Test("Every command has a readable key and a description")
  func complete() {
    for command in Keymap.standard.commands {
      #expect(!command.keys.isEmpty, "\(command.name)")
      #expect(!command.help.isEmpty)
    }
  }

  @Test("No pane overrides vi motions or arrow keys")
  func motions() {
    let motions: [Key] = ["j", "k", "g", "G", "down", "up", "?", ":", "q", "o", "p", "tab"].compactMap { Key($0) }
    for command in Keymap.standard.commands {
      guard case .pane = command.context else { continue }
      #expect(motions.allSatisfy { !command.keys.contains($0) }, "\(command.name)")
    }
  }

  @Test("The printed reference lists every command")
  func reference() {
    let text = KeyReference.plainText()
    for command in Keymap.standard.commands { #expect(text.contains(command.help)) }
  }

  @Test("The key hints in panes name commands that are available there", arguments: Pane.allCases)
  func hints(_ pane: Pane) {
    for name in PaneHints.names(in: pane) {
      #expect(Keymap.standard.command(named: name, in: [.pane(pane), .screen]) != nil, "\(name)")
    }
  }

  @Test("Every overlay binds Esc and Enter to a command", arguments: Overlay.Kind.allCases)
  func overlays(_ kind: Overlay.Kind) {
    for key in [Key(.escape), Key(.enter)] {
      #expect(Keymap.standard.command(for: key, in: [.overlay(kind)]) != nil, "\(key)")
    }
  }

  @Test("Help starts with twelve keys and the signs; pressing ? again shows all bindings")
  func firstPage() {
    var driver = Scenario.help.play(Size(width: 120, height: 36))
    for group in ["Look", "Change", "Network"] { #expect(driver.screen.contains(group)) }
    #expect(Keymap.firstKeys.flatMap(\.keys).count == 12)
    #expect(driver.screen.contains("go offline or online") && !driver.screen.contains("follow the tail"))
    driver.press("?")
    #expect(driver.screen.contains("follow the tail"))
    driver.press("esc")
    #expect(driver.state.overlay == nil)
  }

  @Test("The help can run the command of each key that it lists")
  func firstKey() {
    var driver = Scenario.help.play(Size(width: 120, height: 36))
    let index = Keymap.firstKeys.flatMap(\.keys).firstIndex { $0.name == "wall" } ?? 0
    driver.press(String(repeating: "down ", count: index) + "enter")
    #expect(driver.state.overlay?.kind == .wall)
  }

  @Test("Help lists the current bindings, and a search narrows them")
  func help() {
    var driver = Scenario.help.play(Size(width: 120, height: 36))

    driver.press("?")
    #expect(driver.screen.contains("pause or resume"))
    driver.type("follow")
    #expect(driver.screen.contains("follow the tail"))
    #expect(!driver.screen.contains("choose a theme"))
  }
}
