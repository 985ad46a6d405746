// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel

/// The words for a request and for what rules said of it.
extension RuleDecision {
  package var pathText: String { path.isRoot ? "/" : path.text }
  package var userText: String { user ?? "nobody" }

  /// `allow`, `DENY` or `ERROR`.
  package var verdictText: String {
    switch verdict {
    case .allowed: "allow"
    case .denied: "DENY"
    case .failed: "ERROR"
    }
  }

  /// The time that the rules took: `0.18 ms`.
  package var timeText: String? {
    milliseconds.map { milliseconds in
      guard milliseconds.isFinite, milliseconds < 1_000_000 else { return "long" }
      let hundredths = Int((max(0, milliseconds) * 100).rounded())
      let fraction = String(hundredths % 100)
      return "\(hundredths / 100)." + (fraction.count < 2 ? "0" : "") + fraction + " ms"
    }
  }

  /// The request and its user, with the decision on it.
  package var sentence: String {
    let verdict = (isAllowed ? "allowed" : "denied") + (line.map { " by line \($0)" } ?? "")
    let end = isAllowed || reason.isEmpty ? "" : ": \(reason)"
    return "\(method) \(pathText) as \(userText): \(verdict)\(end)"
  }

  /// The text that a filter searches.
  var searchText: String {
    [verdictText, verdict == .failed ? "DENY" : "", userText, method, pathText, line.map { "L\($0)" } ?? "", reason]
      .joined(separator: " ")
  }

  /// A line of the account of a request.
  package struct AccountLine: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case text, rule, note, failure }

    package var kind: Kind
    package var indent = 0
    package var text: String
  }

  /// The request, and each statement that was tried with the values that its parts had.
  package var account: [AccountLine] {
    let head = AccountLine(kind: .text, text: sentence)
    guard let statements else {
      return [head, AccountLine(kind: .note, text: "This server does not tell what its rules saw.")]
    }
    return [head] + statements.flatMap(\.account)
  }
}

extension RuleDecision.Statement {
  fileprivate var account: [RuleDecision.AccountLine] {
    var lines = [
      RuleDecision.AccountLine(kind: .text, text: ""),
      RuleDecision.AccountLine(kind: .rule, text: "L\(line) \(text)"),
    ]
    lines += values.map { seen in
      RuleDecision.AccountLine(
        kind: seen.isFailure ? .failure : .text, indent: 4,
        text: "\(seen.expression) \(seen.isFailure ? "has no value:" : "=") \(seen.value)")
    }
    switch isTrue {
    case true?: lines.append(RuleDecision.AccountLine(kind: .note, indent: 4, text: "true: allowed"))
    case false?: lines.append(RuleDecision.AccountLine(kind: .note, indent: 4, text: "false: not allowed"))
    case nil: lines.append(RuleDecision.AccountLine(kind: .failure, indent: 4, text: "not allowed: \(message)"))
    }
    return lines
  }
}
