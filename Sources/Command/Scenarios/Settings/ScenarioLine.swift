// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreText

/// A line of a scenario with a step. Rules and bundles that stand in a block are one line with all of it.
struct ScenarioLine {
  /// Counted from 1.
  var number: Int
  /// The text without white space around it.
  var text: String
  /// The lines of a block as they are written, up to its `end`; `nil` for a line without one.
  var block: [String]?

  /// The line with a number in place of a name.
  func replacing(_ name: String, by number: Int) -> ScenarioLine {
    ScenarioLine(
      number: self.number, text: text.replacing(name, with: "\(number)"),
      block: block?.map { $0.replacing(name, with: "\(number)") })
  }

  /// The words that begin a block when nothing stands behind them but, where there is one, a name.
  private static func opensBlock(_ text: String) -> Bool {
    let words = text.split(whereSeparator: \.isWhitespace)
    return words == ["rules"] || words.count == 2 && words[0] == "bundle"
  }

  /// Reads the lines of a scenario.
  /// - Returns: the first remark, and the lines that are neither empty nor a remark.
  /// - Throws: `CommandFailure` with the line of a block without an end.
  static func read(_ text: String, of name: String) throws(CommandFailure) -> (summary: String, lines: [ScenarioLine]) {
    let rows = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    var (summary, lines) = (String?.none, [ScenarioLine]())
    var index = rows.startIndex
    while index < rows.endIndex {
      let line = String(rows[index].trimming())
      index += 1
      if line.hasPrefix("#") {
        summary = summary ?? String(line.drop { $0 == "#" }.trimming())
      } else if !line.isEmpty {
        var read = ScenarioLine(number: index, text: line)
        if opensBlock(line) {
          guard let end = rows[index...].firstIndex(where: { $0.trimming() == "end" }) else {
            throw CommandFailure(.badData, "\(name), line \(index): \"\(line)\" needs an \"end\" below it.")
          }
          read.block = Array(rows[index..<end])
          index = end + 1
        }
        lines.append(read)
      }
    }
    return (summary ?? "", lines)
  }
}
