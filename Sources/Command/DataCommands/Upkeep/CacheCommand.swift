// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreSync

import class Hearth.Client

/// `hearth cache`: the offline cache that the dashboard keeps.
package struct CacheCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Say how the offline cache answers a query, manage its indexes, or collect its garbage.",
    subcommands: [CacheExplainCommand.self, IndexesCommand.self, CollectCommand.self])

  package init() {}
}

/// `hearth cache gc`: the collection that a running client performs by itself from time to time.
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
