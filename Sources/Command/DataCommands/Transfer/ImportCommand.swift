// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreModel
import FirestoreText
import Foundation

/// `hearth import`: imports documents from a file.
package struct ImportCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Write the documents of a file.",
    discussion: """
      Reads the output of 'hearth export': {"path": …, "data": …} one per line, or in a JSON array. With --into the \
      documents are plain: one per line, in an array, or as the values of an object whose keys are the ids. The id \
      is the key in the object, the field of --id-field, or derived from the document and its line, so importing a file again changes nothing.

      JSON of other tools is recognized by its first bytes, and a message names the form. The forms are: collections \
      whose documents are keyed by id or listed in arrays, "__collections__", responses of the REST interface, JSON in \
      strings, and extended JSON of MongoDB. Objects that represent timestamps, points, references and bytes are \
      converted to values of these types. To keep such an object as a map, use --types FIELD=json.

      In values separated by commas, tabs or semicolons, the first row has the column names and determines the \
      separator. A column named path has the document's path; with --into the documents are plain. a.b is a field of a \
      map. Types are guessed from the first rows, which --dry-run shows, or set with --types; whole numbers of more \
      than 64 bits stay text. An empty cell is a missing field, and a quoted empty cell is an \
      empty text.

      Also reads the documents of a folder from 'hearth backup', and exports in Google's format, from Cloud Firestore \
      and its emulator: name the folder, or the file in it that ends with .overall_export_metadata. References within \
      the exported database become references within this database.

      --rename imports to another path: cities=cities2 writes the documents of cities, and everything below them, to \
      cities2, and other documents to their own paths. For an export of one collection, --into does the same. \
      References stay unchanged.

      A file or standard input may be compressed with gzip or zstd, which is detected from its first bytes. If the \
      input is cut off or damaged, the documents before that place are written, and the error names the place.

      If an import is interrupted in any way, the same command continues it. The progress is stored in \
      FILE.hearth-import, or in the file of --resume, until the import is complete.

      Exit status: 65 if a document cannot be read or is rejected. The error names the line, and nothing after it is \
      written, unless you add --keep-going.
      """)

  @Argument(help: ArgumentHelp("JSON, JSON lines, CSV, TSV or an export; - reads standard input.", valueName: "file"))
  var file: String

  @Option(
    help: ArgumentHelp(
      "Collection for plain documents, or for an export of one collection; or another database, as in "
        + "emulator:localhost:8080, alone or followed by /COLLECTION.", valueName: "place"))
  var into: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Import the exported documents at or below one path to another path: cities=cities2. May be repeated.",
      valueName: "from=to"),
    transform: CollectionRename.init(parsing:))
  var rename: [CollectionRename] = []

  @Option(help: ArgumentHelp("Field of plain documents that holds the id: a string or an integer.", valueName: "field"))
  var idField: String?

  @Option(
    help: "Format of the input. Default: detected from the file's name and first bytes.")
  var format: TransferFormat?

  @Option(
    help: ArgumentHelp(
      "Layout of JSON: the documents of one collection, or several collections by name. Default: detected.",
      valueName: "layout")
  )
  var layout: InputLayout?

  @Option(
    help: ArgumentHelp(
      "Types of columns, or of fields in JSON: zip=string,born=timestamp. Also integer double boolean ref bytes geo "
        + "vector json; in JSON, json keeps an object as a map.",
      valueName: "field=type,..."),
    transform: ColumnTypesText.parse)
  var types: [FieldPath: ColumnType]?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Separator of csv cells: one character, or tab. Default: detected from the first row.",
      valueName: "character"),
    transform: Delimiter.init(parsing:))
  var delimiter: Delimiter?

  @Option(help: ArgumentHelp("Where to store the progress of the import.", valueName: "file"))
  var resume: String?

  @Flag(help: "Check every document, print ten of them and all bad ones, but write nothing.")
  var dryRun = false

  @Flag(
    help: "Write bad documents to FILE.rejected (or --rejects) and continue; exit status 65 if there were any.")
  var keepGoing = false

  @Option(help: ArgumentHelp("Where --keep-going writes bad documents.", valueName: "file"))
  var rejects: String?

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup package var storage: StorageOptions

  package var writes: Bool { !dryRun && PlaceText(into ?? "").database == nil }

  package init() {}

  package mutating func validate() throws {
    let isCollectionNamed = into.map { PlaceText($0).path != nil } ?? false
    if isCollectionNamed, !rename.isEmpty {
      throw ValidationError("--into and --rename both name a destination. Remove one of them.")
    }
    for (index, one) in rename.enumerated() where rename[..<index].contains(where: { $0.from == one.from }) {
      throw ValidationError("--rename names two destinations for \(one.from).")
    }
    if rejects != nil { keepGoing = true }
    if keepGoing, rejects == nil, file == "-" {
      throw ValidationError("standard input has no name for the .rejected file. Add --rejects FILE.")
    }
  }

  package mutating func run() async throws {
    let (locations, collection) = try place()
    let rules = ImportRules(
      database: locations.database, collection: collection, idField: try idPath(),
      paths: PathRules(renames: rename))
    let documents = BackupFolder.documents(at: file)
    let (isFormatGiven, format) = (format != nil, format ?? TransferFormat(input: documents))
    let job = ImportJob(
      file: documents, format: format, rules: rules, backend: "\(locations.backend)",
      into: into, idField: idField, state: try dryRun ? nil : Self.statePath(resume ?? defaultState(format)),
      badDocuments: dryRun ? .check : keepGoing ? .collect(rejectPath) : .stop, types: types ?? [:],
      delimiter: delimiter, isFormatGiven: isFormatGiven || format == .google, layout: layout)
    let (headless, name) = (headless, job.name)
    var progress: TransferProgress?
    let isQuiet = headless.quiet
    let interruption = dryRun ? nil : Self.interruption(goesOn: job.state != nil)
    let start = ContinuousClock.now
    let outcome: ImportJob.Outcome
    do {
      outcome = try await job.run(
        into: { try locations.connect().datastore }, note: { headless.note(ShownText($0)) },
        reject: { headless.note("\(name), \($0)") },
        show: { try OutputFile.print(data: DocumentLine.json($0, in: locations.database) + "\n") },
        progress: { point, fraction, first in
          if progress == nil {
            progress = TransferProgress(isQuiet: isQuiet, from: first, interruption: interruption)
          }
          progress?.show(point.documents, fraction: fraction)
        })
    } catch let stopped as ImportJob.Failure {
      progress?.end()
      throw failure(stopped.error, after: stopped.done)
    }
    progress?.end()
    if outcome.repeated > 0 {
      headless.note("\(outcome.repeated.documents) replaced an earlier document with the same path.")
    }
    try report(outcome.done, since: outcome.before, .now - start)
  }

  private func place() throws -> (StorageOptions.Locations, ResourcePath?) {
    guard let into else { return (storage.locations, nil) }
    let place = try NamedPlace(into, in: storage.locations)
    if !dryRun { try place.requireWritable(into) }
    guard let path = place.path else { return (place.locations, nil) }
    return (place.locations, try DataPath.collection(path.isRoot ? "/" : path.text))
  }

  private static func interruption(goesOn: Bool) -> @Sendable (Int) -> String {
    let advice = goesOn ? "; run the command again to continue" : ""
    return { "Imported so far: \($0)\(advice)." }
  }

  /// The file in which the progress of this import is recorded. `nil` for standard input, because it cannot be
  /// recognized in a later run.
  private func defaultState(_ format: TransferFormat) -> String? {
    // The state file lies next to the folder of an export or a backup, whose content remains unchanged.
    if format == .google || BackupFolder.documents(at: file) != file { return ImportJob.state(of: folderless) }
    return ImportInput.isFile(file) ? ImportJob.state(of: file) : nil
  }

  private var folderless: String { file.count > 1 && file.hasSuffix("/") ? String(file.dropLast()) : file }

  private var inputName: String { file == "-" ? "standard input" : file }
  private var rejectPath: String { rejects ?? ImportJob.rejects(of: folderless) }

  private func idPath() throws(CommandFailure) -> FieldPath? {
    guard let idField else { return nil }
    do throws(TextError) { return try FieldPathText.parse(idField) } catch {
      throw error.failure("--id-field", idField)
    }
  }

  private func failure(_ error: any Error, after done: ImportProgressPoint) -> any Error {
    let name = inputName
    let written = dryRun ? "" : " Imported before this error: \(done.documents.documents)."
    switch error {
    case let error as JSONError: return CommandFailure(.badData, "\(name), \(error)\(written)")
    case let reason as Rejection.Reason: return CommandFailure(.badData, "\(name), \(reason.text)\(written)")
    case let status as RPCStatus:
      return CommandFailure(
        ExitStatus(status),
        "\(status) Imported so far: \(done.documents.documents); run the command again to continue.")
    case let failure as CommandFailure where done.documents > 0:
      return CommandFailure(failure.status, "\(failure.message)\(written)")
    default: return error
    }
  }

  private func report(_ done: ImportProgressPoint, since first: Int, _ elapsed: Duration) throws {
    if dryRun {
      headless.note("\(done.documents.documents) can be imported.")
    } else {
      let pace = TransferProgress.summary(done.documents - first, in: elapsed)
      let all = first == 0 ? "" : ", \(done.documents) in all"
      headless.note("\((done.documents - first).documents) imported in \(pace)\(all).")
    }
    if done.rejected == 0 { return }
    throw CommandFailure(
      .badData,
      dryRun
        ? "\(inputName): \(done.rejected.documents) cannot be imported."
        : "rejected: \(done.rejected.documents), now in \(rejectPath).")
  }

  /// The path of the progress file, with symbolic links resolved.
  private static func statePath(_ path: String?) throws(CommandFailure) -> String? {
    guard let path else { return nil }
    guard case .file(let name) = try OutputPlace(path) else {
      throw CommandFailure(
        .cannotCreate, "\(path) is not a regular file, so the progress of the import cannot be stored there.")
    }
    return name
  }
}
