// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents that a target's views show.
///
/// Keys are hashed when the set is first asked for: only a collection asks, and the first snapshot of a large view
/// should not wait for it.
struct PinnedKeys: Sendable {
  private(set) var keys: Set<DocumentKey> = []
  private var added: [[DocumentKey]] = []

  /// As many as there are, or more if some were added twice.
  var maximumCount: Int { added.reduce(keys.count) { $0 + $1.count } }

  mutating func add(_ others: [DocumentKey]) {
    if !others.isEmpty { added.append(others) }
  }

  mutating func remove(_ others: Set<DocumentKey>) {
    if others.isEmpty { return }
    settle()
    keys.subtract(others)
  }

  /// Makes `keys` complete.
  mutating func settle() {
    for list in added { keys.formUnion(list) }
    added = []
  }

  mutating func settled() -> Set<DocumentKey> {
    settle()
    return keys
  }
}
