// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A target that the client watches, or wants to.
package struct TargetState: Sendable {
  package enum Purpose: String, Hashable, Sendable {
    case listen
    /// The documents did not add up, and are asked for again.
    case recount
    /// One document is asked for, to end a doubt about it.
    case lookup
  }

  /// The state of the target on the present stream.
  package enum Progress: String, Hashable, Sendable {
    /// The stream does not know the target.
    case unasked
    /// The server has not confirmed the request.
    case asked
    /// Documents may be on their way.
    case receiving
    /// The server has said that the result is complete.
    case current
  }

  package var id: Int32
  package var target: Target
  package var purpose: Purpose
  package var progress: Progress
  /// The server's time of the snapshot from which the target is resumed; `nil` without a resume token.
  package var tokenTime: Timestamp?
  /// The number of documents that the server has confirmed. So many reads Cloud Firestore bills anew when a listener
  /// comes back after more than 30 minutes.
  package var documents: Int
  /// The number of documents that were sent since the target has been watched.
  package var sent: Int
  /// The number of documents that were kept when the target was resumed, and not sent.
  package var kept: Int
  /// The place of the target's last beginning among all uses of the cache, by the cache's own count: what has the lowest
  /// is collected first. `nil` for a lookup, which is not kept.
  package var lastUse: Int64?

  package init(
    id: Int32, target: Target, purpose: Purpose = .listen, progress: Progress, tokenTime: Timestamp? = nil,
    documents: Int = 0, sent: Int = 0, kept: Int = 0, lastUse: Int64? = nil
  ) {
    self.id = id
    self.target = target
    self.purpose = purpose
    self.progress = progress
    self.tokenTime = tokenTime
    self.documents = documents
    self.sent = sent
    self.kept = kept
    self.lastUse = lastUse
  }
}

/// The numbers of documents that the backend sent for a target since it has been watched, and did not have to send.
package struct ReadMeter: Equatable, Sendable {
  package var target: Target
  /// The number of documents that were sent, each counted as often as it was sent.
  package var sent: Int
  /// The number of documents that the cache had when the target was resumed, and that were not sent again.
  package var kept: Int

  package init(target: Target, sent: Int, kept: Int) {
    self.target = target
    self.sent = sent
    self.kept = kept
  }
}
