// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import Foundation

/// The tables of a cache, their connection and its transactions.
final class CacheDatabase {
  /// The path of the file; `nil` for a database in memory.
  let path: String?
  let connection: Connection
  let collections: CollectionTable
  let indexes: IndexTable
  let documents: DocumentTable
  let mutations: MutationQueue
  let overlays: OverlayCache
  let targets: TargetCache
  let bundles: BundleTable
  let rejectedWrites: RejectedWriteTable
  let retentions: RetentionTable
  let globals: Globals
  let sequenceNumbers: SequenceNumbers
  private let batchNumbers: BatchNumbers
  let signedOutUser: UserNumber
  /// See `Globals.Name.clientIdentity`.
  let identity: Int64
  /// A random number that is new each time the database is opened. Together with the identity, it makes the names of
  /// the batches written during this time unique.
  let generation: Int64
  /// The directory. It remains locked while the database is open.
  private var directory: StoreDirectory?
  /// Watches whether the files still exist at their path; `nil` in memory.
  private(set) var openFiles: OpenFiles?
  /// This client's state in a shared cache; `nil` if the cache is not shared.
  private(set) var sharing: CacheSharing?

  /// A database in memory.
  convenience init() throws(StoreError) { try self.init(path: nil) }

  private init(path: String?, _ use: DirectoryUse = .alone) throws(StoreError) {
    self.path = path
    let location = try path.map { path throws(StoreError) in try PageChecksums.uri(of: path) }
    connection = try Connection(path: location, called: Self.title)
    try Schema.prepare(connection, isFile: path != nil, use)
    collections = CollectionTable(connection)
    indexes = try IndexTable(connection, collections)
    documents = try DocumentTable(connection, collections, indexes)
    globals = Globals(connection)
    batchNumbers = BatchNumbers(connection, globals)
    mutations = MutationQueue(connection: connection, collections: collections, numbers: batchNumbers)
    overlays = OverlayCache(connection: connection)
    targets = TargetCache(connection: connection)
    bundles = BundleTable(connection: connection)
    rejectedWrites = RejectedWriteTable(connection: connection)
    retentions = RetentionTable(connection)
    sequenceNumbers = try SequenceNumbers(globals)
    generation = try connection.integer("SELECT random()") ?? 0
    let (mutations, globals) = (mutations, globals)
    (signedOutUser, identity) = try connection.transaction { () throws(StoreError) in
      try globals.establishIdentity()
      return (try mutations.number(ofUser: nil), try globals.value(.clientIdentity) ?? 0)
    }
  }

  deinit { close() }

