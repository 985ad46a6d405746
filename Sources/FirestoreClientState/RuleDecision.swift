// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// What a server's security rules have decided about one request.
package struct RuleDecision: Codable, Hashable, Sendable {
  /// Counted by the server from 1.
  package var number: Int
  package var time: Timestamp
  /// `get`, `list`, `create`, `update` or `delete`.
  package var method: String
  /// The document; for `list` the collection.
  package var path: ResourcePath
  /// The user's id; `nil` for nobody.
  package var user: String?
  package var isAllowed: Bool
  /// Of the statement that decided; `nil` where none matched.
  package var line: Int?
  /// Why it was denied.
  package var reason: String

  package init(
    number: Int, time: Timestamp, method: String, path: ResourcePath, user: String?, isAllowed: Bool, line: Int?,
    reason: String = ""
  ) {
    self.number = number
    self.time = time
    self.method = method
    self.path = path
    self.user = user
    self.isAllowed = isAllowed
    self.line = line
    self.reason = reason
  }
}
