// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// `hearth get`: one document, or the documents of a collection.
struct GetCommand: AsyncParsableCommand {
  enum Source: String, ExpressibleByArgument, CaseIterable {
    case server, cache
  }

  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print a document, or the documents of a collection.",
    discussion: """
      A document is printed as JSON that 'hearth set' reads; a collection as one line per document. Types that JSON \
      does not have are objects with one $ name, such as {"$timestamp": "2026-03-02T11:58:03Z"}.

      A server that cannot be reached is an error: that nothing came does not mean that nothing is there. With \
      --source cache the cache that the dashboard keeps answers instead, with the writes that wait in its queue.

      Exit status: 0, or 4 if the document does not exist, 64 wrong usage, 65 damaged data, 69 backend unreachable or \
      its data in use, 75 out of time, 77 permission denied.
      """)

  @Argument(help: "Path of a document or a collection, such as cities/SF or cities.")
  var path: String

  @OptionGroup var selection: QueryOptions

  @Option(help: "Where to read.")
  var source = Source.server

  @Flag(help: "One line of JSON per document, with its path and times.")
  var json = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func run() async throws {
    let locations = storage.locations
    let query = try selection.query(try DataPath.any(path), in: locations.database)
    let reading = Reading(
      query: query, source: source, locations: locations, isJSON: json, headless: headless)
    try await timeLimit.limit { try await reading.run() }
  }
}

/// One run of `hearth get`.
private struct Reading: Sendable {
  let query: Query
  let source: GetCommand.Source
  let locations: StorageOptions.Locations
  let isJSON: Bool
  let headless: HeadlessOptions

  func run() async throws {
    let output = OutputFile.standard()
    switch source {
    case .cache: try await printCache(to: output)
    case .server: try await printServer(to: output)
    }
    try output.flush()
  }

  private func printCache(to output: OutputFile) async throws {
    let documents = try await CacheReader.documents(of: query, locations)
    if query.isDocumentQuery, documents.isEmpty {
      throw CommandFailure(.notFound, "the cache does not have \(query.path).")
    }
    for document in documents { try print(document, to: output) }
  }

  private func printServer(to output: OutputFile) async throws {
    try locations.requireData()
    let connection = try locations.connect()
    if query.isDocumentQuery, let key = DocumentKey(query.path) {
      let document = try await connection.datastore.lookup([key]).first
      guard let document, document.exists else { throw CommandFailure(.notFound, "\(query.path) does not exist.") }
      return try print(document, to: output)
    }
    var pages = DocumentPages(of: query, at: connection.datastore, connection.database)
    while let page = try await pages.next() {
      for document in page { try print(document, to: output) }
    }
  }

  private func print(_ document: Document, to output: OutputFile) throws {
    let database = locations.database
    if isJSON { return try output.line(DocumentLine.jsonWithTimes(document, in: database)) }
    guard query.isDocumentQuery, let data = document.data else {
      return try output.line(DocumentLine.text(document, in: database))
    }
    try output.line(DocumentJSON.text(of: data.fields, relativeTo: database))
  }
}
