// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

extension BackendFile {
  typealias Durability = BackendConfiguration.Durability

  static func open(_ directory: borrowing StoreDirectory, _ durability: Durability) throws(StoreError) -> Connection {
    let files = directory.files
    if DataRepair.isInterrupted(files) { throw StoreError(.corrupt, DataRepair.interruption) }
    try directory.prepare { path throws(StoreError) in
      try open(location: PageChecksums.uri(of: path), durability).close()
    }
    let connection = try open(location: PageChecksums.uri(of: files.path), durability)
    if files.isMarkedDamaged {
      // An earlier process met damage, in a read that failed or that only seemed to fail.
      try verify(connection)
      files.clearDamage()
    }
    return connection
  }

  /// Reports once that the system stopped while the data was open, and marks it as open from its first change on.
  /// Commits that wait for the disk need no mark.
  static func observeCrashes(
    _ connection: Connection, _ files: DatabaseFiles, _ durability: Durability, _ report: (String) -> Void
  ) throws(StoreError) {
    let mark = OpenMark(files)
    if mark.takeCrash() {
      let newest = try connection.integer(
        """
        SELECT max((SELECT coalesce(max(version), 0) FROM databases), (SELECT coalesce(max(version), 0) FROM changes))
        """)
      let since = newest.map { $0 > 0 ? "after \(Timestamp(microseconds: $0).rfc3339Text) " : "" } ?? ""
      report(
        "The system stopped while \(files.path) was open. Commits \(since)may be lost. To wait for the disk at each "
          + "commit, use --sync full.")
    }
    if durability == .normal { connection.beforeFirstChange = { mark.set() } }
  }

  /// - Parameter location: the path or URI of the file; `nil` for a database in memory.
  static func open(location: String?, _ durability: Durability) throws(StoreError) -> Connection {
    let connection = try Connection(path: location, called: title)
    try connection.configure(settings(isFile: location != nil, durability))
    try BackendSchema.prepare(connection)
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
        """,
      reservedBytes: isFile ? PageChecksums.reservedBytes : 0, checkpointPages: 10_000)
  }

  /// Reads every page and compares all structures. O(size).
  static func verify(_ connection: Connection) throws(StoreError) {
    if let complaint = try connection.integrityComplaint() {
      throw StoreError(.corrupt, "The backend's data is damaged: \(complaint).")
    }
  }
}
