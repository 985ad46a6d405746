// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The decision of a server's security rules about one request.
package struct RuleDecision: Codable, Hashable, Sendable {
  /// The decision's number, counted by the server from 1.
  package var number: Int
  package var time: Timestamp
  /// The method of the request: `get`, `list`, `create`, `update` or `delete`.
  package var method: String
  /// The document; for `list` the collection.
  package var path: ResourcePath
  /// The id of the signed-in user; `nil` if there is none.
  package var user: String?
  package var isAllowed: Bool
  /// The line of the statement that decided; `nil` if none matched.
  package var line: Int?
  /// The reason for the denial.
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
