// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The server's answer to a write, with what its author had seen: enough to find out between which clients of a screen a
/// conflict was.
package struct AnsweredWrite: Codable, Equatable, Sendable {
  package var batch: BatchID
  package var mutations: [Mutation]
  /// The time at which the server applied the write; `nil` for one that it refused.
  package var commitTime: SnapshotVersion?
  /// The reason why it was refused; `nil` for one that was applied.
  package var refusal: StatusCode?
  /// Whether each document existed when the write was made, where its author's cache knew that.
  package var existed: [DocumentKey: Bool]

  package init(
    batch: BatchID, mutations: [Mutation], commitTime: SnapshotVersion?, refusal: StatusCode? = nil,
    existed: [DocumentKey: Bool] = [:]
  ) {
    self.batch = batch
    self.mutations = mutations
    self.commitTime = commitTime
    self.refusal = refusal
    self.existed = existed
  }
}
