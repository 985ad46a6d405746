// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreClientState
import FirestoreGRPC
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import Foundation

import class Hearth.Client
import struct Hearth.FirestoreError
import struct Hearth.IndexConfiguration

/// `hearth cache`: the dashboard's offline cache.
package struct CacheCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Explain how the offline cache answers a query, manage its indexes, or collect its garbage.",
    subcommands: [CacheExplainCommand.self, IndexesCommand.self, CollectCommand.self])

  package init() {}
}

/// `hearth cache gc`: the garbage collection of the cache, which a running client also performs periodically.
package struct CollectCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "Remove the least recently used data from a cache at its size limit.",
    discussion: """
      A client does this automatically from time to time: it removes the least recently used tenth of its results and \
      documents. Pending writes stay. The cache must not be in use. A cache below its size limit keeps everything.

      With --json, prints one object with isDryRun, isDue, results and documents. The last two are the numbers of \
      results and documents that it removed, or with --dry-run would remove.
      """)

  @Flag(help: "Only print how much would be removed, even if the cache is below its limit.")
  var dryRun = false

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    let isDry = dryRun
    let run = try await CacheReader.withClient(locations) { client in
      try await client.engine.collectGarbage(isDryRun: isDry)
    }
    let results = (isDry ? run?.plan.targets.count : run?.targetsRemoved) ?? 0
    let documents = (isDry ? run?.plan.documents : run?.documentsRemoved) ?? 0
    if json {
      let line =
        [
          "isDryRun": .boolean(isDry), "isDue": .boolean(run != nil), "results": .integer(Int64(results)),
          "documents": .integer(Int64(documents)),
        ] as Fields
      return try OutputFile.print(data: DocumentJSON.line(of: line) + "\n")
    }
    let cache = CacheReader.name(of: locations)
    guard run != nil else {
      return try OutputFile.print("\(ShownText(cache)) is below its size limit. Nothing was removed.\n")
    }
    let amount = "\(results) result\(results == 1 ? "" : "s") and \(documents.documents)"
    try OutputFile.print("\(isDry ? "would remove" : "removed"): \(ShownText(amount)), from \(ShownText(cache)).\n")
  }
}

