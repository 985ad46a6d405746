// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import Foundation

import class Hearth.Client

/// `hearth cache explain`: the way in which the cache answers a query.
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
    // An index would save nothing without documents in the cache.
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
