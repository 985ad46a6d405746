// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite
import GRDB
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
  private let lock: DirectoryLock
  private let files: DatabaseFiles
  /// What is wrong; `nil` for data that is as it was written.
  package let damage: String?

  private var unfinished: String { files.path + ".repairing" }
  private var finished: String { Self.finished(files) }

  /// A repaired file that has yet to take the place of the damaged one.
  private static func finished(_ files: DatabaseFiles) -> String { files.path + ".repaired" }

  static func isInterrupted(_ files: DatabaseFiles) -> Bool { access(finished(files), F_OK) == 0 }
  static let interruption = "A repair was interrupted; another one goes on from there."

  /// Locks the directory and looks at everything in its database, which is not changed. O(size).
  /// - Throws: `locked`, `notWritable`, `notPrivate`, `newerSchema`; damage is no error.
  package init(directory: String) throws(BackendError) {
    let lock = try BackendFile.hold(directory)
    let files = DatabaseFiles(path: lock.directory + "/" + BackendFile.name)
    let damage = try Self.damage(files)
    self.damage = damage
    self.lock = lock
    self.files = files
  }

  private static func damage(_ files: DatabaseFiles) throws(BackendError) -> String? {
    if isInterrupted(files) { return interruption }
    do {
      let queue = try BackendFile.open(
        files, BackendConfiguration(location: .memory, now: { Timestamp(seconds: 0) }))
      try BackendFile.verify(queue)
      files.clearDamage()
      return nil
    } catch {
      let error = BackendError(error)
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

    package var isComplete: Bool { missing.isEmpty && unnamed == 0 && surplus == 0 && lostChanges == 0 }
  }

  /// Saves what can be read into a new file, which takes the place of the damaged one.
  package consuming func run() throws(BackendError) -> Report {
    var report = Report(kept: "")
    do {
      if access(finished, F_OK) != 0 {
        for suffix in ["", "-wal", "-journal"] { unlink(unfinished + suffix) }
        _ = try PrivateFile.secure(unfinished, creating: true)
        report = try save()
        if let error = BackendFile.replace(finished, by: unfinished) { throw error }
      }
      report.kept = files.exists ? try files.moveAside("damaged") : files.path
      if let error = BackendFile.replace(files.path, by: finished) { throw error }
      files.clearDamage()
      return report
    } catch { throw BackendError(error) }
  }

  private static func hasChecksums(_ files: DatabaseFiles) -> Bool? {
    switch BackendFile.Format(path: files.path) {
    case .checked: true
    case .unchecked: false
    case .absent, .unknown: nil
    }
  }

  private func save() throws -> Report {
    let pages = DatabasePages(
      files, try WriteAheadLog(path: files.log), hasChecksums: Self.hasChecksums(files))
    let queue = try BackendFile.open(location: PageChecksums.uri(of: unfinished), .normal)
    let report = try queue.writeWithoutTransaction { database in
      let connection = Connection(database: database)
      return try connection.transaction { () throws(BackendError) in
        var salvage = try Salvage(connection)
        let unreadable = try pages.forEachRecord { record throws(BackendError) in try salvage.take(record) }
        var report = try salvage.finish()
        report.unreadable = unreadable
        report.lostChanges = pages.damagedFrames
        return report
      }
    }
    // Brings the log back and removes it.
    try queue.close()
    return report
  }
}
