// SPDX-License-Identifier: Apache-2.0

/// The counts and reusable buffers that one decision takes and hands on to the next about the same rules.
package struct RulesRoom: Sendable {
  /// The values that the expressions had in all decisions that used this room.
  package var coverage = RulesCoverage()
  var memory = FunctionMemory()
  var ends: [Int] = []
  var captures: [MatchedPath.Capture] = []

  package init() {}
}
