// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import Foundation

extension CacheDatabase {
  /// The size on disk, the log included; for a database in memory the size of all pages.
  func byteSize() throws(StoreError) -> Int64 {
    guard let path else { return try pageCount() * pageSize() }
    return Self.fileSize(path) + logByteSize
  }

  /// The size of the log of changes that are not in the database file yet.
  var logByteSize: Int64 { path.map { Self.fileSize($0 + "-wal") } ?? 0 }

  private static func fileSize(_ path: String) -> Int64 {
    var information = stat()
    return stat(path, &information) == 0 ? Int64(information.st_size) : 0
  }

  /// Bounds the log of a cache that has a threshold; by default the log grows as far as pays for writing speed.
  func boundLog(_ policy: GarbageCollectionPolicy) throws(StoreError) {
    guard path != nil, case .leastRecentlyUsed(let threshold) = policy else { return }
    let pages = min(max(threshold / 8 / (try pageSize()), 64), Schema.defaultLogPages)
    connection.checkpointPages = Int32(pages)
    try connection.execute("PRAGMA journal_size_limit = \(pages * (try pageSize()))")
  }

  /// The size of pages that hold nothing any more.
  func freeByteSize() throws(StoreError) -> Int64 {
    try freePageCount() * pageSize()
  }

  /// The number of the file's pages, and the size of each.
  func pages() throws(StoreError) -> (count: Int, size: Int64) { (Int(try pageCount()), try pageSize()) }

  private func pageSize() throws(StoreError) -> Int64 { try connection.integer("PRAGMA page_size") ?? 0 }
  private func pageCount() throws(StoreError) -> Int64 { try connection.integer("PRAGMA page_count") ?? 0 }
  private func freePageCount() throws(StoreError) -> Int64 { try connection.integer("PRAGMA freelist_count") ?? 0 }

  /// Gives some free pages back, if the database is at least this large or an eighth of it is free: moving a page costs
  /// as much as removing several documents, and a few free pages will be used again soon.
  /// - Precondition: inside a transaction.
  /// - Returns: whether there is more to do.
  func compact(unlessBelow threshold: Int64, pages moved: Int) throws(StoreError) -> Bool {
    let (free, pages) = (try freePageCount(), try pageCount())
    let size = try byteSize()
    guard free > 0, free > pages / 8 || size >= threshold else { return false }
    try connection.execute("PRAGMA incremental_vacuum(\(moved))")
    return try pageCount() < pages
  }

  /// Writes everything from the log into the database file, which then ends with its last page, and empties the log,
  /// unless others use it.
  func writeLogBack() throws(StoreError) { try connection.checkpoint(emptiesLog: sharing == nil) }
}
