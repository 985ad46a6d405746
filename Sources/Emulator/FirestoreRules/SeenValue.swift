// SPDX-License-Identifier: Apache-2.0

/// A part of a condition with the value that it had in one decision: `request.auth.uid` and `"ada"`.
package struct SeenValue: Sendable, Hashable {
  /// The part in the words of the rules, on one line.
  package var expression: String
  /// The value as a literal, or why there is none.
  package var value: String
  /// Whether there was no value.
  package var isFailure: Bool

  package init(_ expression: String, _ value: String, isFailure: Bool = false) {
    self.expression = expression
    self.value = value
    self.isFailure = isFailure
  }

  /// The values of one decision that are told: the last ones, as the last part that was looked at decides.
  package static let most = 16
  /// The characters of an expression, of a value and of a statement that are told.
  package static let longest = 200
}

extension Ruleset {
  /// The text of the `allow` statement that an outcome is about, on one line; `nil` for an outcome of other rules.
  package func statement(of outcome: RulesOutcome) -> String? {
    for statement in program.matches.lazy.flatMap(\.allows)
    where (statement.line, statement.column) == (outcome.line, outcome.column) {
      return program.text(statement)
    }
    return nil
  }
}

extension Program {
  /// The source of an expression on one line.
  func text(of id: Expression.ID) -> String { line(expressions[id].range, of: files[id]) }

  fileprivate func text(_ statement: Allow) -> String {
    let end = statement.condition.map { expressions[$0].range.upperBound } ?? statement.range.upperBound
    return line(statement.range.lowerBound..<end, of: statement.file)
  }

  private func line(_ range: Range<Int>, of file: Int) -> String {
    let source = String(decoding: sources[file].bytes[range.prefix(8 * SeenValue.longest)], as: UTF8.self)
    let line = source.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.cut(to: SeenValue.longest)
  }
}
