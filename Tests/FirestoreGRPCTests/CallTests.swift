// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import FirestoreWire
import GRPCCore
import SwiftProtobuf
import Synchronization
import Testing

@Suite("Single calls over gRPC", .timeLimit(.minutes(5)))
struct CallTests {
  private func serve(
    _ method: MethodDescriptor, _ handler: @escaping ScriptedServer.Handler,
    _ body: @escaping @Sendable (GRPCDatastore) async throws -> Void
  ) async throws {
    var server = ScriptedServer()
    server.handle(method, handler)
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      try await body(datastore)
      await datastore.close()
    }
  }

  @Test("Documents are looked up in the order in which they are asked for, missing ones with the read time")
  func lookup() async throws {
    let other = DocumentKey(unchecked: ResourcePath("cities/LA"))
    try await serve(Wire.Method.BatchGetDocuments.descriptor) { _, requests, send in
      for try await request in requests {
        let message = try Google_Firestore_V1_BatchGetDocumentsRequest(serializedBytes: request)
        #expect(message.documents == [Samples.key, other].map { Samples.database.name(of: $0) })
      }
      let names = DocumentNames(Samples.database)
      let missing = Document(key: other, version: Samples.version, state: .missing)
      for document in [missing, Samples.document] {
        var writer = WireWriter()
        writer.batchGetResponse(ReadResponse(document: document, readTime: Samples.version), names)
        try await send.write(writer.bytes)
      }
    } _: { datastore in
      let documents = try await datastore.lookup([Samples.key, other])
      #expect(documents == [Samples.document, Document(key: other, version: Samples.version, state: .missing)])
    }
  }

  @Test("A look-up that the backend leaves unanswered is an error")
  func incompleteLookup() async throws {
    try await serve(Wire.Method.BatchGetDocuments.descriptor) { _, _, _ in
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.lookup([Samples.key]) }
      #expect(status?.code == .internal)
    }
  }

  @Test("A query's documents come as they are sent; messages without one are passed over")
  func query() async throws {
    try await serve(Wire.Method.RunQuery.descriptor) { _, requests, send in
      for try await request in requests {
        let message = try Google_Firestore_V1_RunQueryRequest(serializedBytes: request)
        #expect(message.parent == Samples.database.documentsName)
        #expect(message.structuredQuery.from.map(\.collectionID) == ["cities"])
      }
      let names = DocumentNames(Samples.database)
      for document in [nil, Samples.document] {
        var writer = WireWriter()
        writer.runQueryResponse(ReadResponse(document: document, readTime: Samples.version), names)
        try await send.write(writer.bytes)
      }
    } _: { datastore in
      let answer = try await datastore.runQuery(Samples.query.target)
      #expect(answer == [Samples.document])
    }
  }

  @Test("Aggregations come under the caller's own names, however strange these are")
  func aggregation() async throws {
    try await serve(Wire.Method.RunAggregationQuery.descriptor) { _, requests, send in
      for try await request in requests {
        let message = try Google_Firestore_V1_RunAggregationQueryRequest(serializedBytes: request)
        var response = Google_Firestore_V1_RunAggregationQueryResponse()
        for (index, aggregation) in message.structuredAggregationQuery.aggregations.enumerated() {
          response.result.aggregateFields[aggregation.alias] = Value.integer(Int64(index)).message
        }
        try await send.write(try response.serializedBytes())
      }
    } _: { datastore in
      let figures = try await datastore.aggregate(
        Samples.query.target,
        [Aggregation(alias: "how many?", function: .count), Aggregation(alias: "", function: .sum(FieldPath("a")))])
      #expect(figures == ["how many?": .integer(0), "": .integer(1)])
    }
  }

  @Test("Collections are listed page by page, and sorted by their bytes")
  func collections() async throws {
    try await serve(Wire.Method.ListCollectionIds.descriptor) { _, requests, send in
      for try await request in requests {
        let message = try Google_Firestore_V1_ListCollectionIdsRequest(serializedBytes: request)
        let response = Google_Firestore_V1_ListCollectionIdsResponse.with { response in
          response.collectionIds = message.pageToken.isEmpty ? ["z", "ä"] : ["b"]
          response.nextPageToken = message.pageToken.isEmpty ? "more" : ""
        }
        try await send.write(try response.serializedBytes())
      }
    } _: { datastore in
      let answer = try await datastore.listCollectionIDs(below: .root)
      #expect(answer == ["b", "z", "ä"])
    }
  }

  @Test("A commit answers one result for each write, deletes with the commit time")
  func commit() async throws {
    try await serve(Wire.Method.Commit.descriptor) { _, requests, send in
      for try await request in requests {
        let message = try Google_Firestore_V1_CommitRequest(serializedBytes: request)
        #expect(message.writes.map(\.delete) == [Samples.database.name(of: Samples.key)])
        let response = Wire.CommitResponse.with { response in
          response.commitTime = Samples.version.message
          response.writeResults = [.init()]
        }
        try await send.write(try response.serializedBytes())
      }
    } _: { datastore in
      let response = try await datastore.commit([Mutation(key: Samples.key, operation: .delete)])
      #expect(response.commitTime == Samples.version)
      #expect(response.results.map(\.version) == [Samples.version])
    }
  }

  @Test(
    "A refusal that has to do with how the backend was chosen says what to look at",
    arguments: [
      (RPCError.Code.notFound, "The database (default) does not exist for project nowhere", "--project and --database"),
      (.permissionDenied, "Permission denied on resource project nowhere.", "--project"),
      (.unauthenticated, "Request had invalid authentication credentials.", "not accepted"),
      (.notFound, "No document to update", nil),
    ] as [(RPCError.Code, String, String?)])
  func remedies(code: RPCError.Code, message: String, option: String?) async throws {
    try await serve(Wire.Method.ListCollectionIds.descriptor) { _, _, _ in
      throw RPCError(code: code, message: message)
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
      #expect(status?.message.hasPrefix(message) == true)
      #expect(option.map { status?.message.contains($0) == true } ?? (status?.message == message))
    }
  }

  @Test("A method that the server does not have is said to be unimplemented")
  func unimplemented() async throws {
    try await serve(Wire.Method.Commit.descriptor) { _, _, _ in
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.lookup([Samples.key]) }
      #expect(status?.code == .unimplemented)
    }
  }

  @Test("Answers above the four megabytes that gRPC allows by default are read")
  func largeAnswer() async throws {
    let large = Document(
      key: Samples.key, version: Samples.version,
      state: .found(DocumentData(["text": .string(String(repeating: "x", count: 8 << 20))])))
    try await serve(Wire.Method.RunQuery.descriptor) { _, _, send in
      var writer = WireWriter()
      writer.runQueryResponse(ReadResponse(document: large), DocumentNames(Samples.database))
      try await send.write(writer.bytes)
    } _: { datastore in
      let answer = try await datastore.runQuery(Samples.query.target)
      #expect(answer == [large])
    }
  }

  @Test("A connection that broke is replaced by the next call at once")
  func reconnection() async throws {
    let endpoints = Mutex<[Endpoint]>([])
    var server = ScriptedServer()
    server.handle(Wire.Method.ListCollectionIds.descriptor) { _, _, send in try await send.write([]) }
    try await server.run { endpoint in endpoints.withLock { $0.append(endpoint) } }
    let gone = try #require(endpoints.withLock { $0.first })
    let datastore = GRPCDatastore(gone, database: Samples.database, credentials: .emulatorOwner)
    for _ in 0..<3 {
      let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
      #expect(status?.code == .unavailable)
      #expect(status?.message.contains(gone.text) == true)
    }
    await datastore.close()
  }
}
