// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The way of the cursor to a document that may not be in the tree yet.
extension Browser {
  /// Selects a document, whose collection and what is around it are opened where it stands. The cursor goes there when
  /// the rows have arrived.
  package mutating func go(to key: DocumentKey, limit: Int, in database: DatabaseID) -> [Effect] {
    destination = key
    var effects: [Effect] = []
    for document in key.ancestorsAndSelf {
      let path = document.collection
      // A collection that fits is shown whole, not from the document on.
      let fits = windows[path]?.total.map { $0 <= limit } ?? false
      let place = fits ? CollectionWindow.Place.start : .from(document)
      if expanded.contains(path) {
        let isHere = has(document) || windows[path]?.isWhole == true || windows[path]?.isLoading == true && fits
        if !isHere { effects += open(path, at: place, landing: .stay, limit: limit, in: database) }
      } else {
        effects += expand(path, at: place, limit: limit, in: database)
      }
      if document != key { effects += expand(document.path, limit: limit, in: database) }
    }
    return effects
  }

  /// Whether the tree has a document, or one of its collection that does not exist and has documents below it.
  private func has(_ key: DocumentKey) -> Bool {
    document(key) != nil || missing[key.collection]?.contains(key) ?? false
  }

  /// Selects the destination, if it is among the rows.
  package mutating func reachDestination(in rows: some Sequence<Item>) {
    guard let key = destination, rows.contains(.document(key)) else { return }
    cursor.select(.document(key))
    destination = nil
  }
}

extension DocumentKey {
  /// The documents on the way to this one, the outermost first, and this one.
  fileprivate var ancestorsAndSelf: [DocumentKey] {
    var keys = [self]
    while let above = keys.last.flatMap({ DocumentKey($0.collection.parent) }) { keys.append(above) }
    return keys.reversed()
  }
}