/// `hearth cache explain`: shows how the cache executes a query.
package struct CacheExplainCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explain how the cache answers a query, and suggest indexes.",
    discussion: """
      Explains the dashboard's cache, not the backend that other commands read. Prints the plan, the indexes used, how \
      many documents were compared and returned, the time, and the index that would help. 'hearth cache indexes' \
      creates indexes.

      With --json, prints one object with plan (document, synced-result, index, scan), indexes, documentsScanned, \
      indexEntriesRead, documentsReturned, milliseconds, suggestedIndexes and isBuildingIndexes.

      Example: hearth cache explain cities --where 'state == CA' --order population:desc --limit 10
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    let query = try queried.query(in: locations.database)
    let explanation = try await CacheReader.withClient(locations) { client in
      try await client.engine.explain(query)
    }
    var shown = explanation
    let isEmpty = explanation.documentsScanned == 0 && explanation.entriesRead == 0
    // An index saves nothing if the cache has no documents.
    if isEmpty { shown.suggestedIndexes = [] }
    if json {
      try OutputFile.print(data: Self.json(shown) + "\n")
    } else {
      try OutputFile.print("\(ShownText(lines: "\(shown)"))\n")
    }
    let cache = CacheReader.name(of: locations)
    StandardError.write(
      isEmpty
        ? "hearth: \(cache) has no documents for this query. It has only documents that the dashboard has read. "
          + "'hearth get' reads the backend."
        : "hearth: this plan is for \(cache), not for the backend.")
  }

  private static func json(_ explanation: QueryExplanation) -> String {
    DocumentJSON.line(
      of: [
        "plan": .string(explanation.plan.rawValue), "indexes": .strings(explanation.indexes.map(\.index.description)),
        "documentsScanned": .integer(Int64(explanation.documentsScanned)),
        "indexEntriesRead": .integer(Int64(explanation.entriesRead)),
        "documentsReturned": .integer(Int64(explanation.documentsReturned)),
        "milliseconds": .double(explanation.duration / .milliseconds(1)),
        "suggestedIndexes": .strings(explanation.suggestedIndexes.map(\.description)),
        "isBuildingIndexes": .boolean(explanation.isBuildingIndexes),
      ] as Fields)
  }
}

extension Value {
  static func strings(_ texts: [String]) -> Value { .array(texts.map { .string($0) }) }
}

/// `hearth cache indexes`: the local indexes of the cache.
package struct IndexesCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "indexes",
    abstract: "List, set or delete the indexes of the cache, or suggest indexes for Cloud Firestore.",
    discussion: """
      Indexes make queries on a large cache faster and never change results. They belong to the dashboard's cache, so \
      the dashboard must not be running.

      --set takes a firestore.indexes.json, the format of Google's tools. Indexes that are not in the file are \
      dropped. New indexes are built from the cached documents before the command returns. Automatically created \
      indexes stay.

      --suggest asks a 'hearth serve' (--emulator HOST:PORT) which composite indexes Cloud Firestore would need for \
      the queries since the server's start. It prints them as a firestore.indexes.json.

      With --json, prints one object per line with definition, automatic, ready, indexed and total. The last two count \
      the documents in the index, and all cached documents of its collections.
      """)

  @Option(
    help: ArgumentHelp("Set the configured indexes from a file; - reads standard input.", valueName: "file"))
  var set: String?

  @Flag(help: "Delete all indexes, including automatically created ones.")
  var deleteAll = false

  @Flag(help: "Print a firestore.indexes.json for the queries that a 'hearth serve' has seen.")
  var suggest = false

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package func validate() throws {
    if set != nil, deleteAll { throw ValidationError("--set and --delete-all cannot be combined.") }
    if suggest, set != nil || deleteAll || json {
      throw ValidationError("--suggest changes nothing and prints JSON. Remove --set, --delete-all and --json.")
    }
  }

  package mutating func run() async throws {
    if suggest { return try await printSuggestion() }
    let locations = storage.locations
    let (deletesAll, headless) = (deleteAll, headless)
    let definitions = try set.map { try Self.definitions(in: $0, headless) }
    let states = try await CacheReader.withClient(locations, isMade: definitions != nil) { client in
      if deletesAll { client.engine.deleteAllIndexes() }
      if let definitions {
        try await client.engine.setIndexes(definitions)
        try await Self.fill(client, headless)
      }
      return Array(zip(try await client.engine.indexes(), try await client.engine.indexProgress()))
    }
    let output = OutputFile.standard()
    for (state, progress) in states {
      if json { try output.data(line: Self.json(state, progress)) } else { try output.line(Self.text(state)) }
    }
    try output.flush()
    if states.isEmpty, !deletesAll {
      headless.note(
        "\(CacheReader.name(of: locations)) has no indexes. A server has separate indexes: --suggest lists "
          + "the indexes that Cloud Firestore would need for the queries that a 'hearth serve' received.")
    }
  }

  private func printSuggestion() async throws {
    guard let remote = try storage.remoteBackend() else {
      throw CommandFailure(
        .usage, "--suggest needs the server that ran the queries. Add --emulator HOST:PORT.")
    }
    let project = storage.locations.database.project
    let control = EmulatorControl(remote)
    let text: [UInt8]
    do throws(RPCStatus) { text = try await control.get("/emulator/v1/projects/\(project):indexes") } catch {
      throw CommandFailure(error)
    }
    try OutputFile.print(data: String(decoding: text, as: UTF8.self))
  }

  private static func definitions(
    in file: String, _ headless: HeadlessOptions
  ) throws(CommandFailure) -> [FieldIndex] {
    let name = file == "-" ? "standard input" : file
    let text = try DocumentArgument.text(ofFile: file)
    do throws(FirestoreError) {
      let configuration = try IndexConfiguration(parsing: text)
      for warning in configuration.warnings { headless.note(ShownText("\(name), \(warning)")) }
      return configuration.fieldIndexes
    } catch {
      throw CommandFailure(.badData, "\(name): \(error.message)")
    }
  }

  /// Waits until every index is in use.
  private static func fill(_ client: Client, _ headless: HeadlessOptions) async throws {
    var progress = TransferProgress(isQuiet: headless.quiet)
    for await status in client.engine.status() {
      let open = status.indexes.compactMap(\.backfill)
      if open.isEmpty { break }
      let (done, total) = (open.map(\.documentsIndexed).reduce(0, +), open.map(\.documentsTotal).reduce(0, +))
      progress.show(done, fraction: total > 0 ? Double(done) / Double(total) : nil)
    }
    progress.end()
  }

  private static func text(_ state: IndexState) -> ShownText {
    let kind = state.isAutomatic ? "automatic" : "configured"
    let filling = state.backfill.map { "\($0.documentsIndexed) of \($0.documentsTotal)" }
    return "\(state.definition)  \(kind), \(filling ?? "ready")"
  }

  private static func json(_ state: IndexState, _ progress: IndexProgress) -> String {
    DocumentJSON.line(
      of: [
        "definition": .string("\(state.definition)"), "automatic": .boolean(state.isAutomatic),
        "ready": .boolean(state.backfill == nil),
        "indexed": .integer(Int64(progress.documentsIndexed)), "total": .integer(Int64(progress.documentsTotal)),
      ] as Fields)
  }
}
