// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import HashTreeCollections

/// Keys of documents as a value whose copies share structure: a snapshot keeps the set as it was, and a change costs no
/// more for that, however many keys there are.
package struct DocumentKeySet: Sendable, Equatable {
  private var keys: TreeSet<DocumentKey>

  package init(_ keys: some Sequence<DocumentKey>) { self.keys = TreeSet(keys) }

  package var isEmpty: Bool { keys.isEmpty }
  package var count: Int { keys.count }
  package func contains(_ key: DocumentKey) -> Bool { !keys.isEmpty && keys.contains(key) }
  package mutating func insert(_ key: DocumentKey) { keys.insert(key) }
  package mutating func remove(_ key: DocumentKey) { keys.remove(key) }
}

extension DocumentKeySet: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: DocumentKey...) { self.init(elements) }
}

extension DocumentKeySet: CustomStringConvertible {
  package var description: String { keys.sorted().description }
}
