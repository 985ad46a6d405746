// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import ByteCompression
package import CommandOutput
import FirestoreExports
package import FirestoreModel
package import FirestoreProtocol
import Glibc

/// Exports documents in path order to one file or to a folder.
package struct ExportJob: Sendable {
  package struct Outcome: Sendable {
    package var documents = 0
    /// The number of skipped collections if they are counted.
    package var leftOut = 0

    package init(documents: Int = 0, leftOut: Int = 0) {
      (self.documents, self.leftOut) = (documents, leftOut)
    }
  }

  /// The collections and documents to export; `nil` for all root collections.
  package var roots: [ResourcePath]?
  package var isRecursive: Bool
  package var format: TransferFormat
  /// Whether to count the skipped collections.
  package var countsSubcollections = false

  package init(
    roots: [ResourcePath]? = nil, isRecursive: Bool, format: TransferFormat, countsSubcollections: Bool = false
  ) {
    self.roots = roots
    self.isRecursive = isRecursive
    self.format = format
    self.countsSubcollections = countsSubcollections
  }

  /// - Parameter progress: called after each document with the document count. If it throws an error, the export ends.
  package func run(
    at datastore: any Datastore, _ database: DatabaseID, to file: OutputFile, progress: (Int) throws -> Void
  ) async throws -> Outcome {
    if format.delimiter != nil {
      throw CommandFailure(
        .usage,
        "\(format.rawValue) cannot represent all types. Use --format jsonl, or print with "
          + "'hearth get PATH --\(format.rawValue)'.")
    }
    let outcome = try await visit(datastore, database, progress) { count, key, fields in
      if format == .json { try file.data(count == 0 ? "[\n" : ",\n") }
      try file.data(DocumentLine.json(key, fields, in: database))
      if format == .jsonl { try file.data("\n") }
    }
    if format == .json { try file.data(outcome.documents == 0 ? "[]\n" : "\n]\n") }
    try file.flush()
    return outcome
  }

  /// Writes a folder in Google's format. The folder gets its name only when it is complete.
  /// - Parameters:
  ///   - folder: an existing export in this folder is replaced, unless the exported path has no documents.
  ///   - progress: called after each document with the document count. If it throws an error, the export ends.
  package func run(
    at datastore: any Datastore, _ database: DatabaseID, toFolder folder: String, progress: (Int) throws -> Void
  ) async throws -> Outcome {
    do {
      var writer = try ExportWriter(folder, database, begin: .now)
      let outcome = try await visit(datastore, database, progress) { _, key, fields in try writer.append(key, fields) }
      if outcome.documents == 0, roots != nil { return outcome }
      try writer.finish(end: .now)
      return outcome
    } catch let error as ExportError {
      throw CommandFailure(export: error)
    }
  }

  /// - Parameter body: called with the count of preceding documents, and the document.
  private func visit(
    _ datastore: any Datastore, _ database: DatabaseID, _ progress: (Int) throws -> Void,
    _ body: (Int, DocumentKey, Fields) throws -> Void
  ) async throws -> Outcome {
    var roots = roots ?? []
    if self.roots == nil {
      roots = try await datastore.listCollectionIDs(below: .root).map { ResourcePath($0) }
    }
    var outcome = Outcome()
    var walk = DocumentWalk(at: datastore, database, isRecursive: isRecursive)
    walk.countsSubcollections = countsSubcollections
    for root in roots {
      outcome.leftOut += try await walk.visit(root) { document in
        guard let data = document.data else { return }
        let fields = data.fields
        try Self.check(document.key, fields)
        try body(outcome.documents, document.key, fields)
        outcome.documents += 1
        try progress(outcome.documents)
      }
    }
    return outcome
  }

  /// Checks that `import` would accept the document, because an export must be usable as a backup. Only servers that
  /// did not validate their input contain invalid documents.
  private static func check(_ key: DocumentKey, _ fields: Fields) throws(CommandFailure) {
    do throws(ModelError) {
      try fields.validateForWrite()
    } catch {
      throw CommandFailure(
        .badData,
        "\(key.path) cannot be exported, because an import would reject it: \(error.message) Fix it and try again.")
    }
  }
}

/// The format of a file of documents.
package enum TransferFormat: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
  /// The whole file is one JSON value: an array of documents, or an object with documents by name.
  case json
  /// One JSON object per line.
  case jsonl
  /// A row with names, and a row for each document. These formats are only for imports, because an export would lose
  /// the types.
  case csv, tsv
  /// A folder in the format of managed exports of Cloud Firestore and of Google's emulator.
  case google

  /// Chooses the format of an input. If the path is an export in Google's format, chooses this format. Otherwise the
  /// file name determines the format.
  package init(input path: String) {
    self = path != "-" && ExportLocation.isNamed(by: path) ? .google : TransferFormat(fileName: path)
  }

  /// Chooses the format by the suffix of the file name, without a compression suffix. For any other name, chooses
  /// `jsonl`.
  package init(fileName: String) {
    let compression = CompressionFormat(fileName: fileName)?.fileExtension ?? ""
    let ending = fileName.lowercased().dropLast(compression.count).split(separator: ".").last.map(String.init) ?? ""
    let named = TransferFormat(rawValue: ending)
    // A folder cannot be identified by its name.
    self = named == .google ? .jsonl : named ?? .jsonl
  }

  /// The delimiter between the cells of a row; `nil` for JSON.
  package var delimiter: Delimiter? {
    switch self {
    case .json, .jsonl, .google: nil
    case .csv: .comma
    case .tsv: .tab
    }
  }
}

/// The target of an export: standard output, an existing device or pipe, or a file. A file replaces the old file only
/// when it is complete.
package struct ExportTarget {
  package let file: OutputFile
  private let end: End

  private enum End {
    case open
    case closing(Int32)
    case replacing(FileReplacement)
  }

  /// - Parameters:
  ///   - path: the path of the target; `nil` or `-` for standard output.
  ///   - compression: the format of the output; `nil` for none.
  package init(_ path: String?, _ compression: CompressionFormat? = nil) throws(CommandFailure) {
    guard let path, path != "-" else {
      (file, end) = (try .standard(compression), .open)
      return
    }
    switch try OutputPlace(path) {
    case .descriptor(let number):
      (file, end) = (try OutputFile(number, path, compression), .open)
    case .stream(let name):
      let descriptor = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
      }
      (file, end) = (try OutputFile(descriptor, path, compression), .closing(descriptor))
    case .file(let name):
      let replacement = try FileReplacement(of: name)
      (file, end) = (try OutputFile(replacement.descriptor, path, compression), .replacing(replacement))
    }
  }

  /// Completes the output after everything was written.
  package func commit() throws {
    do { try file.finish() } catch {
      discard()
      throw error
    }
    switch end {
    case .open: break
    case .closing(let descriptor): close(descriptor)
    case .replacing(let replacement): try replacement.commit()
    }
  }

  /// Discards the incomplete output. The old file remains.
  package func discard() {
    switch end {
    case .open: break
    case .closing(let descriptor): close(descriptor)
    case .replacing(let replacement): replacement.discard()
    }
  }
}
