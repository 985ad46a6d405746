// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Names one target of one watch stream.
struct TargetReference: Hashable, Sendable {
  let session: WatchSessionID
  let target: TargetID
}

/// Finds the targets that a changed document could concern by where it lies, so that a commit costs nothing to the
/// listeners of other collections.
struct TargetMatcher {
  private var byCollection: [CollectionName: Set<TargetReference>] = [:]
  /// The path is the group's id.
  private var byGroup: [CollectionName: Set<TargetReference>] = [:]
  private var byDocument: [CollectionName: Set<TargetReference>] = [:]

  mutating func add(_ reference: TargetReference, for target: SessionTarget, in database: Int64) {
    forEachPlace(of: target, in: database) { table, name in table[name, default: []].insert(reference) }
  }

  mutating func remove(_ reference: TargetReference, for target: SessionTarget, in database: Int64) {
    forEachPlace(of: target, in: database) { table, name in
      table[name]?.remove(reference)
      if table[name]?.isEmpty == true { table[name] = nil }
    }
  }

  private mutating func forEachPlace(
    of target: SessionTarget, in database: Int64,
    _ change: (inout [CollectionName: Set<TargetReference>], CollectionName) -> Void
  ) {
    if let group = target.target.collectionGroup {
      change(&byGroup, CollectionName(database: database, path: ResourcePath(group)))
    } else if target.documents.isEmpty {
      change(&byCollection, CollectionName(database: database, path: target.target.path))
    } else {
      for key in target.documents { change(&byDocument, CollectionName(database: database, path: key.path)) }
    }
  }

  /// Every target that could match the document before or after a change; for a group perhaps one of another ancestor.
  func forEachCandidate(_ key: DocumentKey, in database: Int64, _ body: (TargetReference) -> Void) {
    let collection = key.collection
    byDocument[CollectionName(database: database, path: key.path)]?.forEach(body)
    byCollection[CollectionName(database: database, path: collection)]?.forEach(body)
    if !byGroup.isEmpty {
      byGroup[CollectionName(database: database, path: ResourcePath(collection.last))]?.forEach(body)
    }
  }

  var isEmpty: Bool { byCollection.isEmpty && byGroup.isEmpty && byDocument.isEmpty }
}
