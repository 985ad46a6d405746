// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Foundation
import ManualPages
import TerminalCanvas

/// A page of the manual: `hearth help TOPIC`.
struct ManualPage: Hashable, Sendable {
  let topic: String
  let source: String

  /// The title of the page, from its first heading.
  var title: String { source.split(separator: "\n").first.map { String($0.drop { $0 == "#" || $0 == " " }) } ?? topic }

  static let all = ManualPages.sources.map {
    ManualPage(topic: $0.topic, source: String(decoding: $0.source, as: UTF8.self))
  }

  static func named(_ topic: String) -> ManualPage? { all.first { $0.topic == topic } }

  /// The page that the arguments of `hearth help` request; `nil` if they request no page.
  static func asked(_ arguments: [String]) -> ManualPage? {
    guard arguments.count == 2, arguments[0] == "help" else { return nil }
    return named(arguments[1])
  }

  /// A list of the pages for the help of `hearth`, one per line.
  static var list: String {
    let lines = all.map { "  " + $0.topic.padding(toLength: 24, withPad: " ", startingAt: 0) + $0.title }
    return "PAGES OF THE MANUAL:\n" + lines.joined(separator: "\n") + "\n\n  See 'hearth help <page>'."
  }

  /// Prints the page. If a command has the same name, the options of the command are printed first. A page that is
  /// longer than the terminal is shown in the pager.
  func print() throws {
    let terminal = TerminalSize(of: STDOUT_FILENO)
    let pager = terminal == nil ? nil : Pager(environment: ProcessInfo.processInfo.environment)
    defer { pager?.close() }
    let output = pager?.file ?? .standard()
    let command = HearthCommand.configuration.subcommands.first { $0.configuration.commandName == topic }
    if let command { try output.write("\(ShownText(lines: HearthCommand.helpMessage(for: command)))\n\n") }
    let width = min(max(terminal?.columns ?? 80, 40), 100)
    let text = ManualText(width: width, paint: terminal == nil ? .none : .ofProcess())
    try output.write(text.lines(of: source).asLines())
    try output.finish()
  }
}

/// A block of a page, in the subset of Markdown that the manual uses.
enum ManualBlock: Hashable, Sendable {
  case heading(level: Int, text: String)
  case paragraph(String)
  case item(String)
  /// A table. The first row contains the titles.
  case table([[String]])
  case code([String])

  static func blocks(of source: String) -> [ManualBlock] {
    var reader = ManualReader()
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) { reader.read(String(line)) }
    return reader.finish()
  }

  /// Whether no empty line separates this block from the previous block.
  func isClose(to previous: ManualBlock) -> Bool {
    if case .item = self, case .item = previous { return true }
    return false
  }
}

/// Groups the lines of a page into blocks.
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

  /// The cells of a row. A bar after a backslash is part of its cell.
  private static func cells(_ line: String) -> [String] {
    let bar = "\u{1}"
    return line.replacing("\\|", with: bar).split(separator: "|", omittingEmptySubsequences: false)
      .dropFirst().dropLast().map { $0.replacing(bar, with: "|").trimmingPrefix(while: { $0 == " " }) }
      .map { String($0.reversed().drop { $0 == " " }.reversed()) }
  }
}

/// Formats a page as lines of text with colors. On a terminal without colors, code remains marked with back-quotes.
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

  /// A line of words, and the width of the line in columns.
  private struct Line {
    var text: ShownText = ""
    var width = 0
  }

  /// A part of the text with a single style.
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

  /// The words of a text. A word can consist of several pieces, because code can begin or end within a word.
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

  /// A text in which links are replaced. A link to another page becomes the command that prints this page. Other links
  /// become their text.
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

  /// The widths of the columns. Each column is as wide as its widest text. If the table is too wide, the widest columns
  /// are narrowed.
  /// - Returns: `nil` if the table does not fit even if each column is only as wide as its longest word.
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

  /// Writes a table that is too wide as a list. For each row, the first cell is followed by lines with the other cells,
  /// with their titles if there are several.
  private func list(_ rows: [[String]]) -> [ShownText] {
    let titles = rows.first ?? []
    return rows.dropFirst().flatMap { row in
      let others = zip(titles, row).dropFirst().map { titles.count == 2 ? $1 : "\($0): \($1)" }
      return wrapped(row.first ?? "", to: width - Self.margin).map(\.text)
        + others.flatMap { wrapped($0, to: width - Self.margin - 4) }.map { "    \($0.text)" }
    }
  }
}
