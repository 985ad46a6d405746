// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Looks at a database's log before SQLite does, which takes whatever is wrong in it for its end and goes on without
/// the rest, and an empty file beside it for an empty database.
///
/// A process that was killed leaves frames at the end that are cut off, or that no commit follows: they were never
/// answered for. What lies behind a bad frame tells the difference:
///
/// ```
/// ── intact ── ✗ ── nothing, or frames without a commit, or of an earlier generation     a torn tail: normal
/// ── intact ── ✗ ── … an intact commit                                                   damage: commits would be lost
/// ── intact ── ✗ commit, the last frame of the file, whole                               damage: it was written whole
/// ```
package enum LogInspection {
  package enum Finding: Hashable, Sendable {
    /// No log, or nothing in it that counts.
    case nothing
    /// So many commits, and nothing else that counts.
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
    // Salts of earlier generations differ in both halves.
    let isCutCommit = rest.count == 1 && first.isCommit && first.matchingSalts > 0
    let isHalfSalted = first.matchingSalts == 1
    if isCutCommit || isHalfSalted || rest.dropFirst().contains(where: { $0.isIntact && $0.isCommit }) {
      return .damaged(frame: bad)
    }
    return commits == 0 ? .nothing : .intact(commits: commits)
  }

  /// - Throws: `corrupt`, with what is wrong.
  package static func check(_ files: DatabaseFiles) throws(StoreError) {
    let log = try WriteAheadLog(path: files.log)
    var information = stat()
    let size = stat(files.path, &information) == 0 ? Int(information.st_size) : nil
    switch finding(log) {
    case .nothing: break
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
  }
}
