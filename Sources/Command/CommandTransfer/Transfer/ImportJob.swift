// SPDX-License-Identifier: Apache-2.0
import CommandOptions
package import CommandOutput
import FirestoreJSON
package import FirestoreModel
package import FirestoreProtocol
import Foundation

/// Imports one file. If an earlier run of the same import ended early, continues after its last position.
package struct ImportJob: Sendable {
  /// The treatment of invalid documents.
  package enum BadDocuments: Hashable, Sendable {
    /// The first invalid document ends the import.
    case stop
    /// Invalid documents are written to a file, and the import continues.
    case collect(String)
    /// Invalid documents are only reported, and nothing is written.
    case check
  }

  /// The reason why an import ended early, with its progress.
  package struct Failure: Error {
    package var error: any Error
    package var done: ImportProgressPoint

    package init(error: any Error, done: ImportProgressPoint) {
      (self.error, self.done) = (error, done)
    }
  }

  package struct Outcome: Sendable {
    package var done: ImportProgressPoint
    /// The number of documents that an earlier run has imported.
    package var before = 0
    /// The number of documents whose path occurred earlier in the file.
    package var repeated = 0

    package init(done: ImportProgressPoint, before: Int = 0, repeated: Int = 0) {
      (self.done, self.before, self.repeated) = (done, before, repeated)
    }
  }

  /// The path of the input; `-` for standard input.
  package var file: String
  package var format: TransferFormat
  /// Whether the user chose the format. If not, it can change when the first bytes are read.
  package var isFormatGiven: Bool
  /// The JSON layout; `nil` to recognize it.
  package var layout: InputLayout?
  package var rules: ImportRules
  /// The backend's name, as recorded in the import's progress file.
  package var backend: String
  /// The options that determine the collection and the id field of plain documents, as typed.
  package var into: String?
  package var idField: String?
  /// The file in which the progress of the import is recorded; `nil` for none.
  package var state: String?
  package var badDocuments = BadDocuments.stop
  /// The types that the user has given for columns, and for fields in JSON.
  package var types: [FieldPath: ColumnType] = [:]
  /// The delimiter between cells; `nil` to infer it.
  package var delimiter: Delimiter?

  package init(
    file: String, format: TransferFormat, rules: ImportRules, backend: String, into: String? = nil,
    idField: String? = nil, state: String? = nil, badDocuments: BadDocuments = BadDocuments.stop,
    types: [FieldPath: ColumnType] = [:], delimiter: Delimiter? = nil, isFormatGiven: Bool = true,
    layout: InputLayout? = nil
  ) {
    self.file = file
    self.format = format
    self.isFormatGiven = isFormatGiven
    self.layout = layout
    self.rules = rules
    self.backend = backend
    self.into = into
    self.idField = idField
    self.state = state
    self.badDocuments = badDocuments
    self.types = types
    self.delimiter = delimiter
  }

  /// The input's name in messages.
  package var name: String { file == "-" ? "standard input" : file }

  /// The default path of the file that records an import's progress.
  package static func state(of file: String) -> String { file + ".hearth-import" }

  /// The default path of the file to which invalid documents are written.
  package static func rejects(of file: String) -> String { file + ".rejected" }

  /// - Parameters:
  ///   - connect: connects to the server. Called when the input is open.
  ///   - note: called with sentences about an earlier run of the import, and about the columns of rows.
  ///   - reject: called with the reason why each invalid document is not imported.
  ///   - show: called with the mutations of the first documents, if nothing is written.
  ///   - progress: called with the progress, and with the completed fraction if it is known. If it throws an error, the
  ///     import ends.
  /// - Throws: `CommandFailure` before the import begins, `Failure` after that.
  package func run(
    into connect: () throws -> (any Datastore)?, note: @escaping (String) -> Void, reject: @escaping (String) -> Void,
    show: @escaping (Mutation) throws -> Void = { _ in },
    progress: @escaping (ImportProgressPoint, _ fraction: Double?, _ first: TransferProgress.Start) throws -> Void
  ) async throws -> Outcome {
    var input = try ImportInput(file, format)
    var job = self
    let form = try input.recognize(file, isFormatGiven ? format : nil, layout, into: rules.collection)
    (job.format, job.layout, job.isFormatGiven) = (form.format, form.layout, true)
    job.rules.collection = rules.collection ?? form.collection
    if let text = form.note { note(text) }
    return try await job.run(&input, into: connect, note: note, reject: reject, show: show, progress: progress)
  }

  /// Runs the import of an input whose format is known.
  private func run(
    _ input: inout ImportInput, into connect: () throws -> (any Datastore)?, note: @escaping (String) -> Void,
    reject: @escaping (String) -> Void, show: @escaping (Mutation) throws -> Void,
    progress: @escaping (ImportProgressPoint, _ fraction: Double?, _ first: TransferProgress.Start) throws -> Void
  ) async throws -> Outcome {
    let resolved = try placed(try columns(of: &input, note), &input)
    let identity = ImportState.Identity(
      backend: backend, database: rules.database.name, into: into, idField: idField,
      renames: rules.paths.renames.isEmpty ? nil : rules.paths.renames.map { "\($0.from)=\($0.to)" }, format: format,
      layout: layout == .documents ? nil : layout,
      delimiter: input.delimiter == format.delimiter ? nil : input.delimiter?.name,
      types: types.isEmpty ? nil : Dictionary(uniqueKeysWithValues: types.map { ($0.key.canonicalText, $0.value) }),
      size: input.size, modified: input.modified)
    let state = badDocuments == .check ? nil : state
    let before = state.flatMap { ImportState.read($0) }
    var done = ImportProgressPoint()
    if let state, let before, before.identity != identity {
      note("starting over: \(state) belongs to another import, or \(name) has changed.")
    } else if let state, let before {
      done = ImportProgressPoint(position: before.position, documents: before.documents, rejected: before.rejected)
      try input.skip(to: done.position, format)
      let line = format == .google ? "" : ", at line \(done.position.line)"
      note("continuing after \(done.documents.documents)\(line); remove \(state) to start over.")
    }
    let datastore = badDocuments == .check ? nil : try connect()
    let size = input.size
    func fraction(_ point: ImportProgressPoint) -> Double? {
      size.map { Double(point.position.compressed ?? point.position.offset) / Double(max($0, 1)) }
    }
    let first = TransferProgress.Start(documents: done.documents, fraction: fraction(done) ?? 0)
    let checkpoint = ImportCheckpoint(state, identity)
    let rejects: RejectFile? =
      switch badDocuments {
      case .stop: nil
      case .collect(let path): RejectFile(path, note: reject)
      case .check: RejectFile(nil, note: reject)
      }
    var run = ImportRun(
      resolved, into: datastore, from: done, rejects: rejects, show: badDocuments == .check ? show : nil
    ) { point in
      try checkpoint.note(point)
      try progress(point, fraction(point), first)
    }
    do {
      try await run.run(&input)
    } catch {
      for line in run.recognized.lines { note(line) }
      try checkpoint.save()
      throw Failure(error: error, done: run.done)
    }
    checkpoint.remove()
    for line in run.recognized.lines { note(line) }
    if format.delimiter == nil, run.done.documents > 0 {
      for field in types.keys.filter({ !run.recognized.typed.contains($0) }).map(\.canonicalText).sorted() {
        note("no document has the field \(field) of --types.")
      }
    }
    try check(run.unusedRenames, run.done)
    return Outcome(done: run.done, before: first.documents, repeated: run.repeated)
  }
}

