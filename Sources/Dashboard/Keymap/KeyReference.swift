// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The keymap as text for people.
package enum KeyReference {
  private static let order: [KeyContext] =
    [.screen, .always] + [Pane.collections, .writes, .network, .feed, .detail].map(KeyContext.pane)
    + Overlay.Kind.allCases.map(KeyContext.overlay)

  /// What `--print-keys` prints: a section per context, a line per binding.
  package static var plainText: String {
    var lines: [String] = []
    for context in order {
      let commands = Keymap.commands.filter { $0.context == context }
      guard !commands.isEmpty else { continue }
      if !lines.isEmpty { lines.append("") }
      lines.append(context == .always ? "In every dialog too" : context.title)
      lines += commands.map { "  " + Self.pad($0.keyText(.ascii, limit: 9), to: 18) + $0.help }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
  }
}
