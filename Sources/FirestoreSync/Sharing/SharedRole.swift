// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// A client's part among those that share its cache.
///
///     secondary ──lease taken, targets of all adopted──► primary ──lease lost or given up──► secondary
///
/// The primary has the streams: it listens for all and sends what all have written. A secondary writes into the cache,
/// says what it listens to, and shows what the primary stores.
struct SharedRole: Sendable {
  var isPrimary = false
  /// Somebody looks at what this client shows; such a client is rather primary.
  var isVisible = false
  /// What this client's own listeners want of their targets.
  var announced: [TargetID: TargetInterest] = [:]
  /// What those of the others want; known to the primary.
  var foreign: Set<TargetID> = []
  /// What the primary said last of a target's result: whether it is what the backend has.
  var told: [TargetID: Bool] = [:]
  /// Nobody has been told anything, because nobody was there.
  var wasAlone = true
}
