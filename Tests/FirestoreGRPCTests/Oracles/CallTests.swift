// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import GRPCCore
import SwiftProtobuf
import Synchronization
import Testing
import WireOracle

@Suite("Unary gRPC calls", .timeLimit(.minutes(10)))
struct CallTests {
  private func serve(
    _ method: CallMethod, _ handler: @escaping ScriptedServer.Handler,
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

  @Test("Only a lookup in the past sends a read time")
  func lookupInThePast() async throws {
    let asked = Mutex<[SwiftProtobuf.Google_Protobuf_Timestamp?]>([])
    try await serve(.batchGetDocuments) { _, requests, send in
      for try await request in requests {
        let message = try Wire.BatchGetDocumentsRequest(serializedBytes: request)
        var time: SwiftProtobuf.Google_Protobuf_Timestamp?
        if case .readTime(let readTime)? = message.consistencySelector { time = readTime }
        asked.withLock { $0.append(time) }
      }
      var writer = WireWriter()
      writer.batchGetResponse(
        ReadResponse(document: Samples.document, readTime: Samples.version), DocumentNames(Samples.database))
      try await send.write(writer.bytes)
    } _: { datastore in
      _ = try await datastore.lookup([Samples.key], ReadView(at: Samples.version))
      _ = try await datastore.lookup([Samples.key])
    }
    let times = asked.withLock { $0 }
    #expect(times.map { $0?.seconds } == [Samples.version.timestamp.seconds, nil])
  }

  @Test("Documents are returned in request order, and missing ones have the read time")
  func lookup() async throws {
    let other = DocumentKey(unchecked: ResourcePath("cities/LA"))
    try await serve(.batchGetDocuments) { _, requests, send in
      for try await request in requests {
        let message = try Wire.BatchGetDocumentsRequest(serializedBytes: request)
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

  @Test("A lookup fails if the response lacks a document")
  func incompleteLookup() async throws {
    try await serve(.batchGetDocuments) { _, _, _ in
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.lookup([Samples.key]) }
      #expect(status?.code == .internal)
    }
  }

  @Test("A query's documents arrive in the order sent, and empty messages are skipped")
  func query() async throws {
    try await serve(.runQuery) { _, requests, send in
      for try await request in requests {
        let message = try Wire.RunQueryRequest(serializedBytes: request)
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

  @Test("Aggregates have the caller's aliases, however unusual")
  func aggregation() async throws {
    try await serve(.runAggregationQuery) { _, requests, send in
      for try await request in requests {
        let message = try Wire.RunAggregationQueryRequest(serializedBytes: request)
        var response = Wire.RunAggregationQueryResponse()
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

  @Test("Collections are listed in pages and sorted by bytes")
  func collections() async throws {
    try await serve(.listCollectionIDs) { _, requests, send in
      for try await request in requests {
        let message = try Wire.ListCollectionIdsRequest(serializedBytes: request)
        let response = Wire.ListCollectionIdsResponse.with { response in
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

  @Test("A commit returns one result per write, with the commit time for deletes")
  func commit() async throws {
    try await serve(.commit) { _, requests, send in
      for try await request in requests {
        let message = try Wire.CommitRequest(serializedBytes: request)
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
    "An error due to the project or credentials suggests the option to check",
    arguments: [
      (RPCError.Code.notFound, "The database (default) does not exist for project nowhere", "--project and --database"),
      (.permissionDenied, "Permission denied on resource project nowhere.", "--project"),
      (.unauthenticated, "Request had invalid authentication credentials.", "--admin-secret"),
      (.notFound, "No document to update", nil),
    ] as [(RPCError.Code, String, String?)])
  func remedies(code: RPCError.Code, message: String, option: String?) async throws {
    try await serve(.listCollectionIDs) { _, _, _ in
      throw RPCError(code: code, message: message)
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
      #expect(status?.message.hasPrefix(message) == true)
      #expect(option.map { status?.message.contains($0) == true } ?? (status?.message == message))
    }
  }

  @Test("A method that the server lacks is reported as unimplemented")
  func unimplemented() async throws {
    try await serve(.commit) { _, _, _ in
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.lookup([Samples.key]) }
      #expect(status?.code == .unimplemented)
    }
  }

  @Test(
    "An unreadable response fails the call with internal and names the server",
    arguments: [
      .commit, .batchGetDocuments, .runQuery, .runAggregationQuery, .executePipeline, .listCollectionIDs,
      .listDocuments,
    ]
      as [CallMethod])
  func malformed(method: CallMethod) async throws {
    try await serve(method) { _, _, send in
      // A field 1 that is longer than its message.
      try await send.write([0x0a, 0x7f, 0x00])
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) {
        switch method {
        case .commit: _ = try await datastore.commit([])
        case .batchGetDocuments: _ = try await datastore.lookup([Samples.key])
        case .runQuery: _ = try await datastore.runQuery(Samples.query.target)
        case .runAggregationQuery: _ = try await datastore.aggregate(Samples.query.target, [])
        case .executePipeline: _ = try await datastore.execute(PipelineMessage())
        case .listCollectionIDs: _ = try await datastore.listCollectionIDs(below: .root)
        default: _ = try await datastore.missingDocuments(in: Samples.query.path)
        }
      }
      #expect(status?.code == .internal)
      #expect(status?.message.contains(datastore.endpoint.text) == true)
    }
  }

  @Test("A commit response without a commit time is unreadable")
  func timelessCommit() async throws {
    try await serve(.commit) { _, _, send in
      try await send.write(Wire.CommitResponse.with { $0.writeResults = [.init()] }.serializedBytes())
    } _: { datastore in
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.commit([Mutation(key: Samples.key, operation: .delete)])
      }
      #expect(status?.code == .internal)
    }
  }

  @Test("A listed document name without times is a missing document")
  func missingDocuments() async throws {
    try await serve(.listDocuments) { _, requests, send in
      for try await request in requests {
        let message = try Wire.ListDocumentsRequest(serializedBytes: request)
        #expect(message.collectionID == "cities" && message.showMissing && message.mask.fieldPaths == ["__name__"])
        let page = message.pageToken.isEmpty ? ["SF", "LA"] : ["AA"]
        let response = Wire.ListDocumentsResponse.with { response in
          response.documents = page.map { id in
            var document = Samples.document.message(in: Samples.database)
            if id != "SF" { document = .with { $0.name = Samples.database.documentsName + "/cities/" + id } }
            return document
          }
          response.nextPageToken = message.pageToken.isEmpty ? "more" : ""
        }
        try await send.write(try response.serializedBytes())
      }
    } _: { datastore in
      let keys = try await datastore.missingDocuments(in: Samples.query.path)
      #expect(keys.map(\.path.text) == ["cities/AA", "cities/LA"])
    }
  }

  @Test("Responses over gRPC's default limit of 4 MB are read")
  func largeAnswer() async throws {
    let large = Document(
      key: Samples.key, version: Samples.version,
      state: .found(DocumentData(["text": .string(String(repeating: "x", count: 8 << 20))])))
    try await serve(.runQuery) { _, _, send in
      var writer = WireWriter()
      writer.runQueryResponse(ReadResponse(document: large), DocumentNames(Samples.database))
      try await send.write(writer.bytes)
    } _: { datastore in
      let answer = try await datastore.runQuery(Samples.query.target)
      #expect(answer == [large])
    }
  }

  @Test("A call on a broken connection fails immediately, and the next call reconnects")
  func reconnection() async throws {
    let port = try ReservedPort()
    let endpoint = Endpoint(host: "127.0.0.1", port: port.number, security: .plaintext)
    let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
    var server = ScriptedServer()
    server.handle(.listCollectionIDs) { _, _, send in try await send.write([]) }
    for _ in 0..<2 {
      try await server.run(port: port.number) { _ in _ = try await datastore.listCollectionIDs(below: .root) }
      for _ in 0..<3 {
        let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
        #expect(status?.code == .unavailable)
        #expect(status?.message.contains(endpoint.text) == true)
      }
    }
    await datastore.close()
    withExtendedLifetime(port) {}
  }
}
