// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import TerminalCanvas

/// A page as lines of text: in colours, or with the marks of its code where there are none.
struct ManualText {
  let width: Int
  let paint: TerminalPaint

  private static let margin = 2

  func lines(of source: String) -> [ShownText] {
    var lines: [ShownText] = []
    var previous: ManualBlock?
    for block in ManualBlock.blocks(of: source) {
      if let previous, !block.isClose(to: previous) { lines.append("") }
      lines += self.lines(ofBlock: block)
      previous = block
    }
    return lines
  }

  func lines(ofBlock block: ManualBlock) -> [ShownText] {
    let space = String(repeating: " ", count: Self.margin)
    switch block {
    case .heading(let level, let text):
      let bold = wrapped(level < 3 ? text.uppercased() : text, to: width)
      return bold.map { paint.text($0.text, .textStrong) }
    case .paragraph(let text): return wrapped(text, to: width - Self.margin).map { "\(space)\($0.text)" }
    case .item(let text):
      return wrapped(text, to: width - Self.margin - 2).enumerated().map { index, line in
        "\(space)\(index == 0 ? "- " : "  ")\(line.text)"
      }
    case .code(let code): return code.map { "\(space)  \(paint.text(ShownText($0), .accent))" }
    case .table(let rows): return table(rows).map { "\(space)\($0)" }
    }
  }

  // MARK: Words

  /// A line of words and its width in columns.
  private struct Line {
    var text: ShownText = ""
    var width = 0
  }

  /// A part of the text in one style.
  private struct Piece {
    var text: String
    var isCode: Bool
  }

  private func wrapped(_ text: String, to width: Int) -> [Line] {
    var lines: [Line] = [Line()]
    for word in words(of: text) {
      let wordWidth = word.reduce(0) { $0 + SafeText.columns(of: $1.text) }
      if lines[lines.count - 1].width > 0 {
        if lines[lines.count - 1].width + 1 + wordWidth > width {
          lines.append(Line())
        } else {
          lines[lines.count - 1].text = lines[lines.count - 1].text + " "
          lines[lines.count - 1].width += 1
        }
      }
      for piece in word {
        let shown = ShownText(piece.text)
        lines[lines.count - 1].text =
          lines[lines.count - 1].text + (piece.isCode ? paint.text(shown, .key) : shown)
      }
      lines[lines.count - 1].width += wordWidth
    }
    return lines
  }

  /// The words, each of one piece or more: code may begin and end within a word.
  private func words(of text: String) -> [[Piece]] {
    var words: [[Piece]] = [[]]
    let mark = paint.theme == nil ? "`" : ""
    for (index, part) in Self.withoutLinks(text).split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      let isCode = index % 2 == 1
      let shown = isCode ? mark + part + mark : part.replacing("**", with: "")
      for (number, word) in shown.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
        if number > 0 { words.append([]) }
        if !word.isEmpty { words[words.count - 1].append(Piece(text: String(word), isCode: isCode)) }
      }
    }
    return words.filter { !$0.isEmpty }
  }

  /// Links to other pages say how they are read; of others the text stays.
  private static func withoutLinks(_ text: String) -> String {
    text.replacing(/\[([^\]]+)\]\(([^)]+)\)/) { link in
      guard let page = link.2.firstMatch(of: /^([A-Z][a-z]+)\.md$/) else { return String(link.1) }
      return "\(link.1) (`hearth help \(page.1.lowercased())`)"
    }
  }

  // MARK: Tables

  private func table(_ rows: [[String]]) -> [ShownText] {
    let count = rows.map(\.count).max() ?? 0
    let cells = rows.map { row in (0..<count).map { $0 < row.count ? row[$0] : "" } }
    guard let widths = widths(of: cells) else { return list(cells) }
    return cells.enumerated().flatMap { index, row in
      let wrapped = zip(row, widths).map { self.wrapped($0, to: $1) }
      return (0..<(wrapped.map(\.count).max() ?? 0)).map { number in
        var line: ShownText = ""
        for (column, cell) in wrapped.enumerated() {
          let part = number < cell.count ? cell[number] : Line()
          let text = index == 0 ? paint.text(part.text, .textMuted) : part.text
          let isLast = column == count - 1
          line = line + text
          if !isLast { line = line + "\(String(repeating: " ", count: max(0, widths[column] - part.width) + 2))" }
        }
        return line
      }
    }
  }

  /// The widths of the columns: those of their texts, the widest made narrower until the row fits.
  /// - Returns: `nil` if it does not fit with a column for the longest word of each.
  private func widths(of rows: [[String]]) -> [Int]? {
    let columns = (rows.first ?? []).indices
    var widths = columns.map { column in rows.map { wrapped($0[column], to: .max)[0].width }.max() ?? 0 }
    let narrowest = columns.map { column in
      rows.flatMap { wrapped($0[column], to: 1).map(\.width) }.max() ?? 0
    }
    let room = width - Self.margin - 2 * (widths.count - 1)
    while widths.reduce(0, +) > room {
      let wide = columns.filter { widths[$0] > narrowest[$0] }
      guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { return nil }
      widths[widest] -= 1
    }
    return widths
  }

  /// A table that is too wide: under each first cell the others, behind their titles where there are several.
  private func list(_ rows: [[String]]) -> [ShownText] {
    let titles = rows.first ?? []
    return rows.dropFirst().flatMap { row in
      let others = zip(titles, row).dropFirst().map { titles.count == 2 ? $1 : "\($0): \($1)" }
      return wrapped(row.first ?? "", to: width - Self.margin).map(\.text)
        + others.flatMap { wrapped($0, to: width - Self.margin - 4) }.map { "    \($0.text)" }
    }
  }
}
