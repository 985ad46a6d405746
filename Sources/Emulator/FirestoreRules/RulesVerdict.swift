// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The result of trying one `allow` statement.
package struct RulesOutcome: Sendable, Hashable {
  package enum Result: Sendable, Hashable {
    case isTrue
    case isFalse
    /// A condition that could not be evaluated, with the reason and the place.
    case failed(message: String, line: Int, column: Int)
  }

  /// The line of the statement, counted from 1.
  package var line: Int
  package var column: Int
  package var result: Result
  /// The values of the condition's parts, as far as they are told.
  package var values: [SeenValue]

  package init(line: Int, column: Int, result: Result, values: [SeenValue] = []) {
    self.line = line
    self.column = column
    self.result = result
    self.values = values
  }
}

/// The decision about a request, with its causes.
package struct RulesVerdict: Sendable {
  package var isAllowed: Bool
  /// The statements that were tried, in their order.
  package var outcomes: [RulesOutcome]
  /// The line of the statement that allowed; of a denial the last that was tried, `nil` when none matched.
  package var decidingLine: Int?
  /// The reason for the denial, in the words of Google's emulator; empty when the request is allowed.
  package var denial: String
  /// The documents that the decision looked at with `get` and `exists`, each once; a change of one may change the
  /// decision.
  package var read: [DocumentKey]
  /// The number of documents that this decision was the first to read for the request, each counted once.
  package var accesses: Int

  package init(
    isAllowed: Bool, outcomes: [RulesOutcome] = [], decidingLine: Int? = nil, denial: String = "",
    read: [DocumentKey] = [], accesses: Int = 0
  ) {
    self.isAllowed = isAllowed
    self.outcomes = outcomes
    self.decidingLine = decidingLine
    self.denial = denial
    self.read = read
    self.accesses = accesses
  }
}
