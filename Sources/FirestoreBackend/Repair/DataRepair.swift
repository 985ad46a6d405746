// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreSQLite
import Glibc

/// Brings a damaged database of the backend back as far as it can be read. The damaged file is kept.
///
/// ```
/// backend.sqlite3       damaged ──────────────────────────────────► backend.sqlite3.damaged-1
///                          │ page by page
///                          ▼
/// ….repairing ──► ….repaired, on the disk ────────────────────────► backend.sqlite3
/// ```
/// A repair that is interrupted leaves the damaged file, or both; the next one goes on from there.
package struct DataRepair: ~Copyable {
  private let directory: StoreDirectory
  /// What is wrong; `nil` for data that is as it was written.
  package let damage: String?

  private var files: DatabaseFiles { directory.files }
  private var unfinished: String { files.path + ".repairing" }
  private var finished: String { Self.finished(files) }

  /// A repaired file that has yet to take the place of the damaged one.
  private static func finished(_ files: DatabaseFiles) -> String { files.path + ".repaired" }

  static func isInterrupted(_ files: DatabaseFiles) -> Bool { access(finished(files), F_OK) == 0 }

  /// Whether there is anything in a directory that a repair could begin with.
  package static func applies(to directory: String) -> Bool {
    let files = DatabaseFiles(path: directory + "/" + BackendFile.name)
    return files.exists || isInterrupted(files)
  }

  static let interruption = "A repair was interrupted; another one goes on from there."

  /// Locks the directory and looks at everything in its database, which is not changed. O(size).
  /// - Throws: `locked`, `notWritable`, `notPrivate`, `newerSchema`; damage is no error.
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
      return nil
    } catch {
      guard error.kind == .corrupt else { throw error }
      return error.message
    }
  }

  /// What a repair has brought back.
  package struct Report: Hashable, Sendable {
    /// Where the damaged file is now.
    package var kept: String
    package var documents = 0
    /// Paths of collections from which documents are missing, with how many.
    package var missing: [String: Int] = [:]
    /// Documents that were read, but not where they belong: their collection's path is lost.
    package var unnamed = 0
    /// Documents that had been deleted may be back, so many as collections now hold too many.
    package var surplus = 0
    /// Changes in the log that are lost, of documents that may be older now.
    package var lostChanges = 0
    /// What could not be read of the file, index pages included, which are made anew.
    package var unreadable = 0
    /// Paths of collections of which documents may be missing, as how many they held cannot be read either.
    package var uncounted: [String] = []
    /// Whether not even the name of a database or of a collection was found: what the file held is not known.
    package var isEmpty = false

    package var isComplete: Bool {
      missing.isEmpty && unnamed == 0 && surplus == 0 && lostChanges == 0 && uncounted.isEmpty && !isEmpty
    }
  }

  /// Saves what can be read into a new file, which takes the place of the damaged one.
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

  private static func hasChecksums(_ files: DatabaseFiles) -> Bool? {
    switch BackendFile.Format(path: files.path) {
    case .checked: true
    case .unchecked: false
    case .absent, .unknown: nil
    }
  }

  private borrowing func save() throws(StoreError) -> Report {
    let log = try WriteAheadLog(path: files.log)
    let (fits, lostBytes) = LogInspection.lost(files, log)
    // Pages of a log that belongs to another file, or to another state of it, are none of this one.
    let pages = DatabasePages(files, fits ? log : nil, hasChecksums: Self.hasChecksums(files))
    let connection = try BackendFile.open(location: PageChecksums.uri(of: unfinished), .normal)
    // Brings the log back and removes it.
    defer { connection.close() }
    return try connection.transaction { () throws(StoreError) in
      var salvage = Salvage(connection)
      let unreadable = try pages.forEachRecord { record throws(StoreError) in try salvage.take(record) }
      var report = try salvage.finish()
      report.unreadable = unreadable
      report.lostChanges = pages.damagedFrames + (lostBytes + pages.pageSize - 1) / pages.pageSize
      if !fits { report.lostChanges += log?.frames.count { $0.isIntact } ?? 0 }
      // One page is that which had the number itself.
      if unreadable < 2 { report.uncounted = [] }
      return report
    }
  }
}
