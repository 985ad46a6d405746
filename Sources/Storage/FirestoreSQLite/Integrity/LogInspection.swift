// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Looks at a database's log before SQLite does. SQLite takes a fault in the log for its end and goes on without the
/// rest, and takes an empty file for an empty database.
///
/// A killed process leaves frames at the end that are cut off, or that no commit follows: their commits were never
/// confirmed. The bytes behind a bad frame tell the difference:
///
/// ```
/// ── intact ── ✗ ── nothing, or frames without a commit, or of an earlier generation     a torn tail: normal
/// ── intact ── ✗ ── … an intact commit                                                   damage: commits would be lost
/// ── intact ── ✗ commit, the last frame of the file, whole                               damage: it was written whole
/// ```
/// A log that is missing, or whose end is, shows in the note beside it (`LogEnd`).
package enum LogInspection {
  package enum Finding: Hashable, Sendable {
    /// No log, or no frame in it that counts.
    case nothing
    /// A log of this many commits, and nothing else that counts.
    case intact(commits: Int)
    /// The frames before this one are intact.
    case damaged(frame: Int)
    case damagedHeader
  }

  package static func finding(_ log: WriteAheadLog?) -> Finding {
    guard let log else { return .nothing }
    guard log.isHeaderIntact else { return log.isBlank ? .nothing : .damagedHeader }
    let bad = log.frames.firstIndex { !$0.isIntact } ?? log.frames.count
    let commits = log.frames[..<bad].count { $0.isCommit }
    let rest = log.frames[bad...]
    guard let first = rest.first else { return commits == 0 ? .nothing : .intact(commits: commits) }
    // The salts of earlier generations differ in both halves.
    let isCutCommit = rest.count == 1 && first.isCommit && first.matchingSalts > 0
    let isHalfSalted = first.matchingSalts == 1
    if isCutCommit || isHalfSalted || rest.dropFirst().contains(where: { $0.isIntact && $0.isCommit }) {
      return .damaged(frame: bad)
    }
    return commits == 0 ? .nothing : .intact(commits: commits)
  }

  /// - Returns: the facts that users should know.
  /// - Throws: `corrupt`, with the fault.
  @discardableResult package static func check(_ files: DatabaseFiles) throws(StoreError) -> [String] {
    let log = try WriteAheadLog(path: files.log)
    var information = stat()
    let size = stat(files.path, &information) == 0 ? Int(information.st_size) : nil
    switch finding(log) {
    case .nothing:
      if size == 0 {
        throw StoreError(.corrupt, "\(files.path) is empty: what it held is gone, unless there is a copy to put back.")
      }
    case .damaged(let frame):
      throw StoreError(
        .corrupt, "\(files.log) is damaged at frame \(frame + 1), and commits lie behind it.")
    case .damagedHeader: throw StoreError(.corrupt, "\(files.log) is damaged: its header is not what was written.")
    case .intact(let commits):
      if (size ?? 0) == 0 {
        let fact = size == nil ? "is missing" : "is empty"
        throw StoreError(.corrupt, "\(files.path) \(fact), but its log holds \(commits) commits.")
      }
    }
    // The log and its note mean nothing without a database.
    guard size != nil else { return [] }
    let end = LogEnd(path: files.logEnd)
    if let mismatch = end.mismatch(files, log) { throw StoreError(.corrupt, mismatch.text(files)) }
    let lost = end.lostToPowerCut(log)
    if lost == 0 { return [] }
    // The loss is told once.
    unlink(files.logEnd)
    return [
      "\(files.path) lost its last commits (\(lost) bytes of log) when the system went down: they were not on the disk "
        + "yet, which nobody waits for unless told to."
    ]
  }

  /// Whether a database and its log may be read together, and how many bytes of commits are in neither.
  package static func lost(_ files: DatabaseFiles, _ log: WriteAheadLog?) -> (fits: Bool, bytes: Int) {
    guard let mismatch = LogEnd(path: files.logEnd).mismatch(files, log) else { return (true, 0) }
    var information = stat()
    let isEmpty = stat(files.path, &information) == 0 && information.st_size == 0
    // An empty file has lost its content; all that is left is in its log.
    if case .otherDatabase = mismatch, isEmpty { return (true, 0) }
    // Commits behind a damaged frame are not lost.
    let behind = log.map { log in (log.frames.last.map { $0.offset + log.pageSize } ?? 0) - log.committedEnd } ?? 0
    return (mismatch.fits, max(0, mismatch.lostBytes - behind))
  }
}
