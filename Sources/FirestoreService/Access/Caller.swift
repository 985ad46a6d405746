// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// On whose behalf a call is made, by its `authorization` (PROTOCOL §5.5).
package enum Caller: Sendable, Hashable {
  /// An administrator, whom rules do not concern.
  case owner
  /// Somebody who uses an app; `nil` for one who is not signed in.
  case user(RulesUser?)
}

/// Whom a header names, so that its token is not read for each call, nor the header looked up for each of a connection.
package struct KnownCaller: Sendable {
  let authorization: String
  let user: RulesUser
  /// In seconds since 1970, where tokens are checked.
  let expiry: Int64?
}
