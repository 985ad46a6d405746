// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

package struct WatchedTarget: Sendable {
  /// The document, if the target is for a single document; `nil` for any other target.
  package var document: DocumentKey?
  package var purpose: TargetPurpose
  /// The keys that the backend had confirmed when the last snapshot was raised (S2).
  private let keys: Set<DocumentKey>
  /// The keys of each additional view. A target has only one view, except if two queries mirror each other (as with
  /// `limit` and limit-to-last).
  private let otherKeys: [Set<DocumentKey>]

  package init(target: Target, purpose: TargetPurpose, syncedKeys: [Set<DocumentKey>]) {
    self.init(target, purpose, syncedKeys.first ?? [], Array(syncedKeys.dropFirst()))
  }

  /// Creates the value. Must not allocate memory, because it is called for each message.
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

/// The combined messages about one target since the last snapshot.
struct WatchTargetState: Sendable {
  enum Change: Hashable, Sendable { case added, modified, removed }

  /// The number of confirmations of ADD or REMOVE that the backend must still send. Until they arrive, all other
  /// messages about the target are ignored.
  var responsesOwed = 0
  /// Whether the last request was for all documents of the target.
  var isWhole = false
  /// The keys of the added, modified and removed documents. A key is in at most one of these sets.
  private var added: Set<DocumentKey> = []
  private var modified: Set<DocumentKey> = []
  private var removed: Set<DocumentKey> = []
  private(set) var resumeToken: ResumeToken?
  var isCurrent = false
  /// Whether the next event includes the target, because a message named it.
  var isNamed = false
  /// The number of shared resume tokens (which apply to all targets) that arrived before this state was created or that
  /// this state has applied.
  private var sharedTokens: Int

  /// - Parameter tokens: the number of shared tokens so far.
  init(after tokens: Int = 0) { sharedTokens = tokens }

  var isPending: Bool { responsesOwed > 0 }
  var netCount: Int { added.count - removed.count }

  mutating func update(_ token: ResumeToken?) {
    if let token { resumeToken = token }
  }

  /// Applies the last shared token, unless this state has already applied it.
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

  /// Removes a key. Skips empty sets, which are common because most snapshots only add documents or only change them.
  @inline(__always)
  private static func drop(_ key: DocumentKey, from keys: inout Set<DocumentKey>) {
    if !keys.isEmpty { keys.remove(key) }
  }

  func shows(_ key: DocumentKey) -> Bool { added.contains(key) || modified.contains(key) }

  /// Removes every record of a document that was added and removed between two snapshots.
  mutating func forget(_ key: DocumentKey) {
    Self.drop(key, from: &added)
    Self.drop(key, from: &modified)
    Self.drop(key, from: &removed)
  }

  /// Returns the change to report. After the call, the state is empty except for the token and `isCurrent`.
  mutating func takeChange() -> TargetChange {
    let change = TargetChange(
      resumeToken: resumeToken, isCurrent: isCurrent, added: added, modified: modified, removed: removed)
    isNamed = false
    (added, modified, removed) = ([], [], [])
    return change
  }
}
