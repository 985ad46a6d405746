// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol
import Foundation
import Glibc

/// `hearth export`: documents into a file that `hearth import` reads.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write documents to a file that 'hearth import' reads.",
    usage: "hearth export <path>|--all [--recursive] [--output <file>] [<options>]",
    discussion: """
      One {"path": …, "data": …} per document, in the order of their paths: importing the file and exporting again \
      gives the same bytes. A file of -o appears when it is complete, in place of one with the same name; an export \
      that fails leaves the old one. Links are followed; devices and pipes are written to.

      Exit status: 69 if the server cannot be reached, 65 if data is damaged or holds what import would refuse, 73 and \
      74 if the output cannot be created or written.
      """)

  @Argument(help: "Path of a collection or a document.")
  var path: String?

  @Flag(help: "All collections of the database.")
  var all = false

  @Flag(help: "Also what is below the documents.")
  var recursive = false

  @Option(help: "Layout of the output; by default json for a file that ends in .json, else jsonl.")
  var format: TransferFormat?

  @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file instead of standard output.", valueName: "file"))
  var output: String?

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func validate() throws {
    if all == (path != nil) { throw ValidationError("name the path of a collection or document, or say --all.") }
  }

  mutating func run() async throws {
    let locations = storage.locations
    let path = try path.map { try DataPath.any($0) }
    try locations.requireData()
    let connection = try locations.connect()
    let format = format ?? output.map(TransferFormat.init(fileName:)) ?? .jsonl
    var roots: [ResourcePath] = []
    if let path {
      roots = [path]
    } else {
      roots = try await connection.datastore.listCollectionIDs(below: .root).map { ResourcePath($0) }
    }
    let target = try ExportTarget(output)
    let written: Summary
    do {
      written = try await write(roots, at: connection, to: target.file, format)
      if written.documents == 0, let path, path.isDocument, !recursive {
        throw CommandFailure(.notFound, "\(path) does not exist.")
      }
    } catch {
      target.discard()
      throw error
    }
    try target.commit()
    report(written)
  }

  private struct Summary {
    var documents = 0
    /// Collections that were passed over.
    var leftOut = 0
    var elapsed = Duration.zero
  }

  private func report(_ written: Summary) {
    if written.leftOut > 0 {
      let subcollections = "\(written.leftOut) subcollection\(written.leftOut == 1 ? " was" : "s were")"
      headless.note("\(subcollections) left out; add --recursive to export what is below documents too.")
    }
    if output == nil { return }
    let pace = TransferProgress.summary(written.documents, in: written.elapsed)
    headless.note("\(written.documents.documents) exported in \(pace).")
  }

  private func write(
    _ roots: [ResourcePath], at connection: Connection, to file: OutputFile, _ format: TransferFormat
  ) async throws -> Summary {
    var progress = TransferProgress(isQuiet: headless.quiet || (output == nil && isatty(STDOUT_FILENO) == 1))
    var written = Summary()
    var walk = DocumentWalk(at: connection, isRecursive: recursive)
    // Asking for them takes as long as exporting does: only a user who wants all of them must be told.
    walk.countsSubcollections = all && !headless.quiet
    do {
      for root in roots {
        written.leftOut += try await walk.visit(root) { document in
          guard let data = document.data else { return }
          try Self.check(document.key, data.fields)
          if format == .json { try file.write(written.documents == 0 ? "[\n" : ",\n") }
          try file.write(DocumentLine.json(document.key, data.fields, in: connection.database))
          if format == .jsonl { try file.write("\n") }
          written.documents += 1
          progress.show(written.documents)
        }
      }
      if format == .json { try file.write(written.documents == 0 ? "[]\n" : "\n]\n") }
      try file.flush()
    } catch {
      progress.end()
      throw error
    }
    progress.end()
    written.elapsed = progress.elapsed
    return written
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
