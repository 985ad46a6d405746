// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Foundation
import Glibc

/// The documents of a file or of standard input, as they are read.
struct ImportInput {
  private static let chunkSize = 1024 * 1024
  /// The most writes of one commit (PROTOCOL §3.2).
  private static let batchCount = 500
  /// Well below the 10 MiB that a commit may have.
  private static let batchBytes = 3 * 1024 * 1024

  /// Documents to be written together.
  struct Batch: Sendable {
    var records: [InputRecord] = []
    /// After the last of them.
    var end = InputPosition()
  }

  let name: String
  /// Bytes; `nil` for standard input.
  let size: Int?
  let modified: Double?
  private let descriptor: Int32
  private var splitter: RecordSplitter
  private var isAtEnd = false
  /// The beginning, which was looked at and is still to be read.
  private var beginning: [UInt8] = []
  private var hasBegun = false
  private let format: TransferFormat

  /// - Parameter path: `-` for standard input.
  init(_ path: String, _ format: TransferFormat) throws(CommandFailure) {
    splitter = RecordSplitter(format)
    self.format = format
    guard path != "-" else {
      (name, size, modified, descriptor) = ("standard input", nil, nil, STDIN_FILENO)
      return
    }
    name = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(filePath: path).resolvingSymlinksInPath().path)
    let type = attributes?[.type] as? FileAttributeType
    if type == .typeDirectory { throw CommandFailure(.noInput, "\(path) is a directory.") }
    let isFile = type == .typeRegular
    size = isFile ? attributes?[.size] as? Int : nil
    modified = isFile ? (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 : nil
  }

  /// Whether a path leads to a regular file, whose size and time tell it from another.
  static func isFile(_ path: String) -> Bool {
    if path == "-" { return false }
    let name = URL(filePath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }

  /// The first rows, beginning with the names, of a file of rows.
  mutating func sample() throws -> [InputRecord] {
    beginning = try readChunk(Self.chunkSize)
    try Compression.check(beginning, of: name)
    var splitter = RecordSplitter(format)
    splitter.append(beginning)
    if beginning.count < Self.chunkSize { splitter.finish() }
    var rows: [InputRecord] = []
    while rows.count < 1000, let row = try splitter.next() { rows.append(row) }
    return rows
  }

  /// Reads until there are so many bytes, or no more.
  private func readChunk(_ count: Int) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try readSome(count - bytes.count)
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  /// Goes on after a document.
  mutating func skip(to position: InputPosition, _ format: TransferFormat) throws(CommandFailure) {
    splitter = RecordSplitter(format, at: position)
    hasBegun = true
    if size != nil {
      beginning = []
      lseek(descriptor, off_t(position.offset), SEEK_SET)
      return
    }
    var remaining = position.offset
    while remaining > 0 {
      let bytes = try read(min(remaining, Self.chunkSize))
      if bytes.isEmpty { throw CommandFailure(.badData, "\(name) is shorter than what was imported of it before.") }
      remaining -= bytes.count
    }
  }

  /// - Returns: the next documents; `nil` after the last.
  /// - Throws: `CommandFailure`, or `JSONError` where the next document cannot be found.
  mutating func next() throws -> Batch? {
    var batch = Batch()
    var byteCount = 0
    while batch.records.count < Self.batchCount, byteCount < Self.batchBytes {
      if let record = try nextRecord(afterOthers: !batch.records.isEmpty) {
        byteCount += record.bytes.count
        batch.records.append(record)
        batch.end = splitter.position
      } else {
        break
      }
    }
    return batch.records.isEmpty ? nil : batch
  }

  /// - Parameter afterOthers: there are documents that can still be written when the rest cannot be read.
  private mutating func nextRecord(afterOthers: Bool) throws -> InputRecord? {
    while true {
      do throws(JSONError) {
        if let record = try splitter.next() {
          // The first row has the names.
          let isHeader = !hasBegun && format.delimiter != nil
          hasBegun = true
          if !isHeader { return record }
          continue
        }
      } catch {
        // Thrown again at the next call, after the documents before it are on their way.
        if afterOthers { return nil }
        throw error
      }
      if isAtEnd { return nil }
      let bytes = try read(Self.chunkSize)
      if !hasBegun, splitter.position.offset == 0 { try Compression.check(bytes, of: name) }
      if bytes.isEmpty {
        isAtEnd = true
        splitter.finish()
      } else {
        splitter.append(bytes)
      }
    }
  }

  private mutating func read(_ count: Int) throws(CommandFailure) -> [UInt8] {
    if beginning.isEmpty { return try readSome(count) }
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
      if errno != EINTR {
        throw CommandFailure(.inputOutput, "\(name) cannot be read: \(String(cString: strerror(errno))).")
      }
    }
  }
}
