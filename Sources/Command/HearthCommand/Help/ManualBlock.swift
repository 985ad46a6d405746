// SPDX-License-Identifier: Apache-2.0

/// A part of a page: as much of Markdown as the manual is written in.
enum ManualBlock: Hashable, Sendable {
  case heading(level: Int, text: String)
  case paragraph(String)
  case item(String)
  /// Rows of cells; the first one has the titles.
  case table([[String]])
  case code([String])

  static func blocks(of source: String) -> [ManualBlock] {
    var reader = ManualReader()
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) { reader.read(String(line)) }
    return reader.finish()
  }

  /// Whether it follows a block without an empty line between them.
  func isClose(to previous: ManualBlock) -> Bool {
    if case .item = self, case .item = previous { return true }
    return false
  }
}

/// Lines, put together to blocks.
private struct ManualReader {
  private var blocks: [ManualBlock] = []
  private var text: [String] = []
  private var isItem = false
  private var rows: [[String]] = []
  private var code: [String]?

  mutating func read(_ line: String) {
    if line.hasPrefix("```") {
      if let code { blocks.append(.code(code)) } else { endText() }
      code = code == nil ? [] : nil
    } else if code != nil {
      code?.append(line)
    } else if line.hasPrefix("|") {
      if rows.isEmpty { endText() }
      if !line.allSatisfy({ "|-: ".contains($0) }) { rows.append(Self.cells(line)) }
    } else if line.hasPrefix("#") {
      endText()
      let level = line.prefix { $0 == "#" }.count
      blocks.append(.heading(level: level, text: String(line.dropFirst(level + 1))))
    } else if line.hasPrefix("- ") {
      endText()
      (text, isItem) = ([String(line.dropFirst(2))], true)
    } else if line.isEmpty {
      endText()
    } else {
      text.append(line.hasPrefix("  ") ? String(line.dropFirst(2)) : line)
    }
  }

  mutating func finish() -> [ManualBlock] {
    endText()
    return blocks
  }

  private mutating func endText() {
    if !text.isEmpty {
      let whole = text.joined(separator: " ")
      blocks.append(isItem ? .item(whole) : .paragraph(whole))
    }
    if !rows.isEmpty { blocks.append(.table(rows)) }
    (text, isItem, rows) = ([], false, [])
  }

  /// The cells of a row; a bar behind a backslash belongs to its cell.
  private static func cells(_ line: String) -> [String] {
    let bar = "\u{1}"
    return line.replacing("\\|", with: bar).split(separator: "|", omittingEmptySubsequences: false)
      .dropFirst().dropLast().map { $0.replacing(bar, with: "|").trimmingPrefix(while: { $0 == " " }) }
      .map { String($0.reversed().drop { $0 == " " }.reversed()) }
  }
}
