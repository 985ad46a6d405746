// SPDX-License-Identifier: Apache-2.0

extension Evaluator {
  /// Evaluates `body` for each candidate of a value that a query leaves open; the result is known as far as all agree.
  mutating func each(
    _ candidates: [RuleValue], _ body: (inout Evaluator, RuleValue) throws(RuleFailure) -> RuleValue
  ) throws(RuleFailure) -> RuleValue {
    var results: [RuleValue] = []
    for (place, candidate) in candidates.enumerated() {
      do throws(RuleFailure) { results += try body(&self, candidate).candidates } catch {
        // The first candidate is the query's own value, whose failure has the emulator's words; any other is not known.
        throw place == 0 || error.isFinal ? error : .notKnown
      }
    }
    guard let result = RuleValue.oneOf(different: results) else { throw .notKnown }
    return result
  }
}

extension RuleValue {
  /// The largest number of candidates that are kept for one value.
  private static let mostCandidates = 8

  /// The values that this value may have.
  var candidates: [RuleValue] { if case .oneOf(let candidates) = self { candidates } else { [self] } }

  /// - Returns: `nil` for more than `mostCandidates` results, and for both true and false.
  fileprivate static func oneOf(different results: [RuleValue]) -> RuleValue? {
    var different: [RuleValue] = []
    for result in results where !different.contains(where: { $0.isIdentical(to: result, .strict) }) {
      different.append(result)
    }
    if different.count == 1 { return different[0] }
    if case .bool? = different.first { return nil }
    return (1...mostCandidates).contains(different.count) ? .oneOf(different) : nil
  }
}
