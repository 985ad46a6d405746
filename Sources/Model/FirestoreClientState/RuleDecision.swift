// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The decision that a server's security rules made about one request.
package struct RuleDecision: Hashable, Sendable {
  /// The number of the decision. The server counts its decisions from 1.
  package var number: Int
  package var time: Timestamp
  /// The method of the request: `get`, `list`, `create`, `update` or `delete`.
  package var method: String
  /// The path of the document. For `list`, the path of the collection.
  package var path: ResourcePath
  /// The id of the signed-in user; `nil` if the request is not authenticated.
  package var user: String?
  package var isAllowed: Bool
  /// The line of the statement that determined the decision; `nil` if no statement matched.
  package var line: Int?
  /// The reason for the denial, or a warning about a list that was allowed.
  package var reason: String
  /// The time that the server spent on the rules, in milliseconds; `nil` if the server does not report it.
  package var milliseconds: Double?
  /// The evaluated statements, in order; `nil` if the server does not report them.
  package var statements: [Statement]?

  package init(
    number: Int, time: Timestamp, method: String, path: ResourcePath, user: String?, isAllowed: Bool, line: Int?,
    reason: String = "", milliseconds: Double? = nil, statements: [Statement]? = nil
  ) {
    self.number = number
    self.time = time
    self.method = method
    self.path = path
    self.user = user
    self.isAllowed = isAllowed
    self.line = line
    self.reason = reason
    self.milliseconds = milliseconds
    self.statements = statements
  }
}

extension RuleDecision {
  package enum Verdict: Hashable, Sendable {
    case allowed, denied
    /// No statement allowed the request, and evaluating the last statement failed.
    case failed
  }

  /// An `allow` statement that was evaluated.
  package struct Statement: Hashable, Sendable {
    package var line: Int
    /// The source of the statement, on one line; empty if unknown.
    package var text: String
    /// Whether the condition was true; `nil` if evaluating it failed.
    package var isTrue: Bool?
    /// The reason why evaluating the condition failed.
    package var message: String
    package var values: [SeenValue]

    package init(line: Int, text: String, isTrue: Bool?, message: String = "", values: [SeenValue] = []) {
      self.line = line
      self.text = text
      self.isTrue = isTrue
      self.message = message
      self.values = values
    }
  }

  /// A part of a condition, and the value to which it evaluated.
  package struct SeenValue: Hashable, Sendable {
    package var expression: String
    /// The value as a literal, or the reason why there is no value.
    package var value: String
    /// Whether evaluating the part failed, so that there is no value.
    package var isFailure: Bool

    package init(_ expression: String, _ value: String, isFailure: Bool = false) {
      self.expression = expression
      self.value = value
      self.isFailure = isFailure
    }
  }

  package var verdict: Verdict {
    if isAllowed { return .allowed }
    return statements?.last.map { $0.isTrue == nil } == true ? .failed : .denied
  }
}
