// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Collections as they were last listed, by the path above them.
struct ListedCollections {
  private var ids: [ResourcePath: Set<String>] = [:]

  /// Paths below which was listed.
  var parents: [ResourcePath] { Array(ids.keys) }

  mutating func note(_ ids: Set<String>, below parent: ResourcePath) { self.ids[parent] = ids }

  /// Whether showing a list takes no collection away that is listed.
  func isKept(by ids: Set<String>, below parent: ResourcePath) -> Bool { ids.isSuperset(of: self.ids[parent] ?? []) }

  /// Notes collections that documents show and the lists do not have.
  /// - Returns: the path above each, to be listed again.
  mutating func noteNew(of keys: some Sequence<DocumentKey>) -> [ResourcePath] {
    var parents: [ResourcePath] = []
    for key in keys {
      let parent = key.collection.parent
      if ids[parent]?.insert(key.collection.last).inserted == true { parents.append(parent) }
    }
    return parents
  }
}
