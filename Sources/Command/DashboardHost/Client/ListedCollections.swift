// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Collections as they were last listed, by the path above them. Several listings of one path may be under way at once; an
/// answer to an older question never replaces the answer to a newer one, which would take away what the user has selected.
struct ListedCollections {
  /// The place of a listing in the order in which they were begun.
  struct Number: Comparable {
    fileprivate let value: Int

    static func < (one: Number, other: Number) -> Bool { one.value < other.value }
  }

  private struct Listed {
    var number: Number
    var ids: Set<String>
  }

  private var begun = 0
  private var listed: [ResourcePath: Listed] = [:]

  /// The paths that something was listed below.
  var parents: [ResourcePath] { Array(listed.keys) }

  subscript(parent: ResourcePath) -> Set<String>? { listed[parent]?.ids }

  /// Begins a listing, which is newer than all before it.
  mutating func begin() -> Number {
    begun += 1
    return Number(value: begun)
  }

  /// Stores the result of a listing.
  /// - Returns: false, and nothing is stored, if the result of a newer listing is there.
  mutating func take(_ ids: Set<String>, of number: Number, below parent: ResourcePath) -> Bool {
    if let newer = listed[parent]?.number, newer > number { return false }
    listed[parent] = Listed(number: number, ids: ids)
    return true
  }

  /// Whether showing a list takes no collection away that is listed.
  func isKept(by ids: Set<String>, below parent: ResourcePath) -> Bool { ids.isSuperset(of: self[parent] ?? []) }

  /// Adds the collections that documents show to exist and the lists do not have. Listings that are under way do not know of
  /// them, and are too old.
  /// - Returns: the path above each, to be listed again.
  mutating func noteNew(of keys: some Sequence<DocumentKey>) -> [ResourcePath] {
    var parents: [ResourcePath] = []
    for key in keys {
      let parent = key.collection.parent
      guard listed[parent]?.ids.insert(key.collection.last).inserted == true else { continue }
      let number = begin()
      listed[parent]?.number = number
      parents.append(parent)
    }
    return parents
  }
}