extension ImportJob {
  /// Whether the input can be read twice. A pipe cannot.
  private var canLookTwice: Bool { format == .google || ImportInput.isFile(file) }

  /// - Throws: if a rename matched no document in a pipe. The documents were then written to their old paths. For a
  ///   file, such a rename is detected before anything is written.
  private func check(_ unused: [CollectionRename], _ done: ImportProgressPoint) throws {
    guard !canLookTwice, done.documents > 0, let rename = unused.first else { return }
    throw CommandFailure(
      .badData,
      "\(rename.text): \(name) has nothing at \(rename.from). \(done.documents.documents) imported, none to "
        + "\(rename.to).")
  }

  /// The rules for documents of an export that are imported to other paths.
  private func placed(_ rules: ImportRules, _ input: inout ImportInput) throws -> ImportRules {
    var rules = rules
    let delimiter = input.delimiter
    func survey() throws -> ImportSurvey {
      var again = try ImportInput(file, format, layout: layout ?? .documents)
      if let delimiter { try again.part(by: delimiter) }
      return ImportSurvey(again, rules)
    }
    if !rules.paths.renames.isEmpty, canLookTwice { try survey().check(rules.paths.renames, of: name) }
    let hasCollections = layout?.hasCollections ?? false
    if idField != nil, rules.collection == nil, !hasCollections {
      throw CommandFailure(.usage, "--id-field is for plain documents. Add --into COLLECTION.")
    }
    guard let collection = rules.collection, rules.columns == nil else { return rules }
    var known: ImportSurvey?
    if format == .google {
      known = try survey()
    } else if let first = try? input.sample().first, first.collection != nil || first.name == nil,
      let path = rules.path(of: first)
    {
      // The import itself reports unreadable input (`try?`) with its position.
      known = canLookTwice ? try survey() : ImportSurvey(path)
    }
    guard let known else { return rules }
    if idField != nil, !hasCollections {
      throw CommandFailure(
        .usage, "--id-field is for plain documents, but the documents in \(name) have paths. Remove the option.")
    }
    rules.collection = nil
    rules.paths = PathRules(
      renames: try known.only(into: collection, of: name).map { [$0] } ?? [], isOnlyRenamed: true)
    return rules
  }

