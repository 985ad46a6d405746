// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Reads one database as of its last commit, or as of an earlier version from the history.
struct DocumentReader {
  let connection: Connection
  let database: DatabaseID
  let state: DatabaseState
  /// The version to read at, if it is older than the last commit.
  let past: Int64?

  var readTime: SnapshotVersion { SnapshotVersion(microseconds: past ?? state.version) }

  /// The document, or `missing` at the read time.
  func document(_ key: DocumentKey) throws(BackendError) -> Document {
    let name = CollectionName(database: state.id, path: key.collection)
    if let collection = try Self.collection(name, connection), let stored = try read(key, in: collection) {
      return stored.document
    }
    return Document(key: key, version: readTime, state: .missing)
  }

  private func read(_ key: DocumentKey, in collection: Int64) throws(BackendError) -> StoredDocument? {
    if let past { return try DocumentHistory(connection).read(key, in: collection, at: past) }
    return try Self.read(key, in: collection, connection)
  }

  static func collection(_ name: CollectionName, _ connection: Connection) throws(BackendError) -> Int64? {
    try connection.integer(
      "SELECT id FROM collections WHERE database = ? AND path = ?", name.database, Array(name.path.text.utf8))
  }

  static func read(
    _ key: DocumentKey, in collection: Int64, _ connection: Connection
  ) throws(BackendError) -> StoredDocument? {
    try connection.first(
      "SELECT version, created, fields FROM documents WHERE collection = ? AND name = ?",
      collection, DocumentName(key.documentID).bytes
    ) { row in
      StoredDocument(
        key: key, version: row.integer(0), created: row.integer(1), fields: EncodedFields(trusted: row.blob(2)))
    }
  }

  /// Ids of the collections directly below a document, or of the root, that hold documents at any depth; sorted by
  /// UTF-8. Skips from id to id: the cost does not depend on how many collections lie below each.
  func collectionIDs(below parent: ResourcePath) throws(BackendError) -> [String] {
    let prefix = parent.isRoot ? [] : Array(parent.text.utf8) + [UInt8(ascii: "/")]
    var found: Set<[UInt8]> = []
    var lower = prefix
    while true {
      let row = try connection.first(
        "SELECT path, id FROM collections WHERE database = ? AND path >= ? AND count >= ? ORDER BY path LIMIT 1",
        state.id, lower, leastCount
      ) { (path: $0.blob(0), id: $0.integer(1)) }
      guard let path = row?.path, path.starts(with: prefix) else { break }
      if let past, let row, try !DocumentHistory(connection).isOccupied(row.id, at: past) {
        lower = path + [0]
        continue
      }
      let id = Array(path.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") })
      found.insert(id)
      let isDirect = path.count == prefix.count + id.count
      // What lies below an id sorts from "id/" to before "id0"; other ids may sort between "id" and "id/".
      lower = isDirect ? path + [0] : prefix + id + [UInt8(ascii: "/") + 1]
    }
    return found.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
  }
}
