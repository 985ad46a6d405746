// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A target that the client watches or is about to watch.
package struct TargetState: Sendable {
  package enum Purpose: String, Hashable, Sendable {
    case listen
    /// The client requests the documents again, because their number did not match the server's count.
    case recount
    /// The client looks up one document to find out whether it exists.
    case lookup
  }

  /// The state of the target on the current stream.
  package enum Progress: String, Hashable, Sendable {
    /// The client has not requested the target on this stream.
    case unasked
    /// The client has requested the target, but the server has not confirmed the request.
    case asked
    /// The server has confirmed the request and may still be sending documents.
    case receiving
    /// The server has reported the result as complete.
    case current
  }

  package var id: Int32
  package var target: Target
  package var purpose: Purpose
  package var progress: Progress
  /// The server time of the snapshot from which the target can resume; `nil` if there is no resume token.
  package var tokenTime: Timestamp?
  /// The number of documents that the server has confirmed. If a listener reconnects after more than 30 minutes, Cloud
  /// Firestore bills these reads again.
  package var documents: Int
  /// The number of documents that the server has sent since the target became active.
  package var sent: Int
  /// The number of cached documents that the server did not have to send again when the target was resumed.
  package var kept: Int
  /// The number assigned when the target was last started. All uses in the cache are numbered by one counter, and the
  /// target with the lowest number is evicted first. `nil` for a lookup, which is not cached.
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

/// The document reads of a target since it became active: the documents that the backend sent, and the cached documents
/// that it did not need to send.
package struct ReadMeter: Equatable, Sendable {
  package var target: Target
  /// The number of documents that the backend sent. A document that was sent twice counts twice.
  package var sent: Int
  /// The number of documents that were cached when the target was resumed and that the backend did not have to send
  /// again.
  package var kept: Int

  package init(target: Target, sent: Int, kept: Int) {
    self.target = target
    self.sent = sent
    self.kept = kept
  }
}
