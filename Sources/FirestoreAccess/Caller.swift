// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// On whose behalf a call is made, by its `authorization` (PROTOCOL §5.5).
package enum Caller: Sendable, Hashable {
  /// An administrator, whom rules do not concern.
  case owner
  /// Somebody who uses an app; `nil` for one who is not signed in.
  case user(RulesUser?)
}
