// SPDX-License-Identifier: Apache-2.0
package import FirestoreExports
package import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol

/// A document of an input file that was not imported.
package struct Rejection: Sendable {
  package enum Reason: Error, Sendable {
    case unreadable(JSONError)
    /// The error of a document in an export of Google's format.
    case unsupported(ExportError)
    /// - Parameter place: `line 3`
    case refused(RPCStatus, at: String)
  }

  package let record: InputRecord
  package let reason: Reason
}

/// Documents on their way from text to the server.
package struct ParsedBatch: Sendable {
  private(set) var records: [InputRecord] = []
  private(set) var mutations: [Mutation] = []
  var rejections: [Rejection] = []
  private(set) var recordCount: Int
  private(set) var end: InputPosition

  init(_ batch: ImportInput.Batch, _ rules: ImportRules) {
    recordCount = batch.records.count
    end = batch.end
    for record in batch.records {
      do throws(Rejection.Reason) {
        mutations.append(try rules.mutation(of: record))
        records.append(record)
      } catch {
        rejections.append(Rejection(record: record, reason: error))
      }
    }
  }

  /// Drops a bad record and all that come after it.
  mutating func keep(before bad: Rejection) {
    let count = records.prefix { $0.place.offset < bad.record.place.offset }.count
    records.removeLast(records.count - count)
    mutations.removeLast(mutations.count - count)
    rejections = []
    recordCount = count
    end = bad.record.start
  }

  /// - Parameter rejecting: whether to write the other documents if the server refuses single ones; else the first is
  ///   named.
  /// - Returns: the documents that the server refused.
  /// - Throws: `Rejection.Reason`, or `RPCStatus` for a failure that does not concern single documents.
  func commit(at datastore: any Datastore, _ retries: CommitRetries, rejecting: Bool) async throws -> [Rejection] {
    guard try await retries.refusal(of: mutations, at: datastore) != nil else { return [] }
    var refused: [Rejection] = []
    for (record, mutation) in zip(records, mutations) {
      guard let status = try await retries.refusal(of: [mutation], at: datastore) else { continue }
      let place = record.entity == nil ? "line \(record.place.line)" : "\(mutation.key.path)"
      let reason = Rejection.Reason.refused(status, at: place)
      guard rejecting else { throw reason }
      refused.append(Rejection(record: record, reason: reason))
    }
    return refused
  }
}
