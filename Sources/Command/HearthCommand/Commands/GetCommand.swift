// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ByteCompression
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import DataCommands
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreText
import Foundation
import Glibc

/// `hearth get`: prints one document, or the documents of a collection.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print documents, or the documents of a collection.",
    usage: "hearth get <path> ... [<options>]",
    discussion: """
      Prints a document as JSON that 'hearth set' reads; a collection as a table on a terminal, otherwise as one line \
      per document. Types that JSON does not have are objects with one $ name, such as {"$timestamp": \
      "2026-03-02T11:58:03Z"}; tables, --csv, --tsv and --template print only the value. A table has the fields of the \
      first 500 documents, and names the fields that do not fit.

      Several paths are printed in the given order, as lines that start with the path or as one table: \
      get cities/SF cities/LA orders.

      An unreachable server is an error, never an empty result. With --source cache the dashboard's cache answers \
      instead, including its pending writes.

      With --watch the command continues. On a terminal it draws the result again after each change, in the order of \
      the query, with added, changed and removed documents. Otherwise each change is a line, as in 'hearth watch'. \
      --timeout ends it with exit status 75.

      Example: hearth get cities --where 'state == CA and (population > 1000000 or tags contains west)' --order \
      population:desc --limit 10 --select name,population

      Exit status: 0, or 4 if the document does not exist, 64 wrong usage, 65 damaged data, 69 backend unreachable or \
      its data in use, 75 timed out, 77 permission denied.
      """)

  @OptionGroup var queried: QueriedPath

  @Argument(help: ArgumentHelp("More documents and collections.", valueName: "path"))
  var others: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Skip this many documents; a server may charge for them.", valueName: "number"))
  var offset: Int?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Print only these fields: name,address.city. May be repeated.", valueName: "field,..."))
  var select: [String] = []

  @Option(help: "Where to read.")
  var source = ReadSource.server

  @Flag(help: "Show each change of the result until interrupted.")
  var watch = false

  @Flag(help: "Omit the paths from lines, rows and --json objects.")
  var noPath = false

  @OptionGroup var moment: MomentOption
  @OptionGroup var formatting: FormatOptions
  @OptionGroup var compression: CompressionOption
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func run() async throws {
    let locations = storage.locations
    let queries = try queries(in: locations.database)
    let (query, isOne) = (queries[0], queries.count == 1)
    if noPath, formatting.template != nil {
      throw CommandFailure(.usage, "--no-path does not apply to --template. Remove {{path}} from the template instead.")
    }
    if source == .cache, moment.at != nil { throw CommandFailure.cacheHasNoPast }
    let isTerminal = isatty(STDOUT_FILENO) == 1
    if watch { return try await follow(query, locations, isTerminal) }
    let compression = try OutputCompression.choose(for: nil, compression.compress, isTerminal: isTerminal)
    let reading = Reading(
      queries: queries, offset: try offset(of: query), selection: try fieldSelection(), source: source,
      locations: locations, time: moment.at,
      format: try formatting.format(orTable: isTerminal && !(isOne && query.isDocumentQuery)),
      namesPaths: !noPath, isPaged: !formatting.noPager, compression: compression)
    let (note, isEmpty, missing) = try await timeLimit.limit { try await reading.run() }
    if let note { headless.note(ShownText(note)) }
    if let first = missing.first {
      let does = missing.count == 1 ? "\(first) does" : "\(first) and \(missing.count - 1) more do"
      throw CommandFailure(.notFound, "\(does) not exist.")
    }
    guard isOne, source == .server else { return }
    let connection = try locations.connect().at(moment.at)
    if isEmpty {
      await headless.hint(for: query, connection)
    } else {
      await headless.hint(forAlternativesOf: query, connection)
    }
  }

  /// The queries of all paths.
  private func queries(in database: DatabaseID) throws -> [Query] {
    let first = try queried.query(in: database)
    if others.isEmpty { return [first] }
    if let word = others.first(where: { $0 == "where" || $0.contains("=") }) {
      throw CommandFailure(.usage, "\"\(word)\" is not a path. \(CommandHelp.conditionAdvice)")
    }
    let options: [(String, Bool)] = [
      ("--collection-group", queried.collectionGroup), ("--offset", offset != nil), ("--watch", watch),
      ("a condition, an order, a limit or a cursor", !queried.selection.isEmpty),
    ]
    if let option = options.first(where: \.1)?.0 {
      throw CommandFailure(.usage, "\(option) needs one collection, but there are \(others.count + 1) paths.")
    }
    return [first] + (try others.map { Query(path: try DataPath.any($0)) })
  }

  /// Shows the result and its changes until an event ends the command.
  private func follow(_ query: Query, _ locations: StorageOptions.Locations, _ isTerminal: Bool) async throws {
    let others: [(String, Bool)] = [
      ("--offset", offset != nil), ("--select", !select.isEmpty), ("--source cache", source == .cache),
      ("--at", moment.at != nil), ("--csv", formatting.csv), ("--tsv", formatting.tsv),
      ("--template", formatting.template != nil), ("--expanded", formatting.expanded), ("--no-path", noPath),
    ]
    if let other = others.first(where: \.1)?.0 {
      throw CommandFailure(.usage, "--watch shows current, whole documents. It cannot be combined with \(other).")
    }
    let run = WatchRun(
      query: query, includesMetadata: false, skipsInitial: false, isJSON: formatting.json,
      isTable: !formatting.json && (formatting.table || isTerminal && !query.isDocumentQuery), goal: nil,
      timeout: timeLimit.timeout, isFailureWhenLate: true, startsFromCache: storage.cache != nil,
      isEmbedded: locations.backend.isEmbedded, headless: headless)
    try locations.requireData()
    let connection = try locations.connect()
    let faults = FaultInjector()
    try await run.run(
      at: connection, locations.commandStore(for: connection), inspectedAs: locations.inspection(faults),
      disturbedBy: faults)
  }

  private func offset(of query: Query) throws(CommandFailure) -> Int {
    guard let offset else { return 0 }
    guard (0...QueryOptions.largestLimit).contains(offset) else {
      throw CommandFailure(.usage, "--offset is \(offset). Expected a number from 0 to \(QueryOptions.largestLimit).")
    }
    if query.isDocumentQuery { throw CommandFailure(.usage, "--offset needs a collection, but this is a document.") }
    if query.limitType == .last { throw CommandFailure(.usage, "--offset and --limit-to-last cannot be combined.") }
    return offset
  }

  private func fieldSelection() throws(CommandFailure) -> FieldSelection? {
    if select.isEmpty { return nil }
    let select = select.joined(separator: ",")
    do throws(TextError) { return try FieldSelection(parsing: select) } catch {
      throw error.failure("--select", select)
    }
  }
}

