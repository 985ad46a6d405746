// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// Decides whether a commit may happen, before its preconditions are looked at. What it throws is the commit's answer.
package typealias CommitCheck = @Sendable (CommitPreview) throws(RPCStatus) -> Void

/// What a commit would do if all its preconditions held. Valid only while its check runs.
package struct CommitPreview {
  package struct Entry {
    package let key: DocumentKey
    /// `nil` where there is none.
    package let before: Document?
    package let after: Document?
    /// The commit only verifies the document.
    package let isVerification: Bool
  }

  package let database: DatabaseID
  /// The value of the commit's server timestamps.
  package let time: Timestamp
  /// One per document that the commit names, in the order of first mention.
  package let entries: [Entry]
  private let reader: DocumentReader

  init(_ evaluation: CommitEvaluation, _ reader: DocumentReader) {
    database = reader.database
    time = evaluation.serverTime
    self.reader = reader
    entries = evaluation.order.map { key in
      let working = evaluation.documents[key]
      let before = working?.stored?.document
      let after = working?.data.map { data in
        let created = working?.isNew == false ? before?.createTime : nil
        return Document(
          key: key, version: evaluation.commitTime, createTime: created ?? evaluation.commitTime, state: .found(data))
      }
      return Entry(key: key, before: before, after: after, isVerification: !evaluation.touched.contains(key))
    }
  }

  /// Any document of the database as it is stored; `nil` where there is none.
  package func stored(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    do throws(StoreError) { return try reader.stored(key)?.document } catch { throw error.status }
  }

  /// Any document of the database as the commit would leave it; `nil` where there is none.
  package func after(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    if let entry = entries.first(where: { $0.key == key }) { return entry.after }
    return try stored(key)
  }
}
