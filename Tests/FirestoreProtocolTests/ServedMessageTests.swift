// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import SeededRandom
import SwiftProtobuf
import Testing
import WireOracle

@Suite("Server-only messages are compatible with the generated protobuf messages")
struct ServedMessageTests {
  private let database = Samples.database
  private let time = Samples.version.timestamp

  private func name(_ path: String) -> String { database.documentsName + "/" + path }

  /// A consistency selector in a form that can be compared.
  private func text(_ selector: ConsistencySelector) -> String {
    switch selector {
    case .latest: "latest"
    case .transaction(let id): "\(id)"
    case .newTransaction(.readOnly(let time)): "new, at \(time.map { "\($0.seconds)" } ?? "the latest")"
    case .newTransaction(.readWrite(let id, _)): "new, after \(id.map { "\($0)" } ?? "none")"
    case .readTime(let time): "at \(time.seconds)"
    }
  }

  @Test("The server reads Get, Create, Update and Delete requests")
  func documents() throws {
    var random = SeededGenerator(seed: 1)
    let fields = random.fields(depth: 2)
    let key = DocumentKey(unchecked: ResourcePath("c/a"))
    let document = Document(key: key, version: Samples.version, state: .found(DocumentData(fields)))
      .message(in: database)
    let get = Google_Firestore_V1_GetDocumentRequest.with { request in
      (request.name, request.mask.fieldPaths, request.readTime) = (
        name("c/a"), ["a", "`b c`"], Samples.version.message
      )
    }
    let got = try read(get) { reader throws(WireError) in try reader.getDocumentRequest() }
    #expect(got.name == get.name && got.mask == ["a", "`b c`"] && text(got.consistency) == "at \(time.seconds)")

    let create = Google_Firestore_V1_CreateDocumentRequest.with { request in
      (request.parent, request.collectionID, request.documentID) = (database.documentsName, "c", "a")
      (request.document, request.mask.fieldPaths) = (document, [])
    }
    let created = try read(create) { reader throws(WireError) in try reader.createDocumentRequest() }
    #expect(created.parent == create.parent && created.collectionID == "c" && created.documentID == "a")
    #expect(created.document.fields == fields && created.mask == [])

    let update = Google_Firestore_V1_UpdateDocumentRequest.with { request in
      (request.document, request.updateMask.fieldPaths) = (document, ["x"])
      request.currentDocument.exists = true
    }
    let updated = try read(update) { reader throws(WireError) in try reader.updateDocumentRequest() }
    #expect(updated.document.name == document.name && updated.updateMask == ["x"] && updated.mask == nil)
    #expect(updated.precondition == .exists(true))

    let delete = Google_Firestore_V1_DeleteDocumentRequest.with { request in
      (request.name, request.currentDocument.updateTime) = (name("c/a"), Samples.version.message)
    }
    let deleted = try read(delete) { reader throws(WireError) in try reader.deleteDocumentRequest() }
    #expect(deleted.name == delete.name && deleted.precondition == .updateTime(Samples.version))
  }

  @Test("The server reads requests to begin, use and end a transaction")
  func transactions() throws {
    let options: [(Wire.TransactionOptions, String)] = [
      (.with { $0.readOnly = .init() }, "new, at the latest"),
      (.with { $0.readOnly.readTime = Samples.version.message }, "new, at \(time.seconds)"),
      (.with { $0.readWrite = .init() }, "new, after none"),
      (.with { $0.readWrite.retryTransaction = Data([1, 2]) }, "new, after [1, 2]"),
    ]
    for (options, expected) in options {
      let begin = Google_Firestore_V1_BeginTransactionRequest.with { request in
        (request.database, request.options) = (database.name, options)
      }
      let (named, begun) = try read(begin) { reader throws(WireError) in try reader.beginTransactionRequest() }
      #expect(named == database.name && text(.newTransaction(begun)) == expected)
      let get = Wire.BatchGetDocumentsRequest.with { $0.newTransaction = options }
      let got = try read(get) { reader throws(WireError) in try reader.batchGetRequest() }
      #expect(text(got.consistency) == expected)
    }
    let rollback = Google_Firestore_V1_RollbackRequest.with { request in
      (request.database, request.transaction) = (database.name, Data([7]))
    }
    let (named, id) = try read(rollback) { reader throws(WireError) in try reader.rollbackRequest() }
    #expect(named == database.name && id == [7])
    let commit = Wire.CommitRequest.with { $0.transaction = Data([7]) }
    #expect(try read(commit) { reader throws(WireError) in try reader.commitRequest() }.transaction == [7])
    let begun = Google_Firestore_V1_BeginTransactionResponse.with { $0.transaction = Data([7]) }
    try expectSame(WireWriter.message { $0.beginTransactionResponse([7]) }, begun, "")
  }

