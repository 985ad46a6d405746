// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The bindings that hold where help was opened, searchable by key or word; `enter` runs the selected one.
package struct HelpList: Sendable {
  /// Where help was opened; its bindings come first.
  let contexts: [KeyContext]
  var field = TextField()
  var cursor = Cursor<Int>()

  /// The matching bindings with the pane's own first. A binding hidden by one before it is left out.
  var bindings: [Binding] {
    let filter = WordFilter(field.text)
    var taken: Set<Command> = []
    var found: [Binding] = []
    for context in contexts {
      for binding in Keymap.bindings where binding.context == context && taken.insert(binding.command).inserted {
        let text =
          binding.keys.map(\.description).joined(separator: " ") + " " + binding.help + " " + binding.command.rawValue
        if filter.matches(text) { found.append(binding) }
      }
    }
    return found
  }
}
