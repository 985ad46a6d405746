// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DocumentReader {
  /// Documents of a collection that do not exist while documents below them do; in key order. Looks at every collection
  /// below, so it costs what there are of those.
  func missingDocuments(in collection: ResourcePath) throws(BackendError) -> [DocumentKey] {
    let prefix = Array(collection.text.utf8) + [UInt8(ascii: "/")]
    // What begins with the prefix sorts before the prefix with a larger last byte.
    let end = prefix.dropLast() + [UInt8(ascii: "/") + 1]
    var parents: Set<DocumentKey> = []
    try connection.each(
      "SELECT path FROM collections WHERE database = ? AND path >= ? AND path < ? AND count > 0",
      .integer(state.id), .bytes(prefix), .bytes(Array(end))
    ) { row in
      let id = row.bytes(0).dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") }
      parents.insert(DocumentKey(unchecked: collection.appending(String(decoding: id, as: UTF8.self))))
      return true
    }
    var missing: [DocumentKey] = []
    for key in parents.sorted() where try !document(key).exists { missing.append(key) }
    return missing
  }
}
