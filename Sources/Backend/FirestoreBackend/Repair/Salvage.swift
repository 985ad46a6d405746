// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Sorts the records of a damaged database into the tables of a new one. The tables of rows are told by their shapes,
/// since the pages that name them may be lost.
struct Salvage {
  private struct Collection {
    var database: Int64
    var path: [UInt8]
    /// The number of documents that the collection held; unknown when only an index still has its path.
    var count: Int64?
  }

  private let connection: Connection
  private var databases: [Int64: [UInt8]] = [:]
  private var versions: [Int64: Int64] = [:]
  private var collections: [Int64: Collection] = [:]
  /// The versions of deletions on record; older rows of the documents at these positions are remains.
  private var deletions: [DocumentPosition: Int64] = [:]

  init(_ connection: Connection) { self.connection = connection }

  mutating func take(_ record: StoredRecord) throws(StoreError) {
    let values = record.values
    switch (record.number, values.count) {
    case (_?, 6): try takeDocument(values)
    case (let number?, 5):
      if let name = values[1].bytes, values[0] == .null, let version = values[2].integer {
        databases[number] = name
        versions[number] = max(versions[number] ?? 0, version)
      } else if let database = values[1].integer, let path = values[2].bytes, let count = values[4].integer {
        collections[number] = Collection(database: database, path: path, count: count)
      }
    case (_?, 1):
      if let instance = values[0].bytes, instance.count == 8 {
        try connection.run("UPDATE backend SET instance = ?", instance)
      }
    // Entries with two values are of the indexes by which databases and collections are found.
    case (nil, 2):
      if let name = values[0].bytes, let number = values[1].integer, name.starts(with: "projects/".utf8) {
        databases[number] = databases[number] ?? name
      }
    case (nil, 3): takeIndexEntry(values)
    case (nil, let count):
      if count == 5, let database = values[0].integer, let version = values[1].integer {
        takeChange(database, version, values)
      } else if count == 7 {
        try takeRequest(values)
      }
    default: break
    }
  }

  private func takeDocument(_ values: [StoredValue]) throws(StoreError) {
    guard let collection = values[1].integer, let name = values[2].bytes, let version = values[3].integer,
      let created = values[4].integer, let fields = values[5].bytes, values[0] == .null, (name.first ?? 2) < 2
    else { return }
    // One document with invalid fields would fail every query that finds it.
    do throws(ModelError) { _ = try EncodedFields(validating: fields) } catch { return }
    try connection.run(
      """
      INSERT INTO documents (collection, name, version, created, fields) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (collection, name) DO UPDATE
        SET version = excluded.version, created = excluded.created, fields = excluded.fields
        WHERE excluded.version > version
      """, collection, name, version, created, fields)
  }

  /// Takes the path of a collection, or its last segment, from an index entry; names of documents begin with 0 or 1.
  private mutating func takeIndexEntry(_ values: [StoredValue]) {
    guard let database = values[0].integer, let path = values[1].bytes, let number = values[2].integer,
      (path.first ?? 0) > 1, collections[number]?.count == nil, path.count > collections[number]?.path.count ?? 0
    else { return }
    collections[number] = Collection(database: database, path: path)
  }

  private mutating func takeChange(_ database: Int64, _ version: Int64, _ values: [StoredValue]) {
    versions[database] = max(versions[database] ?? 0, version)
    guard let collection = values[2].integer, let name = values[3].bytes, values[4] == .integer(1) else { return }
    let position = DocumentPosition(collection: collection, name: DocumentName(stored: name))
    deletions[position] = max(deletions[position] ?? 0, version)
  }

  /// Takes a batch that was answered, so that it is not applied again.
  private func takeRequest(_ values: [StoredValue]) throws(StoreError) {
    guard values[0].integer != nil, values[1].bytes != nil, values[2].integer != nil else { return }
    try connection.run(
      "INSERT OR IGNORE INTO applied_requests VALUES (?, ?, ?, ?, ?, ?, ?)", values[0], values[1], values[2], values[3],
      values[4], values[5], values[6])
  }
}

extension Salvage {
  /// Deletes the remains of deleted documents, and completes the tables. Positions of clients are too old afterwards,
  /// so that they learn all changes.
  mutating func finish() throws(StoreError) -> DataRepair.Report {
    var report = DataRepair.Report(kept: "")
    for (position, version) in deletions {
      try connection.run(
        "DELETE FROM documents WHERE collection = ? AND name = ? AND version <= ?", position.collection,
        position.name.bytes, version)
    }
    for (number, collection) in collections where databases[collection.database] != nil {
      try add(collection, number, &report)
    }
    try connection.run("DELETE FROM documents WHERE collection NOT IN (SELECT id FROM collections)")
    report.unnamed = connection.rowsChangedLast
    report.documents = Int(try connection.integer("SELECT count(*) FROM documents") ?? 0)
    report.isEmpty = databases.isEmpty && collections.isEmpty && report.documents == 0
    for (number, name) in databases {
      let newest = try connection.integer(
        """
        SELECT max(version) FROM documents JOIN collections ON collections.id = documents.collection
          WHERE database = ?
        """, number)
      let version = max(newest ?? 0, versions[number] ?? 0) + 1
      try connection.run(
        "INSERT INTO databases (id, name, version, pruned, history_start) VALUES (?1, ?2, ?3, ?3, ?3)",
        number, name, version)
    }
    return report
  }

  private func add(
    _ collection: Collection, _ number: Int64, _ report: inout DataRepair.Report
  ) throws(StoreError) {
    let found = try connection.integer("SELECT count(*) FROM documents WHERE collection = ?", number) ?? 0
    let path = ResourcePath(String(decoding: collection.path, as: UTF8.self))
    // The collection's row may be lost, and with it the number of its documents; then no loss can be told.
    let expected = collection.count ?? found
    if collection.count == nil { report.uncounted.append(path.text) }
    if expected > found { report.missing[path.text, default: 0] += Int(expected - found) }
    report.surplus += Int(max(0, found - expected))
    try connection.run(
      "INSERT OR IGNORE INTO collections (id, database, path, name, count) VALUES (?, ?, ?, ?, ?)", number,
      collection.database, collection.path, Array(path.last.utf8), found)
  }
}
