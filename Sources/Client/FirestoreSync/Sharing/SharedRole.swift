// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// A client's part among those that share its cache.
///
///     secondary ──lease taken, targets of all adopted──► primary ──lease lost or given up──► secondary
///
/// The primary has the streams: it listens for all and sends the writes of all. A secondary writes into the cache,
/// announces its targets, and shows the data that the primary stores.
struct SharedRole: Sendable {
  var isPrimary = false
  /// Whether a user looks at this client's screen; such a client is preferred as the primary.
  var isVisible = false
  /// The interest of this client's own listeners in their targets.
  var announced: [TargetID: TargetInterest] = [:]
  /// The targets that the other clients' listeners want; known to the primary.
  var foreign: Set<TargetID> = []
  /// The last announcement of the primary for each target: whether its result is complete, as the backend said.
  var told: [TargetID: Bool] = [:]
  /// Whether nothing has been announced, because no other client was there.
  var wasAlone = true
}
