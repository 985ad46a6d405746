// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The information about a target that the aggregator needs.
package struct WatchedTarget: Sendable {
  /// The one document of a document target.
  package var document: DocumentKey?
  package var purpose: TargetPurpose
  /// The keys that the backend had confirmed in the last raised snapshot (S2).
  private let keys: Set<DocumentKey>
  /// The keys of further views. A target has only one view, unless two queries mirror each other.
  private let otherKeys: [Set<DocumentKey>]

  package init(target: Target, purpose: TargetPurpose, syncedKeys: [Set<DocumentKey>]) {
    self.init(target, purpose, syncedKeys.first ?? [], Array(syncedKeys.dropFirst()))
  }

  /// Must not allocate memory, because it is called for each message.
  init(_ target: Target, _ purpose: TargetPurpose, _ keys: Set<DocumentKey>, _ otherKeys: [Set<DocumentKey>] = []) {
    document = target.isDocumentTarget ? DocumentKey(target.path) : nil
    self.purpose = purpose
    self.keys = keys
    self.otherKeys = otherKeys
  }

  package func contains(_ key: DocumentKey) -> Bool {
    keys.contains(key) || !otherKeys.isEmpty && otherKeys.contains { $0.contains(key) }
  }

  package var count: Int { allKeys.count }

  /// The keys of all views.
  package var allKeys: Set<DocumentKey> { otherKeys.reduce(keys) { $0.union($1) } }
}

/// The combined messages of the stream about one target since the last snapshot.
struct WatchTargetState: Sendable {
  enum Change: Hashable, Sendable { case added, modified, removed }

  /// The number of outstanding confirmations of ADD or REMOVE. All other messages about the target are ignored until
  /// they arrive.
  var responsesOwed = 0
  /// Whether the last request was for all documents of the target.
  var isWhole = false
  /// The keys of added, modified and removed documents; each is in one set at most.
  private var added: Set<DocumentKey> = []
  private var modified: Set<DocumentKey> = []
  private var removed: Set<DocumentKey> = []
  private(set) var resumeToken: ResumeToken?
  var isCurrent = false
  /// Whether the next event includes the target, because a message named it.
  var isNamed = false
  /// The count of shared tokens that this state has applied, or that preceded it. A shared token applies to all
  /// targets.
  private var sharedTokens: Int

  /// - Parameter tokens: the count of shared tokens so far.
  init(after tokens: Int = 0) { sharedTokens = tokens }

  var isPending: Bool { responsesOwed > 0 }
  var netCount: Int { added.count - removed.count }

  mutating func update(_ token: ResumeToken?) {
    if let token { resumeToken = token }
  }

  /// Applies the last shared token, unless the state has already applied it.
  mutating func follow(_ token: ResumeToken?, _ count: Int) {
    if count > sharedTokens { update(token) }
    sharedTokens = count
  }

  mutating func record(_ change: Change, of key: DocumentKey) {
    switch change {
    case .added:
      Self.drop(key, from: &modified)
      Self.drop(key, from: &removed)
      added.insert(key)
    case .modified:
      Self.drop(key, from: &added)
      Self.drop(key, from: &removed)
      modified.insert(key)
    case .removed:
      Self.drop(key, from: &added)
      Self.drop(key, from: &modified)
      removed.insert(key)
    }
  }

  /// Removes a key. Skips empty sets, because most snapshots only add or only change documents.
  @inline(__always)
  private static func drop(_ key: DocumentKey, from keys: inout Set<DocumentKey>) {
    if !keys.isEmpty { keys.remove(key) }
  }

  func shows(_ key: DocumentKey) -> Bool { added.contains(key) || modified.contains(key) }

  /// Removes a document that was added and removed between two snapshots.
  mutating func forget(_ key: DocumentKey) {
    Self.drop(key, from: &added)
    Self.drop(key, from: &modified)
    Self.drop(key, from: &removed)
  }

  /// Returns the change to report. Afterwards, the state is empty, except for the token and `isCurrent`.
  mutating func takeChange() -> TargetChange {
    let change = TargetChange(
      resumeToken: resumeToken, isCurrent: isCurrent, added: added, modified: modified, removed: removed)
    isNamed = false
    (added, modified, removed) = ([], [], [])
    return change
  }
}