  /// Opens the database in a directory, which is locked until `close`.
  static func open(
    in path: String, claim: CacheClaim?, use: DirectoryUse = .alone,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> CacheDatabase {
    let directory = try hold(path, use, report)
    let database = try open(directory, claim, use)
    database.hold(directory, report)
    return database
  }

  private func hold(_ directory: consuming StoreDirectory, _ report: @escaping @Sendable (String) -> Void) {
    openFiles = OpenFiles(
      directory.files,
      consequence: "new writes are rejected if they would be lost when this process ends, and pending writes are "
        + "still sent. Restart this process to create a new cache.")
    openFiles?.watch { loss in report(loss.message) }
    observeCrashes(directory.files, report)
    self.directory = consume directory
  }

  /// Reports, once, that the system crashed while the cache was open. To detect this, the first change marks the cache
  /// as open. A shared cache has no such mark, because a mark can belong to only one client.
  private func observeCrashes(_ files: DatabaseFiles, _ report: @Sendable (String) -> Void) {
    guard sharing == nil else { return }
    let mark = OpenMark(files)
    if mark.takeCrash() {
      report("The system stopped while \(files.path) was open. Writes of the last seconds before that may be lost.")
    }
    connection.beforeFirstChange = { mark.set() }
  }

  /// Creates the directory of a cache if necessary, checks that it is private, and locks it.
  static func hold(
    _ path: String, _ use: DirectoryUse = .alone, _ report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> StoreDirectory {
    try StoreDirectory(path, called: "cache directory", database: name, use: use, report: report)
  }

  static func files(in path: String) -> DatabaseFiles { DatabaseFiles(path: path + "/" + name) }

  private static let name = "cache.sqlite3"

  /// Like `open`, but moves a damaged database aside and replaces it with a new one.
  /// - Returns: the database, the damage, and the new path of the damaged database.
  static func openRecovering(
    in path: String, claim: CacheClaim?, use: DirectoryUse, report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) -> (database: CacheDatabase, damage: StoreError?, movedAside: String?) {
    let directory = try hold(path, use, report)
    var damage: StoreError?
    var movedAside: String?
    let database: CacheDatabase
    do throws(StoreError) {
      database = try open(directory, claim, use)
    } catch {
      // A damaged database that others use is not moved.
      guard error.kind == .corrupt, directory.isFirst else { throw error }
      let aside = try directory.files.moveAside()
      database = try open(directory, claim, use)
      movedAside = aside
      damage = StoreError(
        .corrupt,
        "The cache was damaged and has been moved to \(aside). A new cache was created. "
          + "Its pending writes have not been sent. (\(error.message))")
    }
    database.hold(directory, report)
    return (database, damage, movedAside)
  }

  private static func open(
    _ directory: borrowing StoreDirectory, _ claim: CacheClaim?, _ use: DirectoryUse
  ) throws(StoreError) -> CacheDatabase {
    var database = try open(directory, use)
    if let claim {
      // A cache in use by others is not replaced.
      let claim = directory.isFirst ? claim : CacheClaim(claim.identity)
      if try !database.accept(claim, in: directory.path) {
        database.close()
        try directory.files.remove()
        database = try open(directory, use)
        _ = try database.accept(claim, in: directory.path)
      }
    }
    if use == .shared {
      do throws(StoreError) {
        database.sharing = try CacheSharing(
          database.connection, try ClientPresence(in: directory.path), isFirst: directory.isFirst)
      } catch {
        throw explaining(error, directory.files.path)
      }
      try directory.share()
      database.connection.setPatience(CacheSharing.patience)
    }
    return database
  }

  private static func open(
    _ directory: borrowing StoreDirectory, _ use: DirectoryUse
  ) throws(StoreError) -> CacheDatabase {
    try directory.prepare(making: make)
    let database: CacheDatabase
    do throws(StoreError) {
      database = try CacheDatabase(path: directory.files.path, use)
    } catch {
      throw Self.explaining(error, directory.files.path)
    }
    // The tables that every start reads must be readable; otherwise the database is damaged.
    _ = try database.mutations.count(of: database.signedOutUser)
    if directory.isFirst, directory.files.isMarkedDamaged {
      try database.verify()
      // Index entries have no checksums, so they are built again.
      try database.transaction { () throws(StoreError) in try database.indexes.removeAllEntries() }
      directory.files.clearDamage()
    }
    return database
  }

  /// The word for the database in error messages.
  private static let title = "cache"

  private static func make(_ path: String) throws(StoreError) {
    let connection = try Connection(path: PageChecksums.uri(of: path), called: title)
    defer { connection.close() }
    try Schema.prepare(connection, isFile: true)
    // Closing does not report a full disk, but a checkpoint does.
    try connection.checkpoint(emptiesLog: true)
  }

  func close() {
    if let sharing {
      // Errors are ignored, because other clients also detect that a client is gone without this notice.
      try? transaction { () throws(StoreError) in try sharing.leave() }
      sharing.wakeOthersIfTold()
      sharing.peers?.leave(sharing.id)
      self.sharing = nil
    }
    openFiles?.end()
    openFiles = nil
    connection.close()
    if let files = directory?.files { OpenMark(files).remove() }
    directory = nil
  }

  /// Closes the database without notifying other clients, as if the process had been killed.
  func abandon() {
    if let sharing {
      sharing.peers?.leave(sharing.id)
      sharing.peers?.wakeOthers(than: sharing.id)
      self.sharing = nil
    }
    close()
  }

  /// Runs `body` in one transaction. If it fails, discards the tables' state in memory.
  func transaction<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) {
      guard let sharing else { return try connection.transaction(body) }
      let result = try connection.transaction { () throws(StoreError) in
        try noticeOthers(sharing)
        return try body()
      }
      sharing.committed()
      return result
    } catch {
      sharing?.rolledBack()
      collections.forget()
      documents.forget()
      indexes.forget()
      retentions.forget()
      sequenceNumbers.forget()
      batchNumbers.forget()
      globals.forget()
      overlays.forget()
      throw noting(error)
    }
  }

