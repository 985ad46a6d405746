// SPDX-License-Identifier: Apache-2.0
import ByteCompression
import CommandOptions
package import CommandOutput
import Foundation
import Glibc

/// The bytes of a file or of standard input. Input that begins with a gzip or zstd header is decompressed, whatever its
/// name.
package struct InputBytes {
  private static let chunkSize = 256 * 1024

  package let name: String
  /// The size of the file in bytes; `nil` for standard input and other pipes.
  package let size: Int?
  package let modified: Double?
  private let file: InputFile
  private var descriptor: Int32 { file.descriptor }
  /// Bytes that were read to recognize the format, and that are not yet returned to the caller.
  private var beginning: [UInt8] = []
  private var hasBegun = false
  private var isAtEnd = false
  private var decompressor: Decompressor?

  /// - Parameter path: `-` for standard input.
  package init(_ path: String) throws(CommandFailure) {
    guard path != "-" else {
      try StandardInput.check()
      (name, size, modified, file) = ("standard input", nil, nil, InputFile(STDIN_FILENO))
      return
    }
    name = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
    file = InputFile(descriptor)
    // The file is open: without its attributes it is read like a pipe, with an unknown size.
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(filePath: path).resolvingSymlinksInPath().path)
    let type = attributes?[.type] as? FileAttributeType
    if type == .typeDirectory { throw CommandFailure(.noInput, "\(path) is a directory.") }
    let isFile = type == .typeRegular
    size = isFile ? attributes?[.size] as? Int : nil
    modified = isFile ? (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 : nil
  }

  /// The number of compressed bytes read so far; `nil` for an uncompressed file.
  var consumed: Int? { decompressor?.consumed }

  /// - Returns: at most `count` bytes; none at the end.
  /// - Throws: `badData` if compressed data is damaged or ends too early.
  package mutating func read(_ count: Int) throws(CommandFailure) -> [UInt8] {
    try begin()
    guard let decompressor else { return try readFile(count) }
    while true {
      if let bytes = try decompressed(by: decompressor, count) { return bytes }
      decompressor.append(try readFile(Self.chunkSize))
    }
  }

  /// - Returns: the next decompressed bytes. Returns an empty array at the end, and `nil` if more compressed bytes are
  ///   needed.
  private mutating func decompressed(
    by decompressor: Decompressor, _ count: Int
  ) throws(CommandFailure) -> [UInt8]? {
    do throws(CompressionError) {
      let bytes = try decompressor.next(atMost: count)
      if !bytes.isEmpty { return bytes }
      if !isAtEnd { return nil }
      try decompressor.finish()
      return []
    } catch {
      throw CommandFailure(reading: name, decompressor.format, error)
    }
  }

  /// Skips to an offset. In a regular file, the offset is counted from the beginning. In other input, it is counted
  /// from the current position.
  /// - Parameter offset: the offset in the decompressed bytes.
  /// - Throws: `badData` if the input ends before the offset.
  package mutating func skip(to offset: Int) throws(CommandFailure) {
    if size != nil {
      (beginning, hasBegun, isAtEnd, decompressor) = ([], false, false, nil)
      lseek(descriptor, 0, SEEK_SET)
      try begin()
      if decompressor == nil {
        beginning = []
        lseek(descriptor, off_t(offset), SEEK_SET)
        return
      }
    }
    var remaining = offset
    while remaining > 0 {
      let bytes = try read(min(remaining, 1024 * 1024))
      if bytes.isEmpty {
        throw CommandFailure(.badData, "\(name) is shorter than before. The part that was already imported is missing.")
      }
      remaining -= bytes.count
    }
  }

  /// Reads the first bytes to recognize the compression format.
  private mutating func begin() throws(CommandFailure) {
    if hasBegun { return }
    hasBegun = true
    while beginning.count < CompressionFormat.magicLength {
      let more = try readSome(Self.chunkSize)
      if more.isEmpty { break }
      beginning += more
    }
    try ForeignCompression.check(beginning, of: name)
    if beginning.isEmpty, size != nil, let promised = CompressionFormat(fileName: name) {
      throw CommandFailure(.badData, "\(name) is empty and therefore not a valid \(promised) file.")
    }
    guard let format = CompressionFormat(magic: beginning) else { return }
    do throws(CompressionError) { decompressor = try Decompressor(format) } catch {
      throw CommandFailure(reading: name, format, error)
    }
  }

  private mutating func readFile(_ count: Int) throws(CommandFailure) -> [UInt8] {
    if beginning.isEmpty {
      let bytes = try readSome(count)
      isAtEnd = bytes.isEmpty
      return bytes
    }
    let bytes = Array(beginning.prefix(count))
    beginning.removeFirst(bytes.count)
    return bytes
  }

  private func readSome(_ count: Int) throws(CommandFailure) -> [UInt8] {
    while true {
      var result = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        result = Glibc.read(descriptor, buffer.baseAddress, count)
        initialized = max(0, result)
      }
      if result >= 0 { return bytes }
      if errno == EBADF { throw CommandFailure(.noInput, "\(name) cannot be read: it is closed.") }
      if errno != EINTR {
        throw CommandFailure(.inputOutput, "\(name) cannot be read: \(String(cString: strerror(errno))).")
      }
    }
  }
}

/// An open file. It is closed when the last value that reads from it is released. This matters because a shell runs
/// many imports in one process.
private final class InputFile: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }
}
