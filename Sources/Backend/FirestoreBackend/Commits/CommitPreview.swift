// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// A check that decides on a commit before its preconditions are evaluated. The error that it throws is the answer.
package typealias CommitCheck = @Sendable (CommitPreview) throws(RPCStatus) -> Void

/// The effects that a commit would have if all its preconditions held. Valid only while its check runs.
package final class CommitPreview {
  /// The effect of the commit on one document.
  package struct Entry {
    /// The document before the commit; `nil` where it does not exist.
    package let before: Document?
    package let after: Document?
    /// Whether the commit only verifies the document.
    package let isVerification: Bool
    /// Whether the commit requires the document to exist, and it does not.
    package let isMissed: Bool
    /// The mutations of the document, in order.
    package let mutations: [Mutation]
  }

  private let evaluation: CommitEvaluation
  private let reader: DocumentReader

  init(_ evaluation: CommitEvaluation, _ reader: DocumentReader) {
    self.evaluation = evaluation
    self.reader = reader
  }

  package var database: DatabaseID { reader.database }
  /// The value of the commit's server timestamps.
  package var time: Timestamp { evaluation.serverTime }
  /// The documents that the commit names, in the order of first mention.
  package var keys: [DocumentKey] { evaluation.order }

  /// - Returns: `nil` for a document that the commit does not name.
  package func entry(_ key: DocumentKey) -> Entry? {
    guard let working = evaluation.documents[key] else { return nil }
    let before = working.stored?.document
    var after: Document?
    if let data = working.data {
      let created = working.isNew ? nil : before?.createTime
      after = Document(
        key: key, version: evaluation.commitTime, createTime: created ?? evaluation.commitTime, state: .found(data))
    }
    return Entry(
      before: before, after: after, isVerification: !evaluation.touched.contains(key),
      isMissed: evaluation.missed.contains(key), mutations: working.mutations)
  }

  /// A document of the database as it is stored; `nil` where it does not exist.
  package func stored(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    do throws(StoreError) { return try reader.stored(key)?.document } catch { throw error.status }
  }

  /// A document of the database as the commit would leave it; `nil` where it does not exist.
  package func after(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    if let entry = entry(key) { return entry.after }
    return try stored(key)
  }
}
