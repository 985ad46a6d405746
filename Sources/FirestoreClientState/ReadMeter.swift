// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// What the backend sent for a target of the watch stream since it is watched, and what it did not have to send.
package struct ReadMeter: Codable, Equatable, Sendable {
  package var target: Target
  /// Documents that were sent, each as often as it was.
  package var sent: Int
  /// Documents that the cache had when the target was resumed, and that were not sent again.
  package var kept: Int

  package init(target: Target, sent: Int, kept: Int) {
    self.target = target
    self.sent = sent
    self.kept = kept
  }
}
