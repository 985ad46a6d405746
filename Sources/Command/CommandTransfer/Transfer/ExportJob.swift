// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreExports
package import FirestoreModel
package import FirestoreProtocol

/// Documents into one file, or a folder, in the order of their paths.
package struct ExportJob: Sendable {
  package struct Outcome: Sendable {
    package var documents = 0
    /// Collections that were passed over, where they were counted.
    package var leftOut = 0

    package init(documents: Int = 0, leftOut: Int = 0) {
      (self.documents, self.leftOut) = (documents, leftOut)
    }
  }

  /// Collections and documents; `nil` for every collection at the root.
  package var roots: [ResourcePath]?
  package var isRecursive: Bool
  package var format: TransferFormat
  /// Whether to find out which collections are passed over.
  package var countsSubcollections = false

  package init(
    roots: [ResourcePath]? = nil, isRecursive: Bool, format: TransferFormat, countsSubcollections: Bool = false
  ) {
    self.roots = roots
    self.isRecursive = isRecursive
    self.format = format
    self.countsSubcollections = countsSubcollections
  }

  /// - Parameter progress: called after each document with their number; an error that it throws ends the export.
  package func run(
    at datastore: any Datastore, _ database: DatabaseID, to file: OutputFile, progress: (Int) throws -> Void
  ) async throws -> Outcome {
    if format.delimiter != nil {
      throw CommandFailure(
        .usage,
        "an export keeps all types, which \(format.rawValue) cannot: 'hearth get PATH --\(format.rawValue)' prints it, "
          + "--format jsonl exports.")
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

  /// Writes a folder in Google's format, which is there when all of it is.
  /// - Parameters:
  ///   - folder: one that holds an export is replaced; not by documents of a path that has none.
  ///   - progress: called after each document with their number; an error that it throws ends the export.
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

  /// - Parameter body: gets how many documents came before, and the document.
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

  /// An export that import would refuse is no backup. Only servers that did not look at what they were given hold such
  /// documents.
  private static func check(_ key: DocumentKey, _ fields: Fields) throws(CommandFailure) {
    do throws(ModelError) {
      try fields.validateForWrite()
    } catch {
      throw CommandFailure(
        .badData,
        "\(key.path) cannot be exported, because no import would take it: \(error.message) Mend it and try again.")
    }
  }
}
