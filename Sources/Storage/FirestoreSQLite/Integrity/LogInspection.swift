// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Looks at a database's files before SQLite recovers its log.
///
/// SQLite recovers the commits before the first frame that is not intact, and drops the rest without a word. That is
/// right after a crash or a power failure, where the rest was never confirmed or could not be kept. It also hides
/// damage, so commits that follow such a frame are reported once, and the log is kept for `hearth repair`:
///
/// ```
/// ── intact ── ✗ ── nothing, or frames without a commit, or of an earlier log     a torn tail: normal
/// ── intact ── ✗ ── … an intact commit                                            lost commits: reported
/// ```
package enum LogInspection {
  /// The number of intact commits after the first frame that is not intact, which SQLite does not recover.
  package static func unrecovered(_ log: WriteAheadLog) -> Int {
    let bad = log.isHeaderIntact ? log.frames.firstIndex { !$0.isIntact } ?? log.frames.count : 0
    return log.frames[bad...].count { $0.isIntact && $0.isCommit }
  }

  /// Refuses files that SQLite would take for an empty database, and keeps a log with commits that it would drop.
  /// - Precondition: the directory is locked.
  /// - Returns: messages for the user.
  /// - Throws: `corrupt` for an empty database file, or a log with commits whose database is missing.
  static func prepare(_ files: DatabaseFiles) throws(StoreError) -> [String] {
    let log = try WriteAheadLog(path: files.log)
    guard files.hasContents else {
      let commits = log?.frames.count { $0.isIntact && $0.isCommit } ?? 0
      if access(files.path, F_OK) == 0 {
        let rest = commits > 0 ? "Its log holds \(commits) commits." : "Restore it from a copy."
        throw StoreError(.corrupt, "\(files.path) is empty. \(rest)")
      }
      if commits > 0 {
        throw StoreError(.corrupt, "\(files.path) is missing, but its log holds \(commits) commits.")
      }
      return []
    }
    guard let log, case let lost = unrecovered(log), lost > 0 else { return [] }
    let recovered = log.frames.prefix { $0.isIntact && log.isHeaderIntact }.count
    let commits = lost == 1 ? "1 commit" : "\(lost) commits"
    let finding = "\(files.log) is damaged at frame \(recovered + 1): \(commits) after it cannot be recovered."
    do throws(StoreError) {
      let kept = try files.keepLog(upTo: log.isHeaderIntact ? log.committedEnd : 0)
      return ["\(finding) The log is kept as \(kept)."]
    } catch {
      return ["\(finding) The log could not be kept: \(error.message)"]
    }
  }
}
