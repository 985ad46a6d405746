// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// The identity behind a call, by its `authorization` (PROTOCOL §5.5).
package enum Caller: Sendable, Hashable {
  /// An administrator, whom rules do not concern.
  case owner
  /// A user of an app; `nil` for one who is not signed in.
  case user(RulesUser?)
}