/// A run of `hearth get`.
private struct Reading: Sendable {
  let queries: [Query]
  let offset: Int
  let selection: FieldSelection?
  let source: ReadSource
  let locations: StorageOptions.Locations
  let time: Timestamp?
  let format: DocumentFormat
  let namesPaths: Bool
  let isPaged: Bool
  let compression: CompressionFormat?

  /// - Returns: a note about the data or `nil`, whether the result was empty, and the requested documents that do not
  ///   exist.
  func run() async throws -> (note: String?, isEmpty: Bool, missing: [ResourcePath]) {
    let pager = isPaged ? Pager(environment: ProcessInfo.processInfo.environment) : nil
    // The pager stays open until its user has read the output that precedes an error.
    defer { pager?.close() }
    let output = try pager?.file ?? .standard(compression)
    var printer = DocumentPrinter(
      queries, format, selection, namesPaths: namesPaths, in: locations.database, to: output)
    var missing: [ResourcePath] = []
    for query in queries {
      let isThere =
        switch source {
        case .cache: try await printCache(query, &printer)
        case .server: try await printServer(query, &printer)
        }
      if !isThere { missing.append(query.path) }
    }
    let note = try printer.finish()
    try output.finish()
    return (note, printer.isEmpty, missing)
  }

  /// - Returns: `false` if several documents were requested and one of them does not exist.
  private func printCache(_ query: Query, _ printer: inout DocumentPrinter) async throws -> Bool {
    var query = query
    query.limit = query.limit.map { min($0 + offset, QueryOptions.largestLimit) }
    let documents = try await CacheReader.documents(of: query, locations).dropFirst(offset)
    if query.isDocumentQuery, documents.isEmpty {
      if queries.count > 1 { return false }
      throw CommandFailure(.notFound, "the cache does not have \(query.path).")
    }
    for document in documents { try printer.print(document) }
    return true
  }

  /// The fields to request from the server, so that it sends no others; `nil` for whole documents.
  private var projection: FieldMask? {
    let shown: Set<FieldPath>
    if case .template(let template) = format {
      // A template prints the fields that it names, regardless of the selection.
      guard let fields = template.fields else { return nil }
      shown = fields
    } else {
      guard let selection else { return nil }
      shown = Set(selection.paths)
    }
    return FieldMask(outermost: shown.filter { !$0.isDocumentID })
  }

  /// - Returns: `false` if several documents were requested and one of them does not exist.
  private func printServer(_ query: Query, _ printer: inout DocumentPrinter) async throws -> Bool {
    try locations.requireData()
    let connection = try locations.connect().at(time)
    if query.isDocumentQuery, let key = DocumentKey(query.path) {
      let document = try await connection.datastore.lookup([key], ReadView(projection: projection)).first
      guard let document, document.exists else {
        if queries.count > 1 { return false }
        throw await CommandFailure(.notFound, "\(query.path) does not exist.").hinting(at: query.path, connection)
      }
      try printer.print(document)
      return true
    }
    var pages = DocumentPages(of: query, at: connection.datastore, connection.database, projection: projection)
    try await pages.drop(offset)
    while let page = try await pages.next() {
      for document in page { try printer.print(document) }
    }
    return true
  }
}
