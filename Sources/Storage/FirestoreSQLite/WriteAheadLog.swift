// SPDX-License-Identifier: Apache-2.0
import Glibc

/// SQLite's write-ahead log (sqlite.org/fileformat2.html, section 4). Hearth reads it without SQLite, because SQLite
/// ends recovery at a damaged frame even if commits follow.
///
/// ```
/// header  magic  version  page size  sequence  salt  salt  checksum  checksum          8 × 4 bytes
/// frame   page number  size of the database after a commit, or 0  salts  checksums     6 × 4 bytes, then the page
/// ```
/// A frame's checksum continues the previous frame's checksum. Frames of the current generation have the header's
/// salts.
package struct WriteAheadLog: Sendable {
  package struct Frame: Hashable, Sendable {
    package var page: UInt32
    /// The number of pages in the database after this frame, if the frame ends a transaction; otherwise 0.
    package var databaseSize: UInt32
    /// The position of the frame's page in the log file.
    package var offset: Int
    /// The number of salts (0 to 2) that are equal in the frame and in the header.
    package var matchingSalts: Int
    /// Whether the frame is undamaged, and its checksum continues the previous frame's checksum.
    package var isIntact: Bool

    package var isCommit: Bool { databaseSize != 0 }
  }

  static let headerSize = 32
  static let frameHeaderSize = 24

  package private(set) var pageSize = 4096
  package private(set) var isHeaderIntact = false
  /// The two salts of the header. They change when SQLite restarts the log.
  private(set) var salts: UInt64 = 0
  /// All complete frames, in order. They may be from the current generation or from an earlier one.
  package private(set) var frames: [Frame] = []

  /// The end position of the last commit before the first damage; 0 if there is no commit.
  var committedEnd: Int {
    frames.prefix { $0.isIntact }.last { $0.isCommit }.map { $0.offset + pageSize } ?? 0
  }

  /// The end position of the first `count` frames.
  func end(ofFrames count: Int) -> Int { Self.headerSize + count * (Self.frameHeaderSize + pageSize) }

  /// The salts in the header of a log; `nil` if there is no log.
  static func salts(at path: String) -> UInt64? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return (try? LogReader(descriptor: descriptor, path: path).bytes(at: 0, count: headerSize)).map(Self.salts)
  }

  private static func salts(_ header: [UInt8]) -> UInt64 { UInt64(header.word(16)) << 32 | UInt64(header.word(20)) }

  /// Reads the log. Takes O(size) time.
  /// - Returns: `nil` if there is no log or no complete frame.
  package init?(path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StoreError(.notWritable, "\(path) cannot be read: \(StoreError.reason(errno)).")
    }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else {
      throw StoreError(.notWritable, "\(path) cannot be read: \(StoreError.reason(errno)).")
    }
    let size = Int(information.st_size)
    // The smallest page has 512 bytes.
    guard size >= Self.headerSize + Self.frameHeaderSize + 512 else { return nil }
    try read(LogReader(descriptor: descriptor, path: path), size)
  }

  private mutating func read(_ reader: LogReader, _ size: Int) throws(StoreError) {
    let start = try reader.bytes(at: 0, count: Self.headerSize + Self.frameHeaderSize)
    let isBigEndian = start.word(0) == 0x377f_0683
    var sum = LogChecksum(isBigEndian: isBigEndian)
    sum.add(start[0..<24])
    let stored = Int(start.word(8))
    let isSize = stored >= 512 && stored <= 65_536 && stored & (stored - 1) == 0
    isHeaderIntact = start.word(0) & ~1 == 0x377f_0682 && sum.equals(start.word(24), start.word(28)) && isSize
    if isSize { pageSize = stored }
    salts = Self.salts(start)
    // The first frame has the same salts, so they are used if the header is damaged.
    let salts = isHeaderIntact ? (start.word(16), start.word(20)) : (start.word(40), start.word(44))
    sum = LogChecksum(isBigEndian: isBigEndian, start.word(24), start.word(28))
    var computed: LogChecksum?
    var offset = Self.headerSize
    while offset + Self.frameHeaderSize + pageSize <= size {
      let frame = try reader.bytes(at: offset, count: Self.frameHeaderSize + pageSize)
      // The frame must continue the checksum stored in the previous frame, or the checksum computed for that frame.
      let isContinuation = sum.continues(with: frame) || computed?.continues(with: frame) ?? false
      let matching = (frame.word(8) == salts.0 ? 1 : 0) + (frame.word(12) == salts.1 ? 1 : 0)
      let isIntact = matching == 2 && frame.word(0) != 0 && isContinuation
      frames.append(
        Frame(
          page: frame.word(0), databaseSize: frame.word(4), offset: offset + Self.frameHeaderSize,
          matchingSalts: matching, isIntact: isIntact))
      computed = isContinuation ? nil : sum.adding(frame)
      sum = LogChecksum(isBigEndian: isBigEndian, frame.word(16), frame.word(20))
      offset += Self.frameHeaderSize + pageSize
    }
  }
}

