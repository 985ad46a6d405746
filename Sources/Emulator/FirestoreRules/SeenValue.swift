// SPDX-License-Identifier: Apache-2.0

/// A part of a condition, such as `request.auth.uid`, and its value in one decision, such as `"ada"`.
package struct SeenValue: Sendable, Hashable {
  /// The source of the part, on one line.
  package var expression: String
  /// The value as a literal, or the reason why the part has none.
  package var value: String
  /// Whether the part has no value.
  package var isFailure: Bool

  package init(_ expression: String, _ value: String, isFailure: Bool = false) {
    self.expression = expression
    self.value = value
    self.isFailure = isFailure
  }

  /// The maximum number of reported values of a decision. The last ones are reported, because the last expression
  /// evaluated determines the decision.
  package static let most = 16
  /// The maximum length of a reported expression, value or statement in characters.
  package static let longest = 200
}

extension Ruleset {
  /// The text of an outcome's `allow` statement, on one line; `nil` for an outcome of other rules.
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

/// The reported values of a condition's parts.
extension Evaluator {
  /// An evaluated part.
  struct Seen {
    let expression: Expression.ID
    let result: Result<RuleValue, RuleFailure>
  }

  /// The values of the parts of a condition, without literals, in the order of evaluation. For `a.b.c`, contains only
  /// the value of the whole expression, or of the part that fails.
  mutating func values(seenBy condition: Expression.ID) -> [SeenValue] {
    seen = []
    defer { seen = nil }
    // The result of the condition is already known; only the recorded parts are needed.
    do throws(RuleFailure) { _ = try holds(condition) } catch {}
    var told: [SeenValue] = []
    // Repeated calls of a function repeat values. To limit the time, only the last parts are checked for new values.
    for part in (seen ?? []).suffix(4 * SeenValue.most).reversed() where told.count < SeenValue.most {
      let value = value(of: part)
      if !told.contains(value) { told.append(value) }
    }
    return told.reversed()
  }

  private func value(of part: Seen) -> SeenValue {
    let expression = program.text(of: part.expression)
    return switch part.result {
    case .success(let value): SeenValue(expression, value.text(atMost: SeenValue.longest))
    case .failure(let failure): SeenValue(expression, failure.message.cut(to: SeenValue.longest), isFailure: true)
    }
  }

  mutating func note(_ result: Result<RuleValue, RuleFailure>, of id: Expression.ID) {
    guard isTelling(id) else { return }
    if case .success(let value) = result {
      if let owner = owner(of: id), let place = seen?.lastIndex(where: { $0.expression == owner }) {
        seen?.remove(at: place)
      }
      // A difference itself is not reported; its methods report its content.
      if case .mapDiff = value { return }
    }
    seen?.append(Seen(expression: id, result: result))
  }

  private func isTelling(_ id: Expression.ID) -> Bool {
    switch kind(of: id) {
    // The id of the database is not informative.
    case .capture(let place): captures[place].isRest || captures[place].lower != 1
    case .local, .request, .resource, .requestProperty, .property, .field, .index, .slice, .function, .builtin, .method:
      true
    default: false
    }
  }

  /// The part from which an expression takes its value.
  private func owner(of id: Expression.ID) -> Expression.ID? {
    switch kind(of: id) {
    case .property(let whole, _), .index(let whole, _), .slice(let whole, _, _): whole
    case .field(let field): field.data
    default: nil
    }
  }
}