  @Test("The server reads transforms in the encoding of older clients")
  func transforms() throws {
    let write = Wire.Write.with { write in
      write.transform.document = name("c/a")
      write.transform.fieldTransforms = [
        .with { ($0.fieldPath, $0.setToServerValue) = ("t", .requestTime) },
        .with { ($0.fieldPath, $0.setToServerValue) = ("u", .unspecified) },
      ]
    }
    let commit = Wire.CommitRequest.with { $0.writes = [write] }
    let received = try read(commit) { reader throws(WireError) in try reader.commitRequest() }
    guard case .transform(let document, let transforms)? = received.writes.first?.operation else {
      Issue.record("not read: \(received.writes)")
      return
    }
    #expect(
      document == name("c/a") && transforms.map(\.path) == ["t", "u"] && transforms.map(\.serverValue) == [1, 0])
  }

  @Test("The server reads explain, aggregation, partition and listen requests")
  func queries() throws {
    let run = Wire.RunQueryRequest.with { request in
      (request.parent, request.structuredQuery, request.explainOptions.analyze) = ("p", .init(), true)
      request.transaction = Data([1])
    }
    let query = try read(run) { reader throws(WireError) in try reader.runQueryRequest() }
    #expect(query.parent == "p" && query.query != nil && query.explain == true && text(query.consistency) == "[1]")

    let aggregation = Wire.RunAggregationQueryRequest.with { request in
      request.structuredAggregationQuery.aggregations = [
        .with { ($0.count.upTo, $0.alias) = (Google_Protobuf_Int64Value(5), "n") },
        .with { $0.sum.field.fieldPath = "x" },
        .with { $0.avg.field.fieldPath = "y" }, .with { $0.alias = "none" },
      ]
      request.explainOptions = .init()
    }
    let aggregated = try read(aggregation) { reader throws(WireError) in try reader.aggregationRequest() }
    #expect(aggregated.query != nil && aggregated.explain == false)
    #expect(aggregated.aggregations.map(\.alias) == ["n", "", "", "none"])
    guard case .count(upTo: 5)? = aggregated.aggregations[0].function,
      case .sum("x")? = aggregated.aggregations[1].function, case .average("y")? = aggregated.aggregations[2].function,
      nil == aggregated.aggregations[3].function
    else { return #expect(Bool(false), "not read: \(aggregated.aggregations)") }

    let partition = Google_Firestore_V1_PartitionQueryRequest.with { request in
      (request.parent, request.structuredQuery, request.partitionCount) = ("p", .init(), 7)
      (request.pageToken, request.pageSize) = ("token", 3)
    }
    let parts = try read(partition) { reader throws(WireError) in try reader.partitionQueryRequest() }
    #expect(parts.parent == "p" && parts.query != nil && parts.partitionCount == 7)
    #expect(parts.pageToken == "token" && parts.pageSize == 3)

    let listen = Wire.ListenRequest.with { request in
      request.database = database.name
      request.addTarget.documents.documents = [name("c/a"), name("c/b")]
    }
    let listened = try read(listen) { reader throws(WireError) in try reader.listenRequest() }
    guard case .success(.documents(let names))? = listened.target?.content else {
      return #expect(Bool(false), "not read: \(listened)")
    }
    #expect(names == [name("c/a"), name("c/b")] && listened.removed == nil)
  }

  @Test("The server writes BatchWrite, PartitionQuery and explain responses")
  func responses() throws {
    let mutations = ["c/a", "c/b"].map { path in
      Mutation(key: DocumentKey(unchecked: ResourcePath(path)), operation: .set([:]))
    }
    let results: [Result<MutationResult, RPCStatus>] = [
      .success(MutationResult(version: Samples.version)), .failure(RPCStatus(.notFound, "gone")),
    ]
    let batch = Google_Firestore_V1_BatchWriteResponse.with { response in
      response.writeResults = [.with { $0.updateTime = Samples.version.message }, .init()]
      response.status = [.init(), .with { ($0.code, $0.message) = (5, "gone") }]
    }
    try expectSame(WireWriter.message { $0.batchWriteResponse(results, to: mutations) }, batch, "")

    let partition = Google_Firestore_V1_PartitionQueryResponse.with { response in
      response.partitions = [
        .with { ($0.values, $0.before) = ([Value.reference(database, Samples.key).message], true) }
      ]
      response.nextPageToken = "more"
    }
    try expectSame(
      WireWriter.message { $0.partitionQueryResponse([Samples.key], in: database, nextPageToken: "more") }, partition,
      "")

    var metrics = ExplainMetrics([ExplainMetrics.Index(scope: "Collection", properties: "(__name__ ASC)")])
    let plan = Wire.RunQueryResponse.with { response in
      response.explainMetrics.planSummary.indexesUsed = [
        .with { $0.fields = ["query_scope": "Collection", "properties": "(__name__ ASC)"] }
      ]
    }
    try expectSame(WireWriter.message { $0.runQueryResponse(explaining: metrics) }, plan, "plan")
    metrics.execution = ExplainMetrics.Execution(
      results: 2, duration: .milliseconds(1_500), documents: 2, indexEntries: 3)
    let bytes = WireWriter.message { $0.runQueryResponse(explaining: metrics) }
    let read = try WireReader.read(bytes) { reader throws(WireError) in try reader.explainResponse() }
    #expect(read == metrics)
    let stats = try Wire.RunQueryResponse(serializedBytes: bytes).explainMetrics.executionStats
    #expect(stats.resultsReturned == 2 && stats.readOperations == 2 && stats.executionDuration.nanos == 500_000_000)
    #expect(stats.debugStats.fields["index_entries_scanned"]?.stringValue == "3")
    let billing = stats.debugStats.fields["billing_details"]?.structValue.fields
    #expect(billing?["index_entries_billable"]?.stringValue == "1")
  }
}
