// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// An existing document as it stands in the database. Times are microseconds since the epoch.
struct StoredDocument: Sendable {
  var key: DocumentKey
  var version: Int64
  var created: Int64
  var fields: EncodedFields

  var document: Document {
    Document(
      key: key, version: SnapshotVersion(microseconds: version), createTime: SnapshotVersion(microseconds: created),
      state: .found(DocumentData(encoded: fields)))
  }
}

/// The position of a document in the store's key order: collection by collection, then by name.
struct DocumentPosition: Hashable, Comparable, Sendable {
  var collection: Int64
  var name: DocumentName

  static func < (left: DocumentPosition, right: DocumentPosition) -> Bool {
    left.collection == right.collection ? left.name < right.name : left.collection < right.collection
  }
}

/// The effect of one commit on one document.
struct DocumentTransition: Sendable {
  var key: DocumentKey
  var position: DocumentPosition
  var before: Document?
  /// `found`, or `missing` at the version of the deletion.
  var after: Document
}

extension DocumentTransition {
  /// The effects of several commits in this order, as if each database had had one commit: one transition per document.
  /// Listeners could tell the state between two of these commits from no other.
  static func byDatabase(
    _ orders: [CommitOrder], _ results: [Result<CommitOutcome, StoreError>]
  ) -> [(DatabaseID, [DocumentTransition])] {
    if orders.count == 1 {
      guard case .success(let outcome) = results[0] else { return [] }
      return [(orders[0].database, outcome.transitions)]
    }
    var merged: [(DatabaseID, [DocumentTransition])] = []
    var places: [DatabaseID: [DocumentKey: Int]] = [:]
    for (order, result) in zip(orders, results) {
      guard case .success(let outcome) = result else { continue }
      let database = order.database
      let index = merged.firstIndex { $0.0 == database } ?? merged.endIndex
      if index == merged.endIndex { merged.append((database, [])) }
      for transition in outcome.transitions {
        if let place = places[database]?[transition.key] {
          merged[index].1[place].after = transition.after
        } else {
          places[database, default: [:]][transition.key] = merged[index].1.count
          merged[index].1.append(transition)
        }
      }
    }
    return merged
  }
}
