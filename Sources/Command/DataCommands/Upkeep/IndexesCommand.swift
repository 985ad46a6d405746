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
import FirestoreSync
import Foundation

import class Hearth.Client
import struct Hearth.FirestoreError
import enum Hearth.IndexConfigurationReader

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
