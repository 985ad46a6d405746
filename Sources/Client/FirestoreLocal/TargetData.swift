// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The stored data of a target.
package struct TargetData: Sendable {
  package var id: TargetID
  package var target: Target
  /// The number of the target's last use, on the cache's own scale; orders collection.
  package var sequenceNumber: Int64
  package var purpose: TargetPurpose
  /// The snapshot that `resumeToken` belongs to.
  package var snapshotVersion: SnapshotVersion?
  /// The last snapshot at which the target's view had no documents in limbo: documents unchanged since then still match
  /// as they did.
  package var lastLimboFreeSnapshotVersion: SnapshotVersion?
  package var resumeToken: ResumeToken?

  package init(
    id: TargetID, target: Target, sequenceNumber: Int64, purpose: TargetPurpose = .listen,
    snapshotVersion: SnapshotVersion? = nil, lastLimboFreeSnapshotVersion: SnapshotVersion? = nil,
    resumeToken: ResumeToken? = nil
  ) {
    self.id = id
    self.target = target
    self.sequenceNumber = sequenceNumber
    self.purpose = purpose
    self.snapshotVersion = snapshotVersion
    self.lastLimboFreeSnapshotVersion = lastLimboFreeSnapshotVersion
    self.resumeToken = resumeToken
  }
}
