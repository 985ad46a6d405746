// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

extension BackendFile {
  typealias Durability = BackendConfiguration.Durability

  typealias Format = PageFormat

  static func open(_ directory: borrowing StoreDirectory, _ durability: Durability) throws(StoreError) -> Connection {
    let files = directory.files
    if DataRepair.isInterrupted(files) { throw StoreError(.corrupt, DataRepair.interruption) }
    try directory.prepare { path throws(StoreError) in
      try open(location: PageChecksums.uri(of: path), durability).close()
    }
    if Format(path: files.path) == .unchecked {
      try PageChecksums.add(to: files, called: title) { connection throws(StoreError) in
        try Migration.refuseNewer(connection)
        try verify(connection)
      }
    }
    if Format(path: files.path) == .unknown { throw StoreError(.corrupt, "Its header is not what was written.") }
    let connection = try open(location: PageChecksums.uri(of: files.path, notesEnd: true), durability)
    if files.isMarkedDamaged {
      // An earlier process met damage, in a read that went wrong or that only seemed to.
      try verify(connection)
      files.clearDamage()
    }
    return connection
  }

  /// - Parameter location: the path or URI of the file; `nil` for a database in memory.
  static func open(location: String?, _ durability: Durability) throws(StoreError) -> Connection {
    let connection = try Connection(path: location, called: title)
    try connection.configure(settings(isFile: location != nil, durability))
    try Migration.refuseNewer(connection)
    try Migration.perform(on: connection)
    return connection
  }

  /// The name of the file in error messages.
  private static let title = "backend's data"

  private static func settings(isFile: Bool, _ durability: Durability) -> Connection.Settings {
    // WAL: a commit survives the death of the process (S10), and with FULL also a power cut.
    // EXCLUSIVE, which the directory's lock makes true anyway, saves each statement the system calls of file locks.
    // A checkpoint waits for the disk: one per 40 MB of log instead of 4 MB halves what a random update costs.
    Connection.Settings(
      creation: isFile ? "PRAGMA page_size = 4096; PRAGMA application_id = \(PageChecksums.applicationID);" : "",
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
}
