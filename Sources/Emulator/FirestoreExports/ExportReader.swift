// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

/// Reads an export record by record, in the order of its files. Holds at most one record and a part of a file in
/// memory.
package struct ExportReader {
  /// A record with its file and position.
  package struct Record: Sendable {
    package var bytes: [UInt8]
    package var file: String
    /// The offset in the file, in bytes.
    package var offset: Int

    /// - Throws: `unsupported`, with the position.
    package func document() throws(ExportError) -> ExportedDocument {
      do throws(EntityFault) { return try EntityReader.document(bytes) } catch {
        throw ExportError(.unsupported, file, at: offset, error.reason)
      }
    }
  }

  private static let metadataLimit = 64 << 20

  package let location: ExportLocation
  /// The document count in the metadata.
  package let documents: Int
  /// The size of the files in bytes, according to the metadata.
  package let bytes: Int
  private var files: ArraySlice<String>
  private var file: ExportFile?
  private var isAtEnd = false
  private var log = RecordLogReader()
  /// The number of records so far.
  private(set) package var count = 0

  /// Reads the metadata.
  /// - Parameter path: the path of the export, as for `ExportLocation`.
  package init(_ path: String) throws(ExportError) {
    location = try ExportLocation(path)
    let overall = try Self.overall(location.metadata)
    var files: [String] = []
    for part in overall.parts {
      let path = try ExportLocation.file(part.file, namedBy: location.metadata)
      let contents = try ExportFile.contents(of: path, atMost: Self.metadataLimit)
      let metadata: PartMetadata
      do throws(WireError) { metadata = try PartMetadata(reading: contents) } catch {
        throw ExportError(.damaged, path, "Invalid export metadata: \(error.reason).")
      }
      for name in metadata.files { files.append(try ExportLocation.file(name, namedBy: path)) }
    }
    documents = overall.parts.reduce(0) { Int(clamping: UInt64($0) + UInt64(clamping: $1.documents)) }
    bytes = overall.parts.reduce(0) { Int(clamping: UInt64($0) + UInt64(clamping: $1.bytes)) }
    self.files = files[...]
  }

  private static func overall(_ path: String) throws(ExportError) -> OverallMetadata {
    var log = RecordLogReader(limit: metadataLimit)
    log.append(try ExportFile.contents(of: path, atMost: metadataLimit))
    var records: [[UInt8]] = []
    do throws(RecordLogReader.Damage) {
      while let record = try log.next(isAtEnd: true), records.count < 3 { records.append(record.bytes) }
    } catch {
      throw ExportError(.damaged, path, at: error.offset, error.reason)
    }
    guard records.count == 2 else { throw ExportError(.damaged, path, "Invalid export metadata.") }
    guard records[0] == OverallMetadata.version else {
      let version = String(decoding: records[0].prefix(20), as: UTF8.self)
      throw ExportError(
        .unsupported, path, "The export has the unknown version \"\(version)\". Hearth reads version 3.")
    }
    do throws(WireError) { return try OverallMetadata(reading: records[1]) } catch {
      throw ExportError(.damaged, path, "Invalid export metadata: \(error.reason).")
    }
  }

  /// - Returns: the next record; `nil` after the last.
  /// - Throws: `absent` or `damaged`. At the end, also throws if there were fewer documents than the metadata states.
  package mutating func next() throws(ExportError) -> Record? {
    while true {
      guard let open = file else {
        guard let path = files.popFirst() else {
          try checkCount()
          return nil
        }
        (file, isAtEnd, log) = (try ExportFile(path), false, RecordLogReader())
        continue
      }
      do throws(RecordLogReader.Damage) {
        if let record = try log.next(isAtEnd: isAtEnd) {
          count += 1
          return Record(bytes: record.bytes, file: open.path, offset: record.offset)
        }
      } catch {
        throw ExportError(.damaged, open.path, at: error.offset, error.reason)
      }
      if isAtEnd {
        file = nil
        continue
      }
      let bytes = try open.read()
      isAtEnd = bytes.isEmpty
      log.append(bytes)
    }
  }

  /// Compares the document counts, because a file that is truncated between two records looks complete.
  private func checkCount() throws(ExportError) {
    if count < documents {
      throw ExportError(
        .damaged, location.metadata,
        "The metadata states \(documents) documents, but the files next to it have \(count).")
    }
  }
}

/// A file of an export, open for reading.
final class ExportFile {
  private static let chunkBytes = 256 * 1024

  let path: String
  private let descriptor: Int32

  /// - Throws: `absent`; also for special files, which might never end.
  init(_ path: String) throws(ExportError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ExportError(.absent, path, "The file cannot be read: \(String(cString: strerror(errno))).")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ExportError(.absent, path, "This is not a regular file.")
    }
  }

  deinit { close(descriptor) }

  /// - Returns: the next bytes; empty at the end.
  func read() throws(ExportError) -> [UInt8] {
    while true {
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, initialized in
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        initialized = max(0, count)
      }
      if count >= 0 { return bytes }
      if errno != EINTR {
        throw ExportError(.absent, path, "The file cannot be read: \(String(cString: strerror(errno))).")
      }
    }
  }

  /// Reads a whole file.
  /// - Throws: `damaged` for a file that exceeds the limit.
  static func contents(of path: String, atMost limit: Int) throws(ExportError) -> [UInt8] {
    let file = try ExportFile(path)
    var contents: [UInt8] = []
    while true {
      let bytes = try file.read()
      if bytes.isEmpty { return contents }
      contents += bytes
      if contents.count > limit { throw ExportError(.damaged, path, "The file is longer than \(limit) bytes.") }
    }
  }
}

/// The reason why an export cannot be read or written: the file, the position in it, and advice if available.
package struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The export does not exist, or is not readable.
    case absent
    /// Bytes have changed since they were written, or are missing.
    case damaged
    /// The files are not an export of a Firestore database, or contain data that Firestore documents cannot have.
    case unsupported
    /// A file or folder cannot be created or written.
    case unwritable
  }

  package var kind: Kind
  package var file: String
  /// The offset in the file, in bytes.
  package var offset: Int?
  package var reason: String

  package init(_ kind: Kind, _ file: String, at offset: Int? = nil, _ reason: String) {
    (self.kind, self.file, self.offset, self.reason) = (kind, file, offset, reason)
  }

  package var description: String { "\(file)\(offset.map { ", byte \($0)" } ?? ""): \(reason)" }
}
