// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import GRDB
import GRDBSQLite
import Glibc

extension BackendFile {
  /// What the first bytes of a database file say about who wrote it.
  enum Format: Hashable {
    case absent
    /// As versions before 3 wrote it, without checksums.
    case unchecked
    case checked
    case unknown

    /// In the header of files with checksums, so that no changed bit makes one look like one without.
    static let applicationID: UInt32 = 0x4865_6172

    init(path: String) {
      var header = [UInt8](repeating: 0, count: 100)
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      let count = descriptor < 0 ? 0 : pread(descriptor, &header, header.count, 0)
      if descriptor >= 0 { close(descriptor) }
      let applicationID = header[68..<72].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      switch (count, header[20], applicationID) {
      case (0, _, _): self = .absent
      case (100, UInt8(PageChecksums.reservedBytes), Self.applicationID): self = .checked
      case (100, 0, 0): self = .unchecked
      default: self = .unknown
      }
    }
  }

  static func open(
    _ files: DatabaseFiles, _ configuration: BackendConfiguration
  ) throws(BackendError) -> DatabaseQueue {
    if DataRepair.isInterrupted(files) { throw BackendError(.corrupt, DataRepair.interruption) }
    do {
      try files.prepare().forEach(configuration.report)
      if Format(path: files.path) == .unchecked { try addChecksums(files) }
      if Format(path: files.path) == .unknown { throw BackendError(.corrupt, "Its header is not what was written.") }
      let queue = try open(location: PageChecksums.uri(of: files.path), configuration.durability)
      if files.isMarkedDamaged {
        // Damage was met the last time, by a read that went wrong or by one that only seemed to.
        try verify(queue)
        files.clearDamage()
      }
      return queue
    } catch { throw BackendError(error) }
  }

  /// - Parameter location: a path or URI; in memory without one.
  static func open(
    location: String?, _ durability: BackendConfiguration.Durability
  ) throws(BackendError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = name
    configuration.prepareDatabase { database in try prepare(database, isFile: location != nil, durability) }
    do {
      let queue =
        try location.map { try DatabaseQueue(path: $0, configuration: configuration) }
        ?? DatabaseQueue(configuration: configuration)
      let migrator = migrator()
      try refuseNewer(queue, migrator)
      try migrator.migrate(queue)
      return queue
    } catch { throw BackendError(error) }
  }

  private static func refuseNewer(_ queue: DatabaseQueue, _ migrator: DatabaseMigrator) throws {
    if try queue.read(migrator.hasBeenSuperseded) {
      throw BackendError(
        .newerSchema, "The backend's data was written by a newer Hearth. Update, or choose another directory.")
    }
  }

  private static func prepare(
    _ database: Database, isFile: Bool, _ durability: BackendConfiguration.Durability
  ) throws {
    if isFile, try Int64.fetchOne(database, sql: "PRAGMA page_count") == 0 {
      // Only an empty file takes these; in the header they are before the log begins.
      var reserved = PageChecksums.reservedBytes
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
      try database.execute(
        sql: "PRAGMA page_size = 4096; PRAGMA application_id = \(Format.applicationID);")
    }
    // WAL: a commit survives the death of the process (S10), and with FULL also a power cut.
    // EXCLUSIVE, which the directory's lock makes true anyway, saves each statement the system calls of file locks.
    // A checkpoint waits for the disk: one per 40 MB of log instead of 4 MB halves what a random update costs.
    try database.execute(
      sql: """
        PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = \(durability.rawValue);
        PRAGMA secure_delete = OFF; PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864;
        PRAGMA wal_autocheckpoint = 10000;
        """)
  }

  /// Reads every page and compares all structures. O(size).
  static func verify(_ queue: DatabaseQueue) throws {
    let answer = try queue.writeWithoutTransaction { database in
      try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
    }
    if let answer, answer != "ok" {
      throw BackendError(.corrupt, "The backend's data is damaged: \(answer.split(separator: "\n").last ?? "").")
    }
  }

  /// Replaces a file without checksums by a copy with them, whole or not at all.
  private static func addChecksums(_ files: DatabaseFiles) throws {
    let copy = files.path + ".new"
    // Of an attempt that was interrupted.
    unlink(copy)
    unlink(copy + "-journal")
    do {
      let old = try DatabaseQueue(path: files.path)
      try refuseNewer(old, migrator())
      try verify(old)
      try old.writeWithoutTransaction { database in
        var reserved = PageChecksums.reservedBytes
        sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        try database.execute(sql: "VACUUM INTO ?", arguments: [PageChecksums.uri(of: copy)])
      }
      let new = try DatabaseQueue(path: PageChecksums.uri(of: copy))
      try new.writeWithoutTransaction { try $0.execute(sql: "PRAGMA application_id = \(Format.applicationID)") }
      try new.close()
      // Brings its log back and removes it: it must not be found beside the new file.
      try old.close()
    } catch {
      unlink(copy)
      throw error
    }
    if let error = replace(files.path, by: copy) { throw error }
  }

  /// Renames a finished file to another's name, once it is on the disk.
  static func replace(_ path: String, by copy: String) -> BackendError? {
    let descriptor = Glibc.open(copy, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0, rename(copy, path) == 0 else {
      return BackendError(.notWritable, "\(path) cannot be replaced: \(String(cString: strerror(errno))).")
    }
    let directory = Glibc.open(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex)), O_RDONLY)
    if directory >= 0 {
      // The name that is found after a power cut is the old one or the new one: both files are whole.
      fsync(directory)
      close(directory)
    }
    return nil
  }
}
