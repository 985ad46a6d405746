// SPDX-License-Identifier: Apache-2.0
import Dashboard
import TerminalCanvas
import Testing

@Suite struct KeymapTests {
  @Test("A key means one thing in each context")
  func noConflicts() {
    let groups = Dictionary(grouping: Keymap.bindings, by: \.context)
    for (context, bindings) in groups {
      let keys = bindings.flatMap(\.keys)
      #expect(keys.count == Set(keys).count, "\(context)")
    }
  }

  @Test("Every binding has a readable key and a sentence")
  func complete() {
    for binding in Keymap.bindings {
      #expect(!binding.keys.isEmpty, "\(binding.command)")
      #expect(!binding.help.isEmpty)
    }
  }

  @Test("The motions of vi and the arrows are never taken by a pane")
  func motions() {
    let motions: [Key] = ["j", "k", "g", "G", "down", "up", "?", ":", "q", "o", "p", "tab"].compactMap { Key($0) }
    for binding in Keymap.bindings {
      guard case .pane = binding.context else { continue }
      #expect(motions.allSatisfy { !binding.keys.contains($0) }, "\(binding.command)")
    }
  }

  @Test("The printed reference names every binding of the table")
  func reference() {
    let text = KeyReference.plainText
    let table = KeyReference.markdown
    for binding in Keymap.bindings {
      #expect(text.contains(binding.help))
      if case .overlay = binding.context { continue }
      #expect(table.contains(binding.help))
    }
  }

  @Test("Help lists what the table binds here, and a search narrows it")
  func help() {
    var driver = Scenario.help.play(Size(width: 120, height: 36))

    #expect(driver.screen.contains("pause or resume"))
    driver.type("follow")
    #expect(driver.screen.contains("follow the tail"))
    #expect(!driver.screen.contains("choose a theme"))
  }
}
