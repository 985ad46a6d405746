// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// Handles commits that fail on disk.
///
/// A commit is in the write-ahead log as soon as its last frame is written. If the following fsync fails, SQLite rolls
/// back in memory but leaves the frames in the log. If the process is then killed, SQLite would recover the frames,
/// although the caller was notified that nothing was stored. Therefore an empty commit overwrites the first of these
/// frames before the caller is notified.
///
/// After a failed fsync, the system may have dropped pages but marked them as written (as PostgreSQL found in 2018). A
/// second fsync then succeeds although the pages are not stored. Therefore the database is closed, and its log is read
/// again.
extension Connection {
  /// Removes a commit that failed from the log.
  /// - Returns: the error for the caller: `failure`, or `uncertain` if the commit could not be removed.
  func withdrawn(_ failure: StoreError) -> StoreError {
    let code = sqlite3_extended_errcode(handle)
    let detail = String(cString: sqlite3_errmsg(handle))
    rollBack()
    guard code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_FULL else { return failure }
    isInDoubt = logMayHoldMore
    do throws(StoreError) {
      if isInDoubt { try withdraw() }
      if Self.failuresToSync.contains(code) { try reopen() }
      return failure
    } catch {
      if isInDoubt {
        return StoreError(
          .uncertain,
          "The \(name) cannot be written, and the last commit may have been stored. Check the disk, then read the data "
            + "before you write again. (\(detail))")
      }
      return failure
    }
  }

  /// Whether the log may contain a complete commit after the last commit that succeeded.
  private var logMayHoldMore: Bool {
    guard let path = filePath else { return true }
    do throws(StoreError) {
      guard let log = try WriteAheadLog(path: path + "-wal"), log.isHeaderIntact else { return false }
      // The failed commit may have been the one that restarts the log. If it failed before that, all frames in the log
      // are older and known.
      let known = log.salts == writtenBack?.salts ? writtenBack?.frames ?? 0 : 0
      return log.committedEnd > log.end(ofFrames: Int(max(logFrames.pointee, known)))
    } catch {
      return true
    }
  }

  /// Counts the frames of commits that are already in the log.
  func countLoggedFrames() {
    guard logFrames.pointee == 0, let path = filePath, let log = try? WriteAheadLog(path: path + "-wal"),
      log.isHeaderIntact
    else { return }
    logFrames.pointee = Int32(clamping: log.committedEnd / (WriteAheadLog.frameHeaderSize + log.pageSize))
  }

  private var filePath: String? { handle.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } }

  /// Overwrites the first frame of a failed commit. This breaks the chain of checksums, so that SQLite's recovery ends
  /// before the commit.
  /// - Throws: the reason why the log still cannot be written.
  func withdraw() throws(StoreError) {
    do throws(StoreError) {
      // This writes the first page of the database with unchanged contents.
      try execute("PRAGMA user_version = \(try integer("PRAGMA user_version") ?? 0)")
    } catch {
      let code = sqlite3_extended_errcode(handle)
      rollBack()
      // The frame is overwritten, but the disk has not confirmed it. After a power failure the commit may reappear.
      if Self.failuresToSync.contains(code) { try reopen() }
      throw error
    }
    isInDoubt = false
    // The checkpoint removes the rest of the failed commit, so that it is not reported as lost when the database is
    // opened later. Other connections to the database can delay this.
    let isAlone = try first("PRAGMA locking_mode", as: { $0.text(0) }) == "exclusive"
    try? checkpoint(emptiesLog: isAlone)
  }

  /// Writes the pages in the log back to the database, unless other connections prevent it. After a failure, the
  /// commits are still in the log and are written back later.
  /// - Parameter emptiesLog: whether to truncate the log file. This requires that no other connection reads from it.
  package func checkpoint(emptiesLog: Bool = false) throws(StoreError) {
    guard let handle else { return }
    var (logged, written): (Int32, Int32) = (-1, -1)
    let mode = emptiesLog ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &logged, &written)
    guard code & 0xff != SQLITE_BUSY, code & 0xff != SQLITE_LOCKED else { return }
    guard code == SQLITE_OK else {
      let failure = error
      // The next statement reopens the database if this fails.
      if Self.failuresToSync.contains(code) { try? reopen() }
      throw failure
    }
    // The next commit may restart the log, so its frames are counted from 0.
    if logged == written {
      writtenBack = filePath.flatMap { WriteAheadLog.salts(at: $0 + "-wal") }.map { ($0, logged) }
      logFrames.pointee = 0
    }
  }

  /// The result codes SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC.
  private static let failuresToSync: Set<Int32> = [SQLITE_IOERR | 4 << 8, SQLITE_IOERR | 5 << 8]
}
