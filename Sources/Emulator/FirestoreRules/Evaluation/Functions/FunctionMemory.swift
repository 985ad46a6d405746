// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The results of functions that were called for earlier requests, where nothing can have changed them: most rules ask
/// the same few functions about the user (`isAdmin()`) for each request.
struct FunctionMemory: Sendable {
  /// The circumstances on which the result of a steady function depends, and nothing else does.
  struct Circumstances {
    let function: Int
    let user: RulesUser?
    let database: DatabaseID
    let documents: any RulesDocumentState
  }

  /// A result, and all that evaluating the function did besides.
  struct Call: Sendable {
    let function: Int
    let user: RulesUser?
    let database: DatabaseID
    let documents: any RulesDocumentState
    let result: Bool
    let expressions: Int
    let work: Int
    let outcomes: [SeenOutcome]
    /// The documents that were looked at, each once.
    let looks: [DocumentKey]

    fileprivate func isOf(_ circumstances: Circumstances) -> Bool {
      function == circumstances.function && documents === circumstances.documents && user == circumstances.user
        && database == circumstances.database
    }
  }

  /// The value of one expression, as it is counted.
  struct SeenOutcome: Sendable {
    let expression: Expression.ID
    let outcome: RulesCoverage.Outcome
  }

  /// The number of results that are kept: a search of them takes less than evaluating a function does.
  private static let most = 16

  private var calls: [Call] = []

  func call(_ circumstances: Circumstances) -> Call? { calls.first { $0.isOf(circumstances) } }

  mutating func add(_ call: Call) {
    // Results for documents as they were before are never asked for again.
    calls.removeAll { $0.documents !== call.documents && $0.database == call.database }
    if calls.count >= Self.most { calls.removeFirst() }
    calls.append(call)
  }
}
