// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

/// Reads an export record by record, in the order of its files. It holds no more than one record and a piece of a file.
package struct ExportReader {
  /// A record with its file and position.
  package struct Record: Sendable {
    package var bytes: [UInt8]
    package var file: String
    /// The position in the file, in bytes from its beginning.
    package var offset: Int

    /// - Throws: `unsupported`, with the place.
    package func document() throws(ExportError) -> ExportedDocument {
      do throws(EntityFault) { return try EntityReader.document(bytes) } catch {
        throw ExportError(.unsupported, file, at: offset, error.reason)
      }
    }
  }

  private static let metadataLimit = 64 << 20

  package let location: ExportLocation
  /// The number of documents that the metadata promise.
  package let documents: Int
  /// The number of bytes of the files to be read, according to the metadata.
  package let bytes: Int
  private var files: ArraySlice<String>
  private var file: ExportFile?
  private var isAtEnd = false
  private var log = RecordLogReader()
  /// The number of records that have been read.
  private(set) package var count = 0

  /// Reads the metadata.
  /// - Parameter path: the path of the export, in a form that `ExportLocation` takes.
  package init(_ path: String) throws(ExportError) {
    location = try ExportLocation(path)
    let overall = try Self.overall(location.metadata)
    var files: [String] = []
    for part in overall.parts {
      let path = try ExportLocation.file(part.file, namedBy: location.metadata)
      let contents = try ExportFile.contents(of: path, atMost: Self.metadataLimit)
      let metadata: PartMetadata
      do throws(WireError) { metadata = try PartMetadata(reading: contents) } catch {
        throw ExportError(.damaged, path, "These are no metadata of an export: \(error.reason).")
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
    guard records.count == 2 else { throw ExportError(.damaged, path, "These are no metadata of an export.") }
    guard records[0] == OverallMetadata.version else {
      let version = String(decoding: records[0].prefix(20), as: UTF8.self)
      throw ExportError(
        .unsupported, path, "The export is of version \"\(version)\", of which nothing is known here; 3 is read.")
    }
    do throws(WireError) { return try OverallMetadata(reading: records[1]) } catch {
      throw ExportError(.damaged, path, "These are no metadata of an export: \(error.reason).")
    }
  }

  /// - Returns: the next record; `nil` after the last.
  /// - Throws: `absent` or `damaged`; also at the end, if there were fewer documents than the metadata promise.
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

  /// Compares the numbers of documents, since a file that is cut off between two records looks whole.
  private func checkCount() throws(ExportError) {
    if count < documents {
      throw ExportError(
        .damaged, location.metadata, "It promises \(documents) documents, and the files beside it hold \(count).")
    }
  }
}

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

/// The reason why an export cannot be read or written: the file, the place in it, and advice if there is any.
package struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// There is no export, or one that may not be read.
    case absent
    /// The bytes differ from the written ones, or some are missing.
    case damaged
    /// The files are no export of a Firestore database, or hold something that no Firestore document can.
    case unsupported
    /// A file or folder cannot be made or written.
    case unwritable
  }

  package var kind: Kind
  package var file: String
  /// The position in the file, in bytes from its beginning.
  package var offset: Int?
  package var reason: String

  package init(_ kind: Kind, _ file: String, at offset: Int? = nil, _ reason: String) {
    (self.kind, self.file, self.offset, self.reason) = (kind, file, offset, reason)
  }

  package var description: String { "\(file)\(offset.map { ", byte \($0)" } ?? ""): \(reason)" }
}
