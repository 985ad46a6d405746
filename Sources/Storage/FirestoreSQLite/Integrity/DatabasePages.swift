// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The pages of a damaged database, each as its last intact commit left it, read without SQLite, which would need the
/// damaged ones to find the others.
///
/// Pages come from the file and, if it has newer ones, from the log: also pages of intact commits that SQLite would not
/// reach, because a frame before them is damaged.
package struct DatabasePages: ~Copyable {
  private let file: Int32
  private let logFile: Int32
  private var hasChecksums: Bool
  package let pageSize: Int
  package let pageCount: Int
  /// The position of the newest version of each page that the log has.
  private let newest: [UInt32: Int]
  /// The number of pages in the log that cannot be read; an older version takes their place, if there is one.
  package let damagedFrames: Int
  /// The pages without content, as far as their list can be read.
  private(set) var free: Set<UInt32>

  /// - Parameters:
  ///   - log: the log of the same database.
  ///   - hasChecksums: whether the pages of the file end with a checksum; `nil` to find out.
  package init(_ files: DatabaseFiles, _ log: WriteAheadLog?, hasChecksums: Bool?) {
    file = open(files.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    logFile = open(files.log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    var information = stat()
    let size = file >= 0 && fstat(file, &information) == 0 ? Int(information.st_size) : 0
    pageSize = log?.pageSize ?? Self.pageSize(file)
    let (newest, damaged) = Self.newestPages(log)
    self.newest = newest
    damagedFrames = damaged
    pageCount = max(size / pageSize, Int(newest.keys.max() ?? 0))
    free = []
    self.hasChecksums = hasChecksums ?? false
    if hasChecksums == nil { self.hasChecksums = looksChecked() }
    readFreePages()
  }

  /// Whether the pages seem to have checksums. The header in the log tells; without it, one page that ends with a
  /// fitting checksum.
  private func looksChecked() -> Bool {
    if let offset = newest[1], let header = read(logFile, offset) {
      return Int32(header[20]) == PageChecksums.reservedBytes
    }
    let sample = 1...UInt32(max(1, min(pageCount, 1_000)))
    return sample.contains { number in
      guard let page = read(file, (Int(number) - 1) * pageSize) else { return false }
      return page.withUnsafeBytes { PageChecksums.isIntact($0, number: number) }
    }
  }

  deinit {
    if file >= 0 { close(file) }
    if logFile >= 0 { close(logFile) }
  }

  private static func pageSize(_ file: Int32) -> Int {
    var bytes = [UInt8](repeating: 0, count: 2)
    let size = file >= 0 && pread(file, &bytes, 2, 16) == 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : 0
    return size >= 512 && size & (size - 1) == 0 ? size : 4096
  }

  /// - Returns: the position of each page's last committed version, and the number of damaged frames among these.
  private static func newestPages(_ log: WriteAheadLog?) -> (newest: [UInt32: Int], damaged: Int) {
    guard let log else { return ([:], 0) }
    var newest: [UInt32: Int] = [:]
    var (damaged, waiting): (Int, [WriteAheadLog.Frame]) = (0, [])
    for frame in log.frames where frame.matchingSalts > 0 {
      waiting.append(frame)
      guard frame.isCommit, frame.isIntact else { continue }
      for frame in waiting {
        if frame.isIntact { newest[frame.page] = frame.offset } else { damaged += 1 }
      }
      waiting = []
    }
    // A cut-off commit may follow the last one; it had been whole only if the log is damaged.
    if case .damaged = LogInspection.finding(log) { damaged += waiting.count { $0.isCommit } }
    return (newest, damaged)
  }

  /// The page as it was written; `nil` if it cannot be read.
  /// - Parameter number: from 1.
  package func page(_ number: UInt32) -> [UInt8]? {
    guard number > 0, Int(number) <= pageCount else { return nil }
    if let offset = newest[number] { return read(logFile, offset) }
    guard let page = read(file, (Int(number) - 1) * pageSize) else { return nil }
    if hasChecksums, !page.withUnsafeBytes({ PageChecksums.isIntact($0, number: number) }) { return nil }
    return page
  }

  private func read(_ descriptor: Int32, _ offset: Int) -> [UInt8]? {
    guard descriptor >= 0 else { return nil }
    let size = pageSize
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
      count = pread(descriptor, buffer.baseAddress, size, offset)
      initialized = max(count, 0)
    }
    return count == size ? bytes : nil
  }

  /// The number of bytes of a page that hold content.
  var usableSize: Int { pageSize - (hasChecksums ? Int(PageChecksums.reservedBytes) : 0) }

  /// Reads the list of free pages: each trunk page has the number of the next trunk, a count, and that many page
  /// numbers.
  private mutating func readFreePages() {
    guard let header = page(1) else { return }
    var next = header.word(32)
    while next != 0 {
      guard free.insert(next).inserted, let trunk = page(next) else { return }
      let count = Int(trunk.word(4))
      guard count <= usableSize / 4 - 2 else { return }
      for index in 0..<count { free.insert(trunk.word(8 + 4 * index)) }
      next = trunk.word(0)
    }
  }
}
