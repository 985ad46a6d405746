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
import enum Hearth.IndexConfigurationReader

/// `hearth cache`: the dashboard's offline cache.
package struct CacheCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Say how the offline cache answers a query, manage its indexes, or collect its garbage.",
    subcommands: [CacheExplainCommand.self, IndexesCommand.self, CollectCommand.self])

  package init() {}
}

/// `hearth cache gc`: the garbage collection that a running client performs periodically.
package struct CollectCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "Take what was not used for long out of a cache that is as large as it may be.",
    discussion: """
      A client does the same by itself from time to time: the results and documents that were used least recently go, \
      a tenth of all. What waits to be sent stays. The cache must not be in use. A smaller cache keeps everything.

      With --json one object with isDryRun, isDue, results and documents: how many went, or would go.
      """)

  @Flag(help: "Only say what would go, whatever the size of the cache.")
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
      return try OutputFile.print("\(ShownText(cache)) is smaller than it may be: everything stays.\n")
    }
    let amount = "\(results) result\(results == 1 ? "" : "s") and \(documents.documents)"
    try OutputFile.print("\(isDry ? "would go" : "went"): \(ShownText(amount)), of \(ShownText(cache)).\n")
  }
}

/// `hearth cache explain`: how the cache answers a query.
package struct CacheExplainCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Say how the cache answers a query, and what would make that faster.",
    discussion: """
      Speaks of the cache that the dashboard keeps, not of the backend that other commands read, and prints the plan, the indexes that took \
      part, how many documents were compared and returned, the time, and which index would help. 'hearth cache indexes' \
      makes indexes.

      With --json one object with plan (document, synced-result, index, scan), indexes, documentsScanned, \
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
        ? "hearth: \(cache) has nothing of this query. The dashboard keeps there what it reads; the backend, which "
          + "'hearth get' reads, was not asked."
        : "hearth: this is how \(cache) answers, not the backend.")
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

/// `hearth cache indexes`: the cache's own indexes.
package struct IndexesCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "indexes",
    abstract: "List, set or delete the indexes of the cache, or suggest those that Cloud Firestore would need.",
    discussion: """
      Indexes make queries on a large cache faster and change no result. They are kept with the cache that the \
      dashboard uses, so it must not be running.

      --set takes the JSON of firestore.indexes.json, the file of Google's tools: what it leaves out is dropped, what \
      is new is filled from the documents that are cached, which this command waits for. Indexes that were made \
      automatically stay.

      --suggest asks a 'hearth serve' (--emulator HOST:PORT) for the composite indexes that the queries it has seen since \
      its start would need at Cloud Firestore, and prints them as a firestore.indexes.json.

      With --json one object per line with definition, automatic, ready, indexed and total: how many cached documents \
      of its collections the index knows, and how many there are.
      """)

  @Option(
    help: ArgumentHelp("Set the configured indexes to those of a file; - reads standard input.", valueName: "file"))
  var set: String?

  @Flag(help: "Delete all indexes, those that were made automatically included.")
  var deleteAll = false

  @Flag(help: "Print a firestore.indexes.json for the queries that a 'hearth serve' has seen.")
  var suggest = false

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package func validate() throws {
    if set != nil, deleteAll { throw ValidationError("--set and --delete-all exclude each other.") }
    if suggest, set != nil || deleteAll || json {
      throw ValidationError("--suggest changes nothing and prints JSON: leave out --set, --delete-all and --json.")
    }
  }

  package mutating func run() async throws {
    if suggest { return try await printSuggestion() }
    let locations = storage.locations
    let definitions = try set.map { try Self.definitions(in: $0) }
    let (deletesAll, headless) = (deleteAll, headless)
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
        "\(CacheReader.name(of: locations)) has no indexes. Those of a server are its own: --suggest asks a 'hearth serve' "
          + "which it would need.")
    }
  }

  private func printSuggestion() async throws {
    guard let remote = try storage.remoteBackend() else {
      throw CommandFailure(
        .usage, "--suggest asks the server that has seen the queries: name it with --emulator HOST:PORT.")
    }
    let project = storage.locations.database.project
    let control = EmulatorControl(remote)
    let text: [UInt8]
    do throws(RPCStatus) { text = try await control.get("/emulator/v1/projects/\(project):indexes") } catch {
      throw CommandFailure(error)
    }
    try OutputFile.print(data: String(decoding: text, as: UTF8.self))
  }

  private static func definitions(in file: String) throws(CommandFailure) -> [FieldIndex] {
    let name = file == "-" ? "standard input" : file
    let text = try DocumentArgument.text(ofFile: file)
    do throws(FirestoreError) {
      return try IndexConfigurationReader.read(text)
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
