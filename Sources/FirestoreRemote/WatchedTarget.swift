// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// What the aggregator has to know about a target that is on the stream.
package struct WatchedTarget: Sendable {
  /// The one document that the target names, if it names one.
  package var document: DocumentKey?
  package var purpose: TargetPurpose
  /// The keys that the backend had confirmed in the last raised snapshot (S2): one set per view of the target, which
  /// is one unless queries mirror each other.
  package var syncedKeys: [Set<DocumentKey>]

  package init(target: Target, purpose: TargetPurpose, syncedKeys: [Set<DocumentKey>]) {
    document = target.isDocumentTarget ? DocumentKey(target.path) : nil
    self.purpose = purpose
    self.syncedKeys = syncedKeys
  }

  package func contains(_ key: DocumentKey) -> Bool { syncedKeys.contains { $0.contains(key) } }

  package var count: Int {
    syncedKeys.count == 1 ? syncedKeys[0].count : syncedKeys.reduce(into: Set()) { $0.formUnion($1) }.count
  }
}

/// What the stream has said about one target since the last snapshot.
struct WatchTargetState: Sendable {
  enum Change: Hashable, Sendable { case added, modified, removed }

  /// Requests whose ADD or REMOVE confirmation has not come; everything else about the target is ignored until then.
  var responsesOwed = 0
  private(set) var changes: [DocumentKey: Change] = [:]
  private(set) var resumeToken: ResumeToken?
  private(set) var isCurrent = false
  /// A new target is part of the next event even if nothing was said about it.
  private(set) var hasPendingChanges = true

  var isPending: Bool { responsesOwed > 0 }
  var netCount: Int { changes.values.reduce(0) { $0 + ($1 == .added ? 1 : $1 == .removed ? -1 : 0) } }

  mutating func update(_ token: ResumeToken?) {
    guard let token else { return }
    hasPendingChanges = true
    resumeToken = token
  }

  mutating func markCurrent() {
    hasPendingChanges = true
    isCurrent = true
  }

  mutating func record(_ change: Change, of key: DocumentKey) {
    hasPendingChanges = true
    changes[key] = change
  }

  func shows(_ key: DocumentKey) -> Bool { changes[key].map { $0 != .removed } ?? false }

  /// The document came and went between two snapshots.
  mutating func forget(_ key: DocumentKey) {
    hasPendingChanges = true
    changes[key] = nil
  }

  mutating func clearPendingChanges() {
    hasPendingChanges = false
    changes = [:]
  }

  /// What is to be reported; the state then starts over with the same token and currency.
  mutating func takeChange() -> TargetChange? {
    guard hasPendingChanges else { return nil }
    var change = TargetChange(resumeToken: resumeToken, isCurrent: isCurrent)
    for (key, kind) in changes {
      switch kind {
      case .added: change.added.insert(key)
      case .modified: change.modified.insert(key)
      case .removed: change.removed.insert(key)
      }
    }
    clearPendingChanges()
    return change
  }
}
