// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The pages of a damaged database, each as its last intact commit left it. SQLite cannot read them: it needs the
/// damaged pages to find the others.
///
/// Pages come from the file and from the log where it has newer ones, including intact commits that SQLite does not
/// recover because an earlier frame is damaged.
package struct DatabasePages: ~Copyable {
  private let source: PageSource
  /// The number of pages in the log that cannot be read. An older version replaces them, if there is one.
  package let damagedFrames: Int
  /// The pages without content, as far as their list can be read.
  let free: Set<UInt32>

  package var pageSize: Int { source.pageSize }
  package var pageCount: Int { source.pageCount }
  /// The number of bytes of a page that hold content.
  var usableSize: Int { source.usableSize }

  /// - Parameters:
  ///   - log: the contents of the log at `logPath`; `nil` to use no log.
  package init(_ files: DatabaseFiles, _ log: WriteAheadLog?, at logPath: String) {
    let file = open(files.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    let logFile = open(logPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    var information = stat()
    let size = file >= 0 && fstat(file, &information) == 0 ? Int(information.st_size) : 0
    let pageSize = log?.pageSize ?? Self.pageSize(file)
    let (newest, damaged) = Self.newestPages(log)
    let pageCount = max(size / pageSize, Int(newest.keys.max() ?? 0))
    // The list of free pages is read before `self` exists: with methods of `self` called here, release builds of Swift
    // 6.3.1 released `newest` twice.
    let source = PageSource(file: file, logFile: logFile, pageSize: pageSize, pageCount: pageCount, newest: newest)
    self.source = source
    damagedFrames = damaged
    free = source.freePages()
  }

  deinit { source.close() }

  /// The page as it was written; `nil` if it cannot be read.
  /// - Parameter number: from 1.
  package func page(_ number: UInt32) -> [UInt8]? { source.page(number) }

  /// Whether the log has a version of a page.
  func isLogged(_ number: UInt32) -> Bool { source.newest[number] != nil }

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
    return (newest, damaged)
  }
}

/// The open files of a database and its log, page by page.
private struct PageSource {
  let file: Int32
  let logFile: Int32
  let pageSize: Int
  let pageCount: Int
  /// The positions in the log of the newest version of each page that the log has.
  let newest: [UInt32: Int]

  var usableSize: Int { pageSize - Int(PageChecksums.reservedBytes) }

  func close() {
    for descriptor in [file, logFile] where descriptor >= 0 { _ = Glibc.close(descriptor) }
  }

  func page(_ number: UInt32) -> [UInt8]? {
    guard number > 0, Int(number) <= pageCount else { return nil }
    if let offset = newest[number] { return read(logFile, offset) }
    guard let page = read(file, (Int(number) - 1) * pageSize) else { return nil }
    return page.withUnsafeBytes { PageChecksums.isIntact($0) } ? page : nil
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

  /// Reads the list of free pages: each trunk page has the number of the next trunk, a count, and that many page
  /// numbers.
  func freePages() -> Set<UInt32> {
    var free: Set<UInt32> = []
    var next = page(1)?.word(32) ?? 0
    while next != 0 {
      guard free.insert(next).inserted, let trunk = page(next) else { return free }
      let count = Int(trunk.word(4))
      guard count <= usableSize / 4 - 2 else { return free }
      for index in 0..<count { free.insert(trunk.word(8 + 4 * index)) }
      next = trunk.word(0)
    }
    return free
  }
}
