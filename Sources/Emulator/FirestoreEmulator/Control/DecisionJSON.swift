// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreJSON
import FirestoreRules

/// The time that a decision took, and what its statements saw, as `…:requests` and the monitor tell it.
enum DecisionJSON {
  /// The statements that are told, the last ones; a query with many alternatives can try more.
  private static let mostStatements = 8

  /// Milliseconds in thousandths.
  static func milliseconds(of evaluation: RulesEvaluation) -> JSONSyntax {
    JSONSyntax(.double((evaluation.time / .microseconds(1)).rounded() / 1000))
  }

  /// The statements in the order in which they were tried: line, text, what came of it, and the values of its parts as
  /// far as they are known.
  static func statements(of evaluation: RulesEvaluation) -> JSONSyntax {
    JSONSyntax(
      .array(
        evaluation.verdict.outcomes.suffix(mostStatements).map { outcome in
          var members = [("line", JSONSyntax(.integer(Int64(outcome.line))))]
          if let statement = evaluation.statement(of: outcome) { members.append(("text", text(statement))) }
          switch outcome.result {
          case .isTrue: members.append(("result", text("true")))
          case .isFalse: members.append(("result", text("false")))
          case .failed(let message, _, _): members += [("result", text("error")), ("message", text(message))]
          }
          members.append(("values", JSONSyntax(.array(outcome.values.map(value)))))
          return object(members)
        }))
  }

  private static func value(_ seen: SeenValue) -> JSONSyntax {
    object([("expression", text(seen.expression)), (seen.isFailure ? "error" : "value", text(seen.value))])
  }

  private static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }

  private static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, $0.1) }))
  }
}
