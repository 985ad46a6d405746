// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
import Glibc

/// What was noted beside a database of the log that belongs to it: which one that is, which database it goes on from,
/// and where its last commit ends. The layer below SQLite notes it as commits are written (`log_end.c`).
///
/// What is noted is never more than what was in the log. Up to a power cut nothing of that can be missing, unless
/// somebody took it; after one, what the disk was not waited for may be.
struct LogEnd: Sendable {
  /// How a log and what was noted do not fit.
  enum Mismatch: Hashable, Sendable {
    /// There is no log, or nothing in it, and so many bytes of commits were.
    case missing(bytes: Int)
    case cut(bytes: Int)
    /// It is not the log that was written last.
    case foreign
    /// It is, but the database is not the one that it goes on from.
    case otherDatabase

    /// How much of what was noted is in neither file, if it is known.
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

  /// Where the last commit ends that must be in the log: everything that was written, or what the disk was waited for if
  /// the system was started anew since.
  private var required: Int {
    guard noted.committed > noted.restored else { return 0 }
    let required = noted.is_of_this_boot != 0 ? noted.committed : noted.synced
    return required > noted.restored ? Int(clamping: required) : 0
  }

  /// How many bytes of commits a power cut has taken, which nothing was promised for.
  func lostToPowerCut(_ log: WriteAheadLog?) -> Int {
    guard noted.is_of_this_boot == 0, noted.committed > noted.restored else { return 0 }
    return max(0, Int(clamping: noted.committed) - (log.map(end) ?? 0))
  }

  /// Where the last commit ends in a log that the noted one went to.
  private func end(_ log: WriteAheadLog) -> Int {
    log.isHeaderIntact && log.salts == noted.committed_salts ? log.committedEnd : 0
  }

  /// - Parameter log: of the database, or what is in its place.
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

  /// Whether the database is as it was when the log began, or as one of the log's commits left it. Its first page tells:
  /// each log has a version of it (`Connection.transaction`).
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
    return try? LogReader(descriptor: descriptor, path: path).bytes(at: offset, count: size)
  }
}

extension LogEnd.Mismatch {
  /// What is wrong, for people.
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
