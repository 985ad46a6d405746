// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
import Glibc

/// The note beside a database about the log that belongs to it: which log that is, which database it goes on from, and
/// the position at which its last commit ends. The layer below SQLite writes the note as commits are written
/// (`log_end.c`).
///
/// The note never claims more than the log had. Without a power cut, a log with less was changed by another program;
/// after a power cut it may lack commits that the disk had not confirmed.
struct LogEnd: Sendable {
  /// The difference between a log and the note.
  enum Mismatch: Hashable, Sendable {
    /// The log is missing, or has no commits, and commits of this size were in it.
    case missing(bytes: Int)
    case cut(bytes: Int)
    /// The log is not the one that was written last.
    case foreign
    /// The log is the right one, but the database is not the one that it goes on from.
    case otherDatabase

    /// The number of noted bytes that are in neither file, if it is known.
    var lostBytes: Int {
      switch self {
      case .missing(let bytes), .cut(let bytes): bytes
      case .foreign, .otherDatabase: 0
      }
    }

    /// Whether database and log may be read together.
    var fits: Bool { lostBytes > 0 }
  }

  private let noted: cpc_log_end

  init(path: String) {
    var noted = cpc_log_end()
    cpc_read_log_end(path, &noted)
    self.noted = noted
  }

  /// The position at which the last commit ends that must be in the log: the last one written, or, if the system was
  /// started anew since, the last one that the disk confirmed.
  private var required: Int {
    guard noted.committed > noted.restored else { return 0 }
    let required = noted.is_of_this_boot != 0 ? noted.committed : noted.synced
    return required > noted.restored ? Int(clamping: required) : 0
  }

  /// The number of bytes of unconfirmed commits that a power cut has taken.
  func lostToPowerCut(_ log: WriteAheadLog?) -> Int {
    guard noted.is_of_this_boot == 0, noted.committed > noted.restored else { return 0 }
    return max(0, Int(clamping: noted.committed) - (log.map(end) ?? 0))
  }

  /// The position at which the last commit ends in the noted log; 0 for another log.
  private func end(_ log: WriteAheadLog) -> Int {
    log.isHeaderIntact && log.salts == noted.committed_salts ? log.committedEnd : 0
  }

  /// - Parameter log: the log that is found beside the database.
  func mismatch(_ files: DatabaseFiles, _ log: WriteAheadLog?) -> Mismatch? {
    let commits = log.map { $0.isHeaderIntact && $0.committedEnd > 0 } ?? false
    if let log, commits, noted.committed_salts != 0 || noted.salts != 0,
      ![noted.salts, noted.previous_salts, noted.committed_salts].contains(log.salts)
    {
      return .foreign
    }
    let end = log.map(end) ?? 0
    if end < required { return end == 0 && !commits ? .missing(bytes: required) : .cut(bytes: required - end) }
    if let log, commits, log.salts == noted.salts, noted.base != 0, !isContinued(files, log) { return .otherDatabase }
    return nil
  }

  /// Whether the database is as it was when the log began, or as one of the log's commits left it. Its first page
  /// tells: each log has a version of it (`Connection.transaction`).
  private func isContinued(_ files: DatabaseFiles, _ log: WriteAheadLog) -> Bool {
    func sum(_ page: [UInt8]) -> UInt64 {
      page.withUnsafeBytes { cpc_checksum($0.baseAddress, page.count - Int(CPC_RESERVED_BYTES), 1) }
    }
    guard let page = Self.page(of: files.path, at: 0, size: log.pageSize) else { return false }
    let found = sum(page)
    if found == noted.base { return true }
    return log.frames.contains { frame in
      frame.page == 1 && frame.isIntact
        && Self.page(of: files.log, at: frame.offset, size: log.pageSize).map { sum($0) == found } ?? false
    }
  }

  private static func page(of path: String, at offset: Int, size: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // A page that cannot be read counts as absent: the caller reports a mismatch.
    return try? LogReader(descriptor: descriptor, path: path).bytes(at: offset, count: size)
  }
}

extension LogEnd.Mismatch {
  /// The mismatch, in words for the user.
  func text(_ files: DatabaseFiles) -> String {
    switch self {
    case .missing(let bytes):
      "\(files.log) is missing, or empty: \(bytes) bytes of commits were in it that are not in \(files.path)."
    case .cut(let bytes): "\(files.log) was cut off: its last \(bytes) bytes of commits are missing."
    case .foreign: "\(files.log) is not the log that was written last to \(files.path), but another one."
    case .otherDatabase: "\(files.path) is not the file that \(files.log) goes on from, but an older or another one."
    }
  }
}
