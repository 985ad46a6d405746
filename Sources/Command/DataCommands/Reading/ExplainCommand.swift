// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// `hearth explain`: shows how the server executes a query.
package struct ExplainCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explain which indexes the server uses for a query, and its cost.",
    discussion: """
      Asks the same server as 'hearth get'. Cloud Firestore names the indexes that it uses, or the index that is \
      missing. The embedded backend and 'hearth serve' need no indexes. They name the index that Cloud Firestore would \
      use. The output says if it is a composite index, which you have to create in Cloud Firestore.

      --analyze runs the query, which is billed as usual. It prints the results, the time, the documents and index \
      entries read, and the billed reads. Without --analyze, the server reads no documents. Add --limit to keep the \
      cost low.

      With --json, prints one object with indexes (scope and properties), compositeIndex (the one that Cloud Firestore \
      must have, or null), and with --analyze execution (results, milliseconds, documentsRead, indexEntriesRead, \
      readsBilled).

      Exit status: 1 if the server does not explain queries, which Google's emulator may not do. 'hearth cache \
      explain' explains the cache.

      Example: hearth explain cities --where 'state == CA' --order population:desc --limit 10 --analyze
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Run the query, and print its cost.")
  var analyze = false

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    let query = try queried.query(in: locations.database)
    if query.isDocumentQuery {
      throw CommandFailure(
        .usage, "\"\(query.path)\" names a document, which is read by its name. Expected a collection.")
    }
    try locations.requireData()
    let connection = try locations.connect()
    let read = ExplainRead(target: query.target, isRun: analyze)
    let answer: ExplainMetrics?
    do {
      answer = try await timeLimit.limit { try await connection.datastore.read(read) }
    } catch let status as RPCStatus {
      throw CommandFailure(status, query.path.text)
    }
    guard let answer else {
      throw CommandFailure(.failure, "the server does not explain queries. Its response has no plan.")
    }
    let needed = CompositeIndex.needed(for: query)
    if json { return try OutputFile.print(data: Self.json(answer, needed) + "\n") }
    try Self.print(answer, needed)
    if !locations.isCloud {
      headless.note(
        "this server needs no index. The output shows the indexes that Cloud Firestore would use, and its reads.")
    }
  }

  private static func print(_ answer: ExplainMetrics, _ needed: CompositeIndex?) throws {
    let output = OutputFile.standard()
    if answer.indexes.isEmpty { try output.line("index     none") }
    for index in answer.indexes {
      try output.line(ShownText("index     \(index.properties)  of the \(index.scope.lowercased())"))
    }
    try output.line(
      ShownText(
        needed.map { "          composite; create it in Cloud Firestore: \($0)" }
          ?? "          single-field; Cloud Firestore creates it automatically"))
    guard let execution = answer.execution else { return try output.flush() }
    let milliseconds = (execution.duration / .microseconds(100)).rounded() / 10
    try output.line(ShownText("results   \(execution.results) in \(milliseconds) ms"))
    if let documents = execution.documents, let entries = execution.indexEntries {
      try output.line(
        ShownText("read      \(documents.documents), \(entries) index \(entries == 1 ? "entry" : "entries")"))
    }
    let reads = execution.readOperations
    try output.line(ShownText("billed    \(reads) \(reads == 1 ? "read" : "reads")"))
    try output.flush()
  }

  private static func json(_ answer: ExplainMetrics, _ needed: CompositeIndex?) -> String {
    var fields = Fields()
    fields["indexes"] = .array(
      answer.indexes.map { .map(["scope": .string($0.scope), "properties": .string($0.properties)] as Fields) })
    fields["compositeIndex"] = needed.map { .string("\($0)") } ?? .null
    if let execution = answer.execution {
      var cost =
        [
          "results": .integer(Int64(execution.results)), "milliseconds": .double(execution.duration / .milliseconds(1)),
          "readsBilled": .integer(Int64(execution.readOperations)),
        ] as Fields
      if let documents = execution.documents { cost["documentsRead"] = .integer(Int64(documents)) }
      if let entries = execution.indexEntries { cost["indexEntriesRead"] = .integer(Int64(entries)) }
      fields["execution"] = .map(cost)
    }
    return DocumentJSON.line(of: fields)
  }
}