  /// The rules for a file that consists of rows.
  private func columns(of input: inout ImportInput, _ note: (String) -> Void) throws -> ImportRules {
    if delimiter != nil, format.delimiter == nil {
      throw CommandFailure(.usage, "--delimiter is only for csv, but \(name) is \(format.rawValue).")
    }
    try input.part(by: delimiter)
    guard let delimiter = input.delimiter else {
      if types.isEmpty { return rules }
      if format == .google {
        throw CommandFailure(
          .usage, "--types is for csv, tsv and JSON. An export in Google's format already has the type of each value.")
      }
      var rules = rules
      rules.types = types
      return rules
    }
    var rules = rules
    do {
      let columns = try DelimitedColumns(
        input.sample(), delimiter, isPlain: rules.collection != nil, types: types, in: rules.database)
      if self.delimiter == nil, delimiter != format.delimiter {
        note("the separator is a \(delimiter.name), detected from the first row. Use --delimiter for another one.")
      }
      if badDocuments == .check { note("columns: \(columns.summary).") }
      rules.columns = columns
    } catch let error as JSONError {
      throw CommandFailure(.badData, "\(name), \(error)")
    }
    return rules
  }
}

/// Records the progress of an import from time to time, so that an interrupted import repeats little work.
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

  /// Removes the progress file when the import is complete.
  func remove() {
    // A record that was never written need not be removed.
    if let path { try? FileManager.default.removeItem(atPath: path) }
  }
}

/// Finds the collections of an input's documents before any document is written.
struct ImportSurvey {
  /// The root collections of the input. For each, the deepest collection that contains all of its documents.
  private(set) var collections: [String: ResourcePath] = [:]
  /// The renamed paths that occur in the input.
  private(set) var found: Set<ResourcePath> = []

  /// Reads the whole input. Unreadable documents are ignored here and reported by the import.
  init(_ input: consuming ImportInput, _ rules: ImportRules) {
    var input = input
    while let batch = try? input.next() {
      for record in batch.records { if let path = rules.path(of: record) { add(path, rules) } }
    }
  }

  /// Creates the survey of a single document.
  init(_ path: ResourcePath) { add(path, nil) }

  private mutating func add(_ path: ResourcePath, _ rules: ImportRules?) {
    for rename in rules?.paths.renames ?? [] where rename.from.isPrefix(of: path) { found.insert(rename.from) }
    let root = path.segments.first.map(String.init) ?? ""
    collections[root] = collections[root].map { $0.common(with: path.parent) } ?? path.parent
  }

  /// The rename that moves the only collection in the input to `target`; `nil` if there are no documents.
  /// - Throws: if there are several collections. The error lists the options to use.
  func only(into target: ResourcePath, of name: String) throws(CommandFailure) -> CollectionRename? {
    guard let (root, inner) = collections.first else { return nil }
    if collections.count > 1 {
      let names = collections.keys.sorted()
      let shown = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
      throw CommandFailure(
        .usage,
        "\(name) has several collections (\(shown)). Replace --into with a --rename for each collection to rename, "
          + "such as \(CollectionRename(ResourcePath(names[0]), target).text). Other collections keep their names.")
    }
    if inner.count > 1 {
      let outer = CollectionRename(ResourcePath(root), target)
      throw CommandFailure(
        .usage,
        "all documents of \(name) are in \(inner), so --into is ambiguous. Replace it with "
          + "\(CollectionRename(inner, target).text), or with \(outer.text) for the outer collection.")
    }
    return CollectionRename(inner, target)
  }

  /// - Throws: if a rename matches no document. Otherwise the documents that the user meant would be imported without
  ///   the rename.
  func check(_ renames: [CollectionRename], of name: String) throws(CommandFailure) {
    if collections.isEmpty { return }
    for rename in renames where !found.contains(rename.from) {
      let names = collections.keys.sorted().prefix(8).joined(separator: ", ")
      throw CommandFailure(
        .usage, "\(rename.text): \(name) has nothing at \(rename.from). Its collections are \(names).")
    }
  }
}

extension ResourcePath {
  /// The deepest collection that contains both collections. It can be one of the two.
  fileprivate func common(with other: ResourcePath) -> ResourcePath {
    let shared = zip(segments, other.segments).prefix { $0 == $1 }.map { String($0.0) }
    return ResourcePath(segments: shared.count % 2 == 0 ? Array(shared.dropLast()) : shared)
  }
}