  /// Runs `body` in a read transaction if other clients may change the database, and otherwise without a transaction.
  func read<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    guard let sharing else { return try perform(body) }
    return try perform { () throws(StoreError) in
      try connection.readingTransaction { () throws(StoreError) in
        try noticeOthers(sharing)
        return try body()
      }
    }
  }

  /// Runs `body` without a transaction.
  func perform<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) {
      return try body()
    } catch {
      throw noting(error)
    }
  }

  /// Discards the tables' state in memory if another client has changed the database.
  private func noticeOthers(_ sharing: CacheSharing) throws(StoreError) {
    try sharing.notice { () throws(StoreError) in
      documents.forget()
      indexes.forget()
      retentions.forget()
      batchNumbers.forget()
      globals.forget()
      overlays.forget()
      try sequenceNumbers.reload()
    }
  }

  private func noting(_ error: StoreError) -> StoreError {
    if error.kind == .corrupt { directory?.files.markDamaged() }
    guard sharing != nil, let path else { return error }
    return Self.explaining(error, path)
  }

  /// A copy of the error, extended with the database's path. If another process has kept the cache locked for too long,
  /// the copy also names this process and gives advice.
  private static func explaining(_ error: StoreError, _ path: String) -> StoreError {
    guard error.kind == .locked, let holder = WriteLockHolder.process(of: path) else {
      return StoreError(error.kind, error.message.contains(path) ? error.message : "\(error.message) (\(path))")
    }
    return StoreError(
      .locked,
      "Process \(holder), which shares the cache, has locked the cache for several seconds. If the process is stopped, "
        + "resume it with kill -CONT \(holder), or end it.")
  }
}

extension CacheDatabase {
  /// The size on disk, including the write-ahead log. For a database in memory, the size of all pages.
  func byteSize() throws(StoreError) -> Int64 {
    guard let path else { return try pageCount() * pageSize() }
    return Self.fileSize(path) + logByteSize
  }

  /// The size in bytes of the write-ahead log, which contains the changes that are not in the database file yet.
  var logByteSize: Int64 { path.map { Self.fileSize($0 + "-wal") } ?? 0 }

  private static func fileSize(_ path: String) -> Int64 {
    var information = stat()
    return stat(path, &information) == 0 ? Int64(information.st_size) : 0
  }

  /// Limits the size of the write-ahead log if the cache has a size limit. Otherwise, the log may grow to the size that
  /// is best for write speed.
  func boundLog(_ policy: GarbageCollectionPolicy) throws(StoreError) {
    guard path != nil, case .leastRecentlyUsed(let threshold) = policy else { return }
    let pages = min(max(threshold / 8 / (try pageSize()), 64), Schema.defaultLogPages)
    connection.checkpointPages = Int32(pages)
    try connection.execute("PRAGMA journal_size_limit = \(pages * (try pageSize()))")
  }

  /// The size in bytes of the free pages.
  func freeByteSize() throws(StoreError) -> Int64 {
    try freePageCount() * pageSize()
  }

  /// The number and size of the file's pages.
  func pages() throws(StoreError) -> (count: Int, size: Int64) { (Int(try pageCount()), try pageSize()) }

  private func pageSize() throws(StoreError) -> Int64 { try connection.integer("PRAGMA page_size") ?? 0 }
  private func pageCount() throws(StoreError) -> Int64 { try connection.integer("PRAGMA page_count") ?? 0 }
  private func freePageCount() throws(StoreError) -> Int64 { try connection.integer("PRAGMA freelist_count") ?? 0 }

  /// Releases some free pages, if the database is at least as large as the threshold or if an eighth of it is free.
  /// Otherwise releasing pages is not worthwhile: moving a page costs as much as removing several documents, and free
  /// pages are soon reused.
  /// - Precondition: inside a transaction.
  /// - Returns: whether more free pages remain.
  func compact(unlessBelow threshold: Int64, pages moved: Int) throws(StoreError) -> Bool {
    let (free, pages) = (try freePageCount(), try pageCount())
    let size = try byteSize()
    guard free > 0, free > pages / 8 || size >= threshold else { return false }
    try connection.execute("PRAGMA incremental_vacuum(\(moved))")
    return try pageCount() < pages
  }

  /// Writes the write-ahead log back into the database file, and truncates the file after its last page. Then empties
  /// the log, unless other connections use it.
  func writeLogBack() throws(StoreError) { try connection.checkpoint(emptiesLog: sharing == nil) }
}
