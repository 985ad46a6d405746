// SPDX-License-Identifier: Apache-2.0

/// What one decision takes and leaves to the next about the same rules: counts, and room that need not be made again.
package struct RulesRoom: Sendable {
  /// What the expressions came to in all decisions that had this room.
  package var coverage = RulesCoverage()
  var ends: [Int] = []
  var captures: [MatchedPath.Capture] = []

  package init() {}
}
