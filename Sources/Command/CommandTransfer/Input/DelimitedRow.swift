// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
import FirestoreModel
import FirestoreText

/// One row of a file with comma- or tab-separated values.
struct DelimitedRow {
  package struct Cell: Hashable {
    var text: String
    var isQuoted = false
    /// The line of the cell in the row, counted from 1.
    var line: Int
    var column: Int
  }

  let cells: [Cell]

  /// - Throws: `JSONError` with the position in the row.
  init(_ bytes: [UInt8], _ delimiter: Delimiter) throws(JSONError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw JSONError(line: 1, column: 1, reason: "This is not UTF-8.")
    }
    cells =
      switch delimiter {
      case .quoted(let sign): try Self.quotedCells(Array(text.unicodeScalars), UnicodeScalar(sign))
      case .tab: Self.escapedCells(Array(text.unicodeScalars))
      }
  }

  // MARK: Quotes

  private static func quotedCells(
    _ scalars: [Unicode.Scalar], _ sign: Unicode.Scalar
  ) throws(JSONError) -> [Cell] {
    var cells: [Cell] = []
    var (index, line, lineStart) = (0, 1, 0)
    while true {
      var cell = Cell(text: "", line: line, column: index - lineStart + 1)
      var text = String.UnicodeScalarView()
      if index < scalars.count, scalars[index] == "\"" {
        cell.isQuoted = true
        index += 1
        while true {
          guard index < scalars.count else {
            throw JSONError(line: cell.line, column: cell.column, reason: "The quote is not closed.")
          }
          let scalar = scalars[index]
          index += 1
          if scalar == "\"" {
            guard index < scalars.count, scalars[index] == "\"" else { break }
            index += 1
          } else if scalar == "\n" {
            line += 1
            lineStart = index
          }
          text.append(scalar)
        }
        if index < scalars.count, scalars[index] != sign {
          throw JSONError(
            line: line, column: index - lineStart + 1,
            reason: "Expected a \(Delimiter.name(of: sign)) after the quoted cell. Double a quote inside the cell.")
        }
      } else {
        while index < scalars.count, scalars[index] != sign {
          text.append(scalars[index])
          index += 1
        }
      }
      cell.text = String(text)
      cells.append(cell)
      guard index < scalars.count else { return cells }
      index += 1
    }
  }

  // MARK: Tabs

  private static func escapedCells(_ scalars: [Unicode.Scalar]) -> [Cell] {
    var cells: [Cell] = []
    var start = 0
    for part in scalars.split(separator: "\t", omittingEmptySubsequences: false) {
      cells.append(Cell(text: unescaped(part), line: 1, column: start + 1))
      start += part.count + 1
    }
    return cells
  }

  private static func unescaped(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var text = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in scalars {
      if isEscaped {
        isEscaped = false
        switch scalar {
        case "t": text.append("\t")
        case "n": text.append("\n")
        case "r": text.append("\r")
        case "\\": text.append("\\")
        default: text.append(contentsOf: ["\\", scalar])
        }
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        text.append(scalar)
      }
    }
    if isEscaped { text.append("\\") }
    return String(text)
  }
}

extension Delimiter {
  /// The delimiter in a file's first row: the first comma, semicolon, tab or bar outside of quotes. Spreadsheets use
  /// semicolons if the decimal separator is a comma.
  static func recognized(in bytes: [UInt8]) -> Delimiter {
    var (found, isQuoted) = (Set<UInt8>(), false)
    for byte in bytes {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted {
        if byte == UInt8(ascii: "\n") { break }
        found.insert(byte)
      }
    }
    let sign = [",", ";", "\t", "|"].compactMap(\.utf8.first).first { found.contains($0) }
    return sign.map { .quoted($0) } ?? .comma
  }

  /// Parses the argument of `--delimiter`: one character, or a name.
  package init(parsing text: String) throws {
    let names = ["comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " "]
    let sign = Array((names[text.lowercased()] ?? text).utf8)
    guard sign.count == 1, sign[0] < 0x80, ![0x22, 0x0A, 0x0D].contains(sign[0]) else {
      throw TextError("Expected one ASCII character, such as ; or |, or the word tab.")
    }
    self = .quoted(sign[0])
  }

  /// The delimiter's name in messages.
  package var name: String {
    switch self {
    case .quoted(let sign): Self.name(of: UnicodeScalar(sign))
    case .tab: "tab"
    }
  }

  package static func name(of sign: Unicode.Scalar) -> String {
    switch sign {
    case ",": "comma"
    case ";": "semicolon"
    case "\t": "tab"
    case " ": "space"
    default: "\"\(sign)\""
    }
  }
}
