// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import Glibc

extension BackendFile {
  typealias Durability = BackendConfiguration.Durability

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

  static func open(_ directory: borrowing StoreDirectory, _ durability: Durability) throws(StoreError) -> Connection {
    let files = directory.files
    if DataRepair.isInterrupted(files) { throw StoreError(.corrupt, DataRepair.interruption) }
    try directory.prepare()
    if Format(path: files.path) == .unchecked { try addChecksums(files) }
    if Format(path: files.path) == .unknown { throw StoreError(.corrupt, "Its header is not what was written.") }
    let connection = try open(location: PageChecksums.uri(of: files.path), durability)
    if files.isMarkedDamaged {
      // Damage was met the last time, by a read that went wrong or by one that only seemed to.
      try verify(connection)
      files.clearDamage()
    }
    return connection
  }

  /// - Parameter location: a path or URI; in memory without one.
  static func open(location: String?, _ durability: Durability) throws(StoreError) -> Connection {
    let connection = try Connection(path: location, called: title)
    try connection.configure(settings(isFile: location != nil, durability))
    try Migration.refuseNewer(connection)
    try Migration.perform(on: connection)
    return connection
  }

  /// What errors call it.
  private static let title = "backend's data"

  private static func settings(isFile: Bool, _ durability: Durability) -> Connection.Settings {
    // WAL: a commit survives the death of the process (S10), and with FULL also a power cut.
    // EXCLUSIVE, which the directory's lock makes true anyway, saves each statement the system calls of file locks.
    // A checkpoint waits for the disk: one per 40 MB of log instead of 4 MB halves what a random update costs.
    Connection.Settings(
      creation: isFile ? "PRAGMA page_size = 4096; PRAGMA application_id = \(Format.applicationID);" : "",
      opening: """
        PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = \(durability.rawValue);
        PRAGMA secure_delete = OFF; PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;
        PRAGMA wal_autocheckpoint = 10000;
        """,
      reservedBytes: isFile ? PageChecksums.reservedBytes : 0)
  }

  /// Reads every page and compares all structures. O(size).
  static func verify(_ connection: Connection) throws(StoreError) {
    if let complaint = try connection.integrityComplaint() {
      throw StoreError(.corrupt, "The backend's data is damaged: \(complaint).")
    }
  }

  /// Replaces a file without checksums by a copy with them, whole or not at all.
  private static func addChecksums(_ files: DatabaseFiles) throws(StoreError) {
    let copy = files.path + ".new"
    // Of an attempt that was interrupted.
    unlink(copy)
    unlink(copy + "-journal")
    do throws(StoreError) {
      let old = try Connection(path: files.path, called: title)
      try Migration.refuseNewer(old)
      try verify(old)
      old.reserve(PageChecksums.reservedBytes)
      try old.run("VACUUM INTO ?", PageChecksums.uri(of: copy))
      let new = try Connection(path: PageChecksums.uri(of: copy), called: title)
      try new.execute("PRAGMA application_id = \(Format.applicationID)")
      new.close()
      // Brings its log back and removes it: it must not be found beside the new file.
      old.close()
      try replace(files.path, by: copy)
    } catch {
      unlink(copy)
      throw error
    }
  }

  /// Renames a finished file to another's name, once it is on the disk.
  static func replace(_ path: String, by copy: String) throws(StoreError) {
    let descriptor = Glibc.open(copy, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0, rename(copy, path) == 0 else {
      throw StoreError(.notWritable, "\(path) cannot be replaced: \(StoreError.reason(errno)).")
    }
    let directory = Glibc.open(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex)), O_RDONLY)
    if directory >= 0 {
      // The name that is found after a power cut is the old one or the new one: both files are whole.
      fsync(directory)
      close(directory)
    }
  }
}
