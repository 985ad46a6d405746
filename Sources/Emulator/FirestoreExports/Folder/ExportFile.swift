// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file of an export, open for reading.
final class ExportFile {
  private static let chunkBytes = 256 * 1024

  let path: String
  private let descriptor: Int32

  /// - Throws: `absent`, also for what is no regular file and might never come to its end.
  init(_ path: String) throws(ExportError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ExportError(.absent, path, "It cannot be read: \(String(cString: strerror(errno))).")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ExportError(.absent, path, "It is no regular file.")
    }
  }

  deinit { close(descriptor) }

  /// - Returns: the next bytes; none at the end.
  func read() throws(ExportError) -> [UInt8] {
    while true {
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, initialized in
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        initialized = max(0, count)
      }
      if count >= 0 { return bytes }
      if errno != EINTR { throw ExportError(.absent, path, "It cannot be read: \(String(cString: strerror(errno))).") }
    }
  }

  /// The whole file.
  /// - Throws: `damaged` for one that is longer than it may be.
  static func contents(of path: String, atMost limit: Int) throws(ExportError) -> [UInt8] {
    let file = try ExportFile(path)
    var contents: [UInt8] = []
    while true {
      let bytes = try file.read()
      if bytes.isEmpty { return contents }
      contents += bytes
      if contents.count > limit { throw ExportError(.damaged, path, "It is longer than metadata are: \(limit) bytes.") }
    }
  }
}