/// Reads parts of a file.
struct LogReader {
  let descriptor: Int32
  let path: String

  func bytes(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
    var read = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      read = pread(descriptor, buffer.baseAddress, count, offset)
      initialized = max(read, 0)
    }
    guard read == count else {
      throw StoreError(
        .notWritable, "\(path) cannot be read: \(read < 0 ? StoreError.reason(errno) : "the file has become shorter").")
    }
    return bytes
  }
}

/// The checksum of headers and frames. It consists of two sums over pairs of words. Each sum is also added to the
/// other.
struct LogChecksum {
  private let isBigEndian: Bool
  private var first: UInt32
  private var second: UInt32

  init(isBigEndian: Bool, _ first: UInt32 = 0, _ second: UInt32 = 0) {
    self.isBigEndian = isBigEndian
    self.first = first
    self.second = second
  }

  /// - Parameter bytes: the bytes to add. Their number must be a multiple of eight.
  mutating func add(_ bytes: ArraySlice<UInt8>) {
    var (first, second) = (first, second)
    let isBigEndian = isBigEndian
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
        second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
        offset += 8
      }
    }
    (self.first, self.second) = (first, second)
  }

  /// The checksum after a frame. It covers the first half of the frame's header, and the page.
  func adding(_ frame: [UInt8]) -> LogChecksum {
    var sum = self
    sum.add(frame[0..<8])
    sum.add(frame[WriteAheadLog.frameHeaderSize...])
    return sum
  }

  func continues(with frame: [UInt8]) -> Bool { adding(frame).equals(frame.word(16), frame.word(20)) }

  func equals(_ first: UInt32, _ second: UInt32) -> Bool { self.first == first && self.second == second }
}

extension [UInt8] {
  /// A big-endian number of four bytes.
  func word(_ offset: Int) -> UInt32 {
    UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
      | UInt32(self[offset + 3])
  }
}

/// Inspects a database's files before SQLite recovers its log.
///
/// SQLite recovers the commits before the first damaged frame and silently drops the rest. This is correct after a
/// crash or a power failure, because the rest was never acknowledged or could not be stored. But this behavior also
/// hides damage. Therefore commits after a damaged frame are reported once, and the log is copied for `hearth repair`:
///
/// ```
/// ── intact ── ✗ ── nothing, or frames without a commit, or of an earlier log     a torn tail: normal
/// ── intact ── ✗ ── … an intact commit                                            lost commits: reported
/// ```
package enum LogInspection {
  /// The number of intact commits after a damaged frame. SQLite does not recover them.
  package static func unrecovered(_ log: WriteAheadLog) -> Int {
    let bad = log.isHeaderIntact ? log.frames.firstIndex { !$0.isIntact } ?? log.frames.count : 0
    return log.frames[bad...].count { $0.isIntact && $0.isCommit }
  }

  /// Rejects files that SQLite would treat as an empty database. Copies a log that contains commits that SQLite would
  /// drop.
  /// - Precondition: the directory is locked.
  /// - Returns: messages for the user.
  /// - Throws: `corrupt` for an empty database file, or for a log with commits but without a database.
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
      return ["\(finding) A copy of the log is at \(kept)."]
    } catch {
      return ["\(finding) The log could not be copied: \(error.message)"]
    }
  }
}
