// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreSQLite
import Glibc

/// Restores the readable part of a damaged backend database, including the commits in copies of damaged logs. The
/// damaged files are not deleted.
///
/// ```
/// backend.sqlite3       damaged ──────────────────────────────────► backend.sqlite3.damaged-1
///                          │ page by page
///                          ▼
/// ….repairing ──► ….repaired, on the disk ────────────────────────► backend.sqlite3
/// ```
/// An interrupted repair leaves the damaged file, the repaired file, or both; the next repair continues from there.
package struct DataRepair: ~Copyable {
  private let directory: StoreDirectory
  /// The detected damage; `nil` for intact data.
  package let damage: String?

  private var files: DatabaseFiles { directory.files }
  private var unfinished: String { files.path + ".repairing" }
  private var finished: String { Self.finished(files) }

  /// The path of a repaired file that has not replaced the damaged one yet.
  private static func finished(_ files: DatabaseFiles) -> String { files.path + ".repaired" }

  static func isInterrupted(_ files: DatabaseFiles) -> Bool { access(finished(files), F_OK) == 0 }

  /// Whether a directory has a file to start a repair from.
  package static func applies(to directory: String) -> Bool {
    let files = DatabaseFiles(path: directory + "/" + BackendFile.name)
    return files.exists || isInterrupted(files)
  }

  static let interruption = "A repair was interrupted. Run it again to continue."

  /// Locks the directory and verifies its whole database without changing it. O(size).
  /// - Throws: `locked`, `notWritable`, `notPrivate`, `newerSchema`; damage is not an error.
  package init(directory path: String) throws(StoreError) {
    let held = try BackendFile.hold(path)
    damage = try Self.damage(held)
    directory = held
  }

  private static func damage(_ directory: borrowing StoreDirectory) throws(StoreError) -> String? {
    do throws(StoreError) {
      let connection = try BackendFile.open(directory, .normal)
      defer { connection.close() }
      try BackendFile.verify(connection)
      directory.files.clearDamage()
      guard let log = directory.files.keptLogs.first else { return nil }
      return "The commits of the damaged log are in \(log)."
    } catch {
      guard error.kind == .corrupt else { throw error }
      return error.message
    }
  }

  /// The result of a repair.
  package struct Report: Hashable, Sendable {
    /// The new path of the damaged file.
    package var kept: String
    package var documents = 0
    /// The number of missing documents by collection path.
    package var missing: [String: Int] = [:]
    /// The number of documents whose collection's path is lost.
    package var unnamed = 0
    /// The number of documents in excess of the recorded counts: some deleted documents may have been restored.
    package var surplus = 0
    /// The number of lost changes in the log; the affected documents may now have older contents.
    package var lostChanges = 0
    /// The number of unreadable pages of the file, including index pages, which are rebuilt.
    package var unreadable = 0
    /// The paths of collections that may lack documents, because their counts are unreadable too.
    package var uncounted: [String] = []
    /// Whether the file's content is unknown, because not even the name of a database or collection was found.
    package var isEmpty = false

    package var isComplete: Bool {
      missing.isEmpty && unnamed == 0 && surplus == 0 && lostChanges == 0 && uncounted.isEmpty && !isEmpty
    }
  }

  /// Saves all readable records into a new file, which replaces the damaged one.
  package consuming func run() throws(StoreError) -> Report {
    var report = Report(kept: "")
    if access(finished, F_OK) != 0 {
      for suffix in ["", "-wal", "-journal"] { unlink(unfinished + suffix) }
      _ = try PrivateFile.secure(unfinished, creating: true)
      report = try save()
      try DatabaseFiles(path: finished).install(unfinished)
    }
    report.kept = files.exists ? try files.moveAside() : files.path
    try files.install(finished)
    files.clearDamage()
    return report
  }

  private borrowing func save() throws(StoreError) -> Report {
    let files = files
    let connection = try BackendFile.open(location: PageChecksums.uri(of: unfinished), .normal)
    defer { connection.close() }
    let report = try connection.transaction { () throws(StoreError) in
      var salvage = Salvage(connection)
      let pages = DatabasePages(files, try WriteAheadLog(path: files.log), at: files.log)
      let unreadable = try pages.forEachRecord { record throws(StoreError) in try salvage.take(record) }
      var damagedFrames = pages.damagedFrames
      for log in files.keptLogs {
        let pages = DatabasePages(files, try WriteAheadLog(path: log), at: log)
        _ = try pages.forEachRecord(onlyLogged: true) { record throws(StoreError) in try salvage.take(record) }
        damagedFrames += pages.damagedFrames
      }
      var report = try salvage.finish()
      report.unreadable = unreadable
      report.lostChanges = damagedFrames
      // A single unreadable page contains the count itself, so no documents are lost.
      if unreadable < 2 { report.uncounted = [] }
      return report
    }
    // Closing would not report a full disk.
    try connection.checkpoint(emptiesLog: true)
    return report
  }
}

/// Sorts the records of a damaged database into the tables of a new one. Each row's table is identified by the number
/// and types of the row's values, because the pages that name the tables may be lost.
struct Salvage {
  private struct Collection {
    var database: Int64
    var path: [UInt8]
    /// The document count of the collection; unknown if only an index still has its path.
    var count: Int64?
  }

  private let connection: Connection
  private var databases: [Int64: [UInt8]] = [:]
  private var versions: [Int64: Int64] = [:]
  private var collections: [Int64: Collection] = [:]
  /// The versions of recorded deletions; older rows at these positions belong to deleted documents.
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
    // Entries with two values belong to the indexes for databases and collections.
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

  /// Reads the path of a collection, or its last segment, from an index entry. Ignores entries of documents, whose
  /// names begin with byte 0 or 1.
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

  /// Copies the response to an applied batch, so that the batch is not applied again.
  private func takeRequest(_ values: [StoredValue]) throws(StoreError) {
    guard values[0].integer != nil, values[1].bytes != nil, values[2].integer != nil else { return }
    try connection.run(
      "INSERT OR IGNORE INTO applied_requests VALUES (?, ?, ?, ?, ?, ?, ?)", values[0], values[1], values[2], values[3],
      values[4], values[5], values[6])
  }
}

extension Salvage {
  /// Deletes the remains of deleted documents, and completes the tables. Afterwards all clients' positions are too old,
  /// so clients receive the full state.
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
    // A lost collection row loses the document count too; missing documents then cannot be detected.
    let expected = collection.count ?? found
    if collection.count == nil { report.uncounted.append(path.text) }
    if expected > found { report.missing[path.text, default: 0] += Int(expected - found) }
    report.surplus += Int(max(0, found - expected))
    try connection.run(
      "INSERT OR IGNORE INTO collections (id, database, path, name, count) VALUES (?, ?, ?, ?, ?)", number,
      collection.database, collection.path, Array(path.last.utf8), found)
  }
}
