// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreJSON
import FirestoreModel
import Foundation

/// `hearth import`: documents from a file.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Write the documents of a file.",
    discussion: """
      Reads what 'hearth export' writes: {"path": …, "data": …} one per line, or in a JSON array. With --into the \
      documents are plain: one per line, in an array, or in an object by their ids. Their id is that name, or the \
      field of --id-field, or derived from the document and its line, so that importing a file again changes nothing.

      An import that was interrupted, in whatever way, goes on where it was when the same command is given again: how \
      far it came is noted in FILE.hearth-import, or in the file of --resume, until all is done.

      Exit status: 65 if a document cannot be read or is refused; the line is named and nothing after it is written, \
      unless --keep-going.
      """)

  @Argument(help: ArgumentHelp("JSON or JSON lines; - reads standard input.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("Collection for plain documents.", valueName: "collection"))
  var into: String?

  @Option(help: ArgumentHelp("Field of plain documents that holds the id: a string or an integer.", valueName: "field"))
  var idField: String?

  @Option(help: "Layout of the input; by default json for a file that ends in .json, else jsonl.")
  var format: TransferFormat?

  @Option(help: ArgumentHelp("Where to note how far the import came.", valueName: "file"))
  var resume: String?

  @Flag(help: "Check every document, name those that are bad, and write nothing at all.")
  var dryRun = false

  @Flag(
    help: "Write bad documents to FILE.rejected (or --rejects) and go on; exit status 65 at the end if there were any.")
  var keepGoing = false

  @Option(help: ArgumentHelp("Where --keep-going writes bad documents.", valueName: "file"))
  var rejects: String?

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func validate() throws {
    if idField != nil, into == nil {
      throw ValidationError("--id-field is for plain documents: add --into COLLECTION.")
    }
    if rejects != nil { keepGoing = true }
    if keepGoing, rejects == nil, file == "-" {
      throw ValidationError("standard input has no name to put .rejected after: add --rejects FILE.")
    }
  }

  mutating func run() async throws {
    let locations = storage.locations
    let rules = ImportRules(
      database: locations.database, collection: try into.map { try DataPath.collection($0) }, idField: try idPath())
    let format = format ?? TransferFormat(fileName: file)
    var input = try ImportInput(file, format)
    let identity = ImportState.Identity(
      backend: "\(locations.backend)", database: locations.database.name, into: into, idField: idField, format: format,
      size: input.size, modified: input.modified)
    let statePath = try dryRun ? nil : Self.statePath(resume ?? (input.size == nil ? nil : file + ".hearth-import"))
    var done = ImportProgressPoint()
    if let statePath, let state = ImportState.read(statePath), state.identity != identity {
      headless.note(
        "beginning anew: \(statePath) is of another import, or of \(inputName) as it was before it changed.")
    } else if let statePath, let state = ImportState.read(statePath) {
      done = ImportProgressPoint(position: state.position, documents: state.documents, rejected: state.rejected)
      try input.skip(to: done.position, format)
      headless.note(
        "going on after \(done.documents.documents), at line \(done.position.line); remove \(statePath) to begin anew.")
    }
    let connection = dryRun ? nil : try locations.connect()
    let (headless, size) = (headless, input.size)
    func fraction(_ point: ImportProgressPoint) -> Double? {
      size.map { Double(point.position.offset) / Double(max($0, 1)) }
    }
    let first = TransferProgress.Start(documents: done.documents, fraction: fraction(done) ?? 0)
    var progress = TransferProgress(isQuiet: headless.quiet, from: first)
    let checkpoint = ImportCheckpoint(statePath, identity)
    let name = inputName
    let note: (String) -> Void = { headless.note("\(name), \($0)") }
    let rejectFile = dryRun ? RejectFile(nil, note: note) : keepGoing ? RejectFile(rejectPath, note: note) : nil
    var run = ImportRun(rules, into: connection?.datastore, from: done, rejects: rejectFile) { point in
      try checkpoint.note(point)
      progress.show(point.documents, fraction: fraction(point))
    }
    do {
      try await run.run(&input)
    } catch {
      progress.end()
      try checkpoint.save()
      throw failure(error, after: run.done)
    }
    progress.end()
    checkpoint.remove()
    if run.repeated > 0 {
      headless.note("\(run.repeated.documents) came after another of the same path: the last one stands.")
    }
    try report(run.done, since: first.documents, progress.elapsed)
  }

  private var inputName: String { file == "-" ? "standard input" : file }
  private var rejectPath: String { rejects ?? file + ".rejected" }

  private func idPath() throws(CommandFailure) -> FieldPath? {
    guard let idField else { return nil }
    do throws(ArgumentError) { return try FieldName.parse(idField) } catch {
      throw error.failure("--id-field", idField)
    }
  }

  private func failure(_ error: any Error, after done: ImportProgressPoint) -> any Error {
    let name = inputName
    let written = dryRun ? "" : " Imported before it: \(done.documents.documents)."
    switch error {
    case let error as JSONError: return CommandFailure(.badData, "\(name), \(error)\(written)")
    case let reason as Rejection.Reason: return CommandFailure(.badData, "\(name), \(reason.text)\(written)")
    case let status as RPCStatus:
      return CommandFailure(
        ExitStatus(status.code),
        "\(status) Imported so far: \(done.documents.documents); the same command goes on from there.")
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

  /// The name of the file itself, where the path is a link.
  private static func statePath(_ path: String?) throws(CommandFailure) -> String? {
    guard let path else { return nil }
    guard case .file(let name) = try OutputPlace(path) else {
      throw CommandFailure(
        .cannotCreate, "\(path) is no regular file, so how far the import came cannot be noted there.")
    }
    return name
  }
}

/// Writes how far an import came, not more often than it takes to repeat a little work.
private final class ImportCheckpoint {
  private static let interval = Duration.milliseconds(200)

  private let path: String?
  private let identity: ImportState.Identity
  private var point: ImportProgressPoint?
  private var lastSaved = ContinuousClock.now

  init(_ path: String?, _ identity: ImportState.Identity) {
    self.path = path
    self.identity = identity
  }

  func note(_ point: ImportProgressPoint) throws {
    self.point = point
    if .now - lastSaved >= Self.interval { try save() }
  }

  func save() throws {
    guard let path, let point else { return }
    lastSaved = .now
    let state = ImportState(
      identity: identity, position: point.position, documents: point.documents, rejected: point.rejected)
    try state.write(to: path)
  }

  /// The import is complete.
  func remove() {
    // There is none if it was never written.
    if let path { try? FileManager.default.removeItem(atPath: path) }
  }
}
