// SPDX-License-Identifier: Apache-2.0

extension Evaluator {
  /// What comes of each of several values of which a query finds some: it is known as far as it is the same.
  mutating func each(
    _ candidates: [RuleValue], _ body: (inout Evaluator, RuleValue) throws(RuleFailure) -> RuleValue
  ) throws(RuleFailure) -> RuleValue {
    var results: [RuleValue] = []
    for (place, candidate) in candidates.enumerated() {
      do throws(RuleFailure) { results += try body(&self, candidate).candidates } catch {
        // The value that the query names fails in the emulator's words; any other leaves open what comes of it.
        throw place == 0 || error.isFinal ? error : .notKnown
      }
    }
    guard let result = RuleValue.oneOf(different: results) else { throw .notKnown }
    return result
  }
}

extension RuleValue {
  /// How many values are told apart where one is left open.
  private static let mostCandidates = 8

  /// The values that it may be.
  var candidates: [RuleValue] { if case .oneOf(let candidates) = self { candidates } else { [self] } }

  /// - Returns: `nil` for too many, and for both truths.
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
