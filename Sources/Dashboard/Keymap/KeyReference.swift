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
      let bindings = Keymap.bindings.filter { $0.context == context }
      guard !bindings.isEmpty else { continue }
      if !lines.isEmpty { lines.append("") }
      lines.append(context == .always ? "In every dialog too" : context.title)
      lines += bindings.map { "  " + Self.pad($0.keyText(.ascii, limit: 9), to: 18) + $0.help }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A Markdown table of what can be pressed on the screen, for the README.
  package static var markdown: String {
    var lines = ["| where | keys | what it does |", "|---|---|---|"]
    for context in order {
      if case .overlay = context { continue }
      for binding in Keymap.bindings where binding.context == context {
        let keys = binding.keys.map { "`\($0.description)`" }.joined(separator: " ").replacing("|", with: "\\|")
        lines.append("| \(context.title) | \(keys) | \(binding.help) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
  }
}
