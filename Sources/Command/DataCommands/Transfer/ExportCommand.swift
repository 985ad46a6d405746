// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import Foundation
import Glibc

/// `hearth export`: writes documents to a file that `hearth import` can read.
package struct ExportCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write documents to a file that 'hearth import' reads.",
    usage: "hearth export <place>|--all [--no-recursive] [--output <file>] [<options>]",
    discussion: """
      Writes one {"path": …, "data": …} per document, in path order. Importing the file and exporting again gives the \
      same bytes. A file named with -o appears when it is complete, and replaces a file with the same name; a failed \
      export keeps the old file. Links are followed; devices and pipes are written to. A name that ends with .gz or \
      .zst makes a compressed file, which 'hearth import' reads.

      With --format google, -o names a folder in the format of Cloud Firestore's managed exports, which Google's \
      emulator also reads. The folder appears when it is complete, and replaces an older export. A folder with other \
      contents is never replaced.

      A place is a path in the current database, / for the whole database, or another database, optionally followed by \
      /PATH: ./FOLDER or data:FOLDER, connection:NAME, emulator:HOST:PORT, cloud:PROJECT.

      An export is a snapshot. By default it is taken when the command starts. Choose an earlier time with --at, or \
      after the path, as in cities@-10m. A backend that cannot read the past exports each document in its current \
      version, and a message says so; --live selects this mode.

      Exit status: 4 if there is nothing at the path, 69 if the server cannot be reached, 65 if data is damaged or \
      cannot be imported again, 73 and 74 if the output cannot be created or written, 75 if the backend no longer \
      keeps the documents of that moment.
      """)

  @Argument(
    help: ArgumentHelp(
      "Path of a collection or a document, / for the whole database, or another database, as in connection:prod/cities.",
      valueName: "place"))
  var path: String?

  @Flag(help: "All collections of the database.")
  var all = false

  @Flag(inversion: .prefixedNo, help: "Include everything below the documents.")
  var recursive = true

  @Option(help: "Format of the output: json, jsonl or google. Default: from the file's name, else jsonl.")
  var format: TransferFormat?

  @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file instead of standard output.", valueName: "file"))
  var output: String?

  @OptionGroup var compression: CompressionOption
  @OptionGroup var wholeness: WholenessOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  /// File name extensions of other formats. They are rejected, because the file would contain JSON lines instead.
  private static let foreignNames = [
    ".xlsx", ".xls", ".ods", ".parquet", ".avro", ".xml", ".yaml", ".yml", ".sql", ".db", ".sqlite", ".bson",
  ]

  package mutating func validate() throws {
    if let output, format == nil, let name = Self.foreignNames.first(where: output.lowercased().hasSuffix) {
      throw ValidationError(
        "\(output): export does not write \(name) files. Use .jsonl or .json; for a spreadsheet: hearth get PATH --csv."
      )
    }
    if all == (path != nil) { throw ValidationError("name a collection or document, or use --all.") }
  }

  package mutating func run() async throws {
    let (locations, path) = try place()
    let output = output == "-" ? nil : output
    // Other users must not read copies of the data.
    if output != nil { umask(0o077) }
    let format = format ?? output.map(TransferFormat.init(fileName:)) ?? .jsonl
    if format == .google { return try await exportFolder(locations, path) }
    let compression = try OutputCompression.choose(
      for: output, compression.compress, isTerminal: output == nil && isatty(STDOUT_FILENO) == 1)
    try locations.requireData()
    let connection = try await wholeness.view(of: try locations.connect()) { headless.note(ShownText($0)) }
    let target = try ExportTarget(output, compression)
    var progress = TransferProgress(isQuiet: headless.quiet || (output == nil && isatty(STDOUT_FILENO) == 1))
    let written: ExportJob.Outcome
    do {
      // Counting the skipped subcollections takes as long as the export. `--quiet` skips it.
      let job = ExportJob(
        roots: path.map { [$0] }, isRecursive: recursive, format: format,
        countsSubcollections: !recursive && !headless.quiet)
      written = try await job.run(at: connection.datastore, connection.database, to: target.file) { progress.show($0) }
      progress.end()
      try await check(written, path, connection)
    } catch {
      progress.end()
      target.discard()
      throw error
    }
    let elapsed = progress.elapsed
    try target.commit()
    report(written, elapsed)
  }

  /// The database and the path to export. Without a path, the whole database is exported. A read time in the argument
  /// replaces `--at`.
  private mutating func place() throws -> (StorageOptions.Locations, ResourcePath?) {
    guard let text = self.path else { return (storage.locations, nil) }
    let place = try NamedPlace(text, in: storage.locations)
    if let time = place.time {
      if wholeness.moment.at != nil || wholeness.live {
        throw CommandFailure(.usage, "\(text) already has a time. Remove --at and --live.")
      }
      wholeness.moment.at = time
    }
    return (place.locations, place.path.flatMap { $0.isRoot ? nil : $0 })
  }

  private func exportFolder(_ locations: StorageOptions.Locations, _ path: ResourcePath?) async throws {
    guard let output, output != "-" else {
      throw CommandFailure(.usage, "an export in Google's format is a folder. Name one with -o FOLDER.")
    }
    if compression.compress != nil {
      throw CommandFailure(.usage, "--compress works only for one file, and an export in Google's format is a folder.")
    }
    try locations.requireData()
    let connection = try await wholeness.view(of: try locations.connect()) { headless.note(ShownText($0)) }
    var progress = TransferProgress(isQuiet: headless.quiet)
    let job = ExportJob(
      roots: path.map { [$0] }, isRecursive: recursive, format: .google,
      countsSubcollections: !recursive && !headless.quiet)
    let written: ExportJob.Outcome
    do {
      written = try await job.run(at: connection.datastore, connection.database, toFolder: output) { progress.show($0) }
      progress.end()
    } catch {
      progress.end()
      throw error
    }
    try await check(written, path, connection)
    report(written, progress.elapsed)
  }

  /// - Throws: `notFound` if there is nothing to export at the path.
  private func check(_ written: ExportJob.Outcome, _ path: ResourcePath?, _ connection: BackendConnection) async throws
  {
    guard written.documents == 0 else { return }
    guard let path else { return await headless.hint(at: .root, connection) }
    let reason = path.isDocument ? "does not exist" : "has no documents"
    throw await CommandFailure(
      .notFound, "\(path) \(reason)\(recursive ? ", and nothing is below it" : "")."
    ).hinting(at: path, connection)
  }

  private func report(_ written: ExportJob.Outcome, _ elapsed: Duration) {
    headless.noteSkipped(written.leftOut)
    if output == nil || output == "-" { return }
    let pace = TransferProgress.summary(written.documents, in: elapsed)
    headless.note("\(written.documents.documents) exported in \(pace).")
  }
}
