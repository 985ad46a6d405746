// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// Decides whether a commit may happen, before its preconditions are looked at. What it throws is the commit's answer.
package typealias CommitCheck = @Sendable (CommitPreview) throws(RPCStatus) -> Void

/// What a commit would do if all its preconditions held. Valid only while its check runs.
package final class CommitPreview {
  /// What it would do to one document.
  package struct Entry {
    /// `nil` where there is none.
    package let before: Document?
    package let after: Document?
    /// The commit only verifies the document.
    package let isVerification: Bool
    /// The commit wants the document to be there, and it is not.
    package let isMissed: Bool
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
      isMissed: evaluation.missed.contains(key))
  }

  /// Any document of the database as it is stored; `nil` where there is none.
  package func stored(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    do throws(StoreError) { return try reader.stored(key)?.document } catch { throw error.status }
  }

  /// Any document of the database as the commit would leave it; `nil` where there is none.
  package func after(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    if let entry = entry(key) { return entry.after }
    return try stored(key)
  }
}
