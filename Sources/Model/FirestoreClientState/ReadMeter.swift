// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// The numbers of documents that the backend sent for a target since it has been watched, and did not have to send.
package struct ReadMeter: Codable, Equatable, Sendable {
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
