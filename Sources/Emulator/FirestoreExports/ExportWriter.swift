// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Writes an export into a folder that gets its name in one step, once it is complete and on the disk. The overall
/// metadata is written last; without it the folder is not an export.
/// ```
/// NAME/NAME.overall_export_metadata
/// NAME/all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata
/// NAME/all_namespaces/all_kinds/output-0, output-1 …
/// ```
package struct ExportWriter: ~Copyable {
  private static let part = "all_namespaces/all_kinds"
  private static let partFile = "all_namespaces_all_kinds.export_metadata"
  /// The size of the pieces for writing files.
  private static let pieceBytes = 256 * 1024

  private let folder: FolderReplacement
  private let entities: EntityWriter
  private let begin: Timestamp
  private let bytesPerFile: Int
  private var files: [String] = []
  private var file: Int32?
  private var log = RecordLogWriter()
  private var bytes = 0
  /// The number of documents so far.
  package private(set) var documents = 0

  /// - Parameters:
  ///   - path: the path of the folder, with the export's name; an existing export there is replaced.
  ///   - database: the database of the documents.
  ///   - begin: the time of the export.
  ///   - bytesPerFile: the size at which a file gets no more documents.
  /// - Throws: `unwritable`.
  package init(
    _ path: String, _ database: DatabaseID, begin: Timestamp, bytesPerFile: Int = 1 << 30
  ) throws(ExportError) {
    folder = try FolderReplacement(of: path, .export)
    entities = EntityWriter(database)
    self.begin = begin
    self.bytesPerFile = bytesPerFile
  }

  /// Deletes the written files, unless the export is finished.
  deinit {
    if let file { FolderReplacement.close(file) }
    folder.discard()
  }

  /// - Throws: `unsupported` for a document that cannot be exported, `unwritable`.
  package mutating func append(_ key: DocumentKey, _ fields: Fields) throws(ExportError) {
    let record: [UInt8]
    do throws(EntityFault) { record = try entities.record(key, fields) } catch {
      throw ExportError(.unsupported, folder.path, error.reason)
    }
    if file != nil, log.count >= bytesPerFile { try endFile() }
    if file == nil { try beginFile() }
    log.append(record)
    documents += 1
    if log.bytes.count >= Self.pieceBytes { try write() }
  }

  /// Gives the export its name, after all documents have been appended.
  /// - Parameter end: the current time.
  package consuming func finish(end: Timestamp) throws(ExportError) {
    if file != nil { try endFile() }
    let name = folder.name
    var parts: [OverallMetadata.Part] = []
    if !files.isEmpty {
      let metadata = PartMetadata(name: name, begin: begin, end: end, files: files)
      try folder.write(metadata.bytes, to: Self.part + "/" + Self.partFile)
      parts.append(OverallMetadata.Part(file: Self.part + "/" + Self.partFile, documents: documents, bytes: bytes))
    }
    var log = RecordLogWriter()
    log.append(OverallMetadata.version)
    log.append(OverallMetadata(parts).record)
    try folder.write(log.take(), to: name + ExportLocation.ending)
    try folder.commit()
  }

  private mutating func beginFile() throws(ExportError) {
    if files.isEmpty { try folder.makeFolders(Self.part) }
    let name = "output-\(files.count)"
    file = try folder.make(Self.part + "/" + name)
    files.append(name)
    log = RecordLogWriter()
  }

  private mutating func write() throws(ExportError) {
    guard let file else { return }
    try folder.write(log.take(), to: file)
  }

  private mutating func endFile() throws(ExportError) {
    try write()
    bytes += log.count
    guard let file = file.take() else { return }
    try folder.end(file)
  }
}
