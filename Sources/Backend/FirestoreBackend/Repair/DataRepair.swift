// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreSQLite
import Glibc

/// Restores a damaged database of the backend as far as it can be read, with the commits of damaged logs that were kept.
/// The damaged files are kept.
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
  /// The damage that was found; `nil` for data that is as it was written.
  package let damage: String?

  private var files: DatabaseFiles { directory.files }
  private var unfinished: String { files.path + ".repairing" }
  private var finished: String { Self.finished(files) }

  /// The path of a repaired file that has yet to replace the damaged one.
  private static func finished(_ files: DatabaseFiles) -> String { files.path + ".repaired" }

  static func isInterrupted(_ files: DatabaseFiles) -> Bool { access(finished(files), F_OK) == 0 }

  /// Whether a directory has any file that a repair could begin with.
  package static func applies(to directory: String) -> Bool {
    let files = DatabaseFiles(path: directory + "/" + BackendFile.name)
    return files.exists || isInterrupted(files)
  }

  static let interruption = "A repair was interrupted; another one goes on from there."

  /// Locks the directory and verifies its whole database, which is not changed. O(size).
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
      guard let log = directory.files.keptLogs.first else { return nil }
      return "Commits that were lost with a damaged log are in \(log)."
    } catch {
      guard error.kind == .corrupt else { throw error }
      return error.message
    }
  }

  /// The result of a repair.
  package struct Report: Hashable, Sendable {
    /// The path at which the damaged file is kept.
    package var kept: String
    package var documents = 0
    /// The paths of collections from which documents are missing, with the numbers of these.
    package var missing: [String: Int] = [:]
    /// The number of documents whose collection's path is lost.
    package var unnamed = 0
    /// The number of documents that collections now hold too many: deleted documents may be back.
    package var surplus = 0
    /// The number of lost changes in the log; their documents may be older now.
    package var lostChanges = 0
    /// The number of unreadable pages of the file, index pages included, which are made anew.
    package var unreadable = 0
    /// The paths of collections of which documents may be missing, as their counts cannot be read either.
    package var uncounted: [String] = []
    /// Whether not even the name of a database or of a collection was found: the content of the file is unknown.
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
    // Closing applies the new file's log and removes it.
    defer { connection.close() }
    return try connection.transaction { () throws(StoreError) in
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
      // A single unreadable page can only be the one that had the count itself.
      if unreadable < 2 { report.uncounted = [] }
      return report
    }
  }
}
