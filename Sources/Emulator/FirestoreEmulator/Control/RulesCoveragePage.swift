// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreRules

/// The coverage of rules as an HTML page: their text, with each expression colored by whether it was evaluated and
/// followed by the counts of its values. The page loads nothing and runs no scripts.
struct RulesCoveragePage {
  private let project: String
  private let files: [RulesFile]
  private let nodes: [RulesCoverageNode]
  /// An additional remark on the page.
  private let note: String

  init(project: String, files: [RulesFile], nodes: [RulesCoverageNode], note: String = "") {
    self.project = project
    self.files = files
    self.nodes = nodes
    self.note = note
  }

  var html: String {
    let asked = nodes.count { !$0.values.isEmpty }
    let texts = files.enumerated().map { index, file in
      "<h2>\(Self.escaped(file.name))</h2>\n<pre>\(text(of: file, index))</pre>\n"
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>Rules of \(Self.escaped(project))</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <h1>Rules of \(Self.escaped(project))</h1>
      <p>\(asked) of \(nodes.count) expressions were evaluated since the rules were loaded. \(Self.escaped(note))</p>
      <p><span class="asked">evaluated</span> <span class="failed">evaluated, with failures</span> \
      <span class="never">never evaluated</span>: the numbers count the values of an expression.</p>
      \(texts.joined())</body>
      </html>

      """
  }

  /// The text of a file, with its expressions in nested spans.
  private func text(of file: RulesFile, _ index: Int) -> String {
    let units = Array(file.content.utf16)
    let own = nodes.filter { node in
      let position = node.position
      return position.file == index && position.currentOffset < position.endOffset && position.endOffset <= units.count
    }.sorted { left, right in
      let (left, right) = (left.position, right.position)
      return (left.currentOffset, -left.endOffset) < (right.currentOffset, -right.endOffset)
    }
    var (result, place) = ("", 0)
    var open: [RulesCoverageNode] = []
    func write(to end: Int) {
      if end > place { result += Self.escaped(String(decoding: units[place..<end], as: UTF16.self)) }
      place = max(place, end)
    }
    func close(before start: Int) {
      while let last = open.last, last.position.endOffset <= start {
        write(to: last.position.endOffset)
        result += Self.counts(of: last) + "</span>"
        open.removeLast()
      }
    }
    for node in own {
      close(before: node.position.currentOffset)
      if let last = open.last, node.position.endOffset > last.position.endOffset { continue }
      write(to: node.position.currentOffset)
      result += "<span class=\"\(Self.kind(of: node))\">"
      open.append(node)
    }
    close(before: units.count)
    write(to: units.count)
    return result
  }

  private static func kind(of node: RulesCoverageNode) -> String {
    if node.values.isEmpty { return "never" }
    return node.values.contains { $0.value == .undefined } ? "failed" : "asked"
  }

  /// The counts as text, for example `true 3, false 1`.
  private static func counts(of node: RulesCoverageNode) -> String {
    if node.values.isEmpty { return "" }
    let texts = node.values.prefix(3).map { value, count in "\(text(of: value)) \(count)" }
    let rest = node.values.count > 3 ? ", …" : ""
    return "<sup>\(escaped(texts.joined(separator: ", ") + rest))</sup>"
  }

  private static func text(of outcome: RulesCoverage.Outcome) -> String {
    guard case .value(let value) = outcome else { return "undefined" }
    let text =
      switch value {
      case .null: "null"
      case .boolean(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .double(let value): "\(value)"
      case .timestamp(let time): time.rfc3339Text
      case .string(let text): JSONSyntax(.string(text)).lineText
      case .reference(_, let key): key.path.text
      default: "a value"
      }
    return text.count > 40 ? text.prefix(40) + "…" : text
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static let style = """
    body { font: 15px/1.5 sans-serif; margin: 2em; color: #1b1b1b; background: #fff; }
    pre { font: 14px/1.7 monospace; padding: 1em; border: 1px solid #ccc; overflow: auto; }
    span { border-radius: 3px; }
    .asked { background: #d8f0d8; } .failed { background: #ffe9b0; } .never { background: #ffd6d6; }
    .never { text-decoration: underline dotted; }
    sup { font-size: 70%; color: #555; margin: 0 2px; }
    @media (prefers-color-scheme: dark) {
      body { color: #e8e8e8; background: #161616; } pre { border-color: #444; } sup { color: #aaa; }
      .asked { background: #1e4620; } .failed { background: #5a4300; } .never { background: #5c2020; }
    }
    """
}
