// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import SwiftProtobuf
import Testing
import WireOracle

@testable import FirestoreService

@Suite("Requests are compatible with the generated protobuf messages")
struct RequestTests {
  private let database = Samples.database
  private let seeds: Range<UInt64> = 0..<300

  private func bytes(_ write: (inout WireWriter) -> Void) -> [UInt8] { WireWriter.message(write) }

  @Test("A Commit request equals the generated protobuf message")
  func commit() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let mutations = random.list(upTo: 3) { $0.mutation() }
      let message = Wire.CommitRequest.with { request in
        request.database = database.name
        request.writes = mutations.map { $0.message(in: database) }
      }

      try expectSame(bytes { $0.commitRequest(mutations, in: database) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.commitRequest() }
      #expect(received.database == database.name && received.transaction.isEmpty, "seed \(seed)")
      let (_, checked) = try received.checked()
      #expect(checked == mutations, "seed \(seed)")
      for (mutation, write) in zip(mutations, message.writes) {
        let names = DocumentNames(database)
        let stored = try read(write) { reader throws(WireError) in try reader.mutation(names) }
        #expect(stored == mutation, "seed \(seed)")
      }
    }
  }

  @Test("A Write request equals the protobuf message, with its permanent request id")
  func write() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let request = WriteRequest(
        streamToken: random.bytes(), mutations: random.list(upTo: 3) { $0.mutation() },
        requestID: random.optional { $0.requestID() })
      let message = request.message(in: database)

      try expectSame(bytes { $0.writeRequest(request, in: database) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.writeRequest() }
      let mutations = try received.writes.map { try Mutation(request: $0, in: database) }
      #expect(mutations == request.mutations && received.streamToken == request.streamToken, "seed \(seed)")
      #expect(received.database == database.name && received.requestID == request.requestID, "seed \(seed)")
    }
    let handshake = Wire.WriteRequest.with { $0.database = database.name }
    try expectSame(bytes { $0.writeHandshake(in: database) }, handshake, "handshake")
  }

  @Test("An invalid write label is not accepted as a request id")
  func labels() {
    let id = WriteRequestID(clientID: [0, 15, 255], batchID: BatchID(42))
    #expect(id.label == "000fff-42")
    #expect(WriteRequestID(label: id.label) == id)
    for label in ["", "-", "0-1", "zz-1", "00-x", "00-1-2"] { #expect(WriteRequestID(label: label) == nil) }
  }

  @Test("A BatchGetDocuments request equals the generated protobuf message")
  func batchGet() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let keys = Array(Set(random.list(upTo: 4) { $0.key() }))
      let message = Wire.BatchGetDocumentsRequest.with { request in
        (request.database, request.documents) = (database.name, keys.map { database.name(of: $0) })
      }

      try expectSame(bytes { $0.batchGetRequest(keys, in: database) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.batchGetRequest() }
      #expect(received.database == database.name && received.documents == message.documents, "seed \(seed)")
    }
  }

  @Test("A RunQuery request and a stored query equal the generated protobuf message")
  func runQuery() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let target = random.target()
      let message = Wire.RunQueryRequest.with { request in
        (request.parent, request.structuredQuery) = (target.parentName(in: database), target.message)
      }

      try expectSame(bytes { $0.runQueryRequest(target, in: database) }, message, "seed \(seed)")
      let content: [UInt8] = try message.structuredQuery.serializedBytes()
      let query = try Query(
        decoding: bytes { writer in
          writer.field(1, string: target.path.text)
          writer.field(2, bytes: content)
        })
      #expect(query.filters == target.filters && query.explicitOrderBy == target.orderBy, "seed \(seed)")
      #expect(query.collectionGroup == target.collectionGroup && query.limit == target.limit, "seed \(seed)")
      #expect(query.start == target.start && query.end == target.end, "seed \(seed)")
    }
  }

  @Test("Requests carry a read time and a field mask, including a mask for names only")
  func views() throws {
    let (key, target) = (DocumentKey(unchecked: ResourcePath("a/b")), Samples.queries[0].target)
    let paths = [FieldPath(segments: ["m", "b c"]), FieldPath("a")]
    let view = ReadView(at: Samples.version, projection: FieldMask(paths))
    let lookup = try Wire.BatchGetDocumentsRequest(
      serializedBytes: bytes { $0.batchGetRequest([key], view, in: database) })
    #expect(lookup.mask.fieldPaths == ["a", "m.`b c`"])
    #expect(lookup.readTime.seconds == Samples.version.timestamp.seconds)
    let query = try Wire.RunQueryRequest(
      serializedBytes: bytes { $0.runQueryRequest(target, view, passing: 7, in: database) })
    #expect(query.structuredQuery.select.fields.map(\.fieldPath) == ["a", "m.`b c`"])
    #expect(query.structuredQuery.offset == 7 && query.readTime.seconds == Samples.version.timestamp.seconds)
    #expect(query.structuredQuery.from == target.message.from)
    let names = try Wire.RunQueryRequest(serializedBytes: bytes { $0.runQueryRequest(target, .names, in: database) })
    #expect(names.structuredQuery.select.fields.map(\.fieldPath) == ["__name__"] && names.consistencySelector == nil)
    let time = Samples.version
    let count = try Wire.RunAggregationQueryRequest(
      serializedBytes: bytes { $0.aggregationRequest(target, [], at: time, in: database) })
    let ids = try Wire.ListCollectionIdsRequest(
      serializedBytes: bytes {
        $0.listCollectionIDsRequest(below: .root, at: time, in: database, pageSize: 1, pageToken: "")
      })
    let documents = try Wire.ListDocumentsRequest(
      serializedBytes: bytes {
        $0.listNamesRequest(in: ResourcePath("c"), at: time, of: database, pageSize: 1, pageToken: "")
      })
    #expect([count.readTime, ids.readTime, documents.readTime].allSatisfy { $0.seconds == time.timestamp.seconds })
  }

  @Test("The server reads query fields that only other clients send")
  func foreignParts() throws {
    let message = Wire.StructuredQuery.with { query in
      query.select.fields = [.with { $0.fieldPath = "a" }, .with { $0.fieldPath = "`b c`" }]
      query.offset = 7
      query.where.unaryFilter = .with { ($0.op, $0.field.fieldPath) = (.isNotNull, "a") }
      query.findNearest = .with { nearest in
        (nearest.vectorField.fieldPath, nearest.distanceMeasure) = ("v", .dotProduct)
        nearest.queryVector = Value.vector([1, 2]).message
        (nearest.limit, nearest.distanceResultField) = (Google_Protobuf_Int32Value(5), "d")
        nearest.distanceThreshold = Google_Protobuf_DoubleValue(0.5)
      }
    }
    let query = try read(message) { reader throws(WireError) in try reader.structuredQuery() }
    #expect(query.projection == ["a", "`b c`"] && query.offset == 7 && query.limit == nil)
    guard case .unary("a", 5)? = query.filter, let nearest = query.nearest else {
      Issue.record("not read: \(query)")
      return
    }
    #expect(nearest.path == "v" && nearest.measure == 3 && nearest.vector == .vector([1, 2]))
    #expect(nearest.limit == 5 && nearest.resultField == "d" && nearest.threshold == 0.5)
  }

  @Test("A limit above the protocol's maximum is sent as the maximum")
  func largeLimit() throws {
    var target = Samples.queries[0].target
    target.limit = 1 << 40
    let request = try Wire.RunQueryRequest(serializedBytes: bytes { $0.runQueryRequest(target, in: database) })
    #expect(request.structuredQuery.limit.value == .max)
  }

  @Test("A RunAggregationQuery request equals the generated protobuf message")
  func aggregation() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let (target, aggregations) = (random.target(), random.aggregations())
      let message = Wire.RunAggregationQueryRequest.with { request in
        request.parent = target.parentName(in: database)
        request.structuredAggregationQuery.structuredQuery = target.message
        if target.impliesName { request.structuredAggregationQuery.structuredQuery.orderBy.removeLast() }
        request.structuredAggregationQuery.aggregations = aggregations.map(\.message)
      }

      try expectSame(
        bytes { $0.aggregationRequest(target, aggregations, in: database) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.aggregationRequest() }
      #expect(received.parent == message.parent && received.aggregations.map(\.alias) == aggregations.map(\.alias))
    }
  }

  @Test(
    "An aggregation request omits the order by name if other orders imply it",
    arguments: [
      ([], nil, []), ([OrderBy(FieldPath("a"), .descending)], nil, ["a"]),
      ([OrderBy(.documentID, .descending)], nil, ["__name__"]),
      ([OrderBy(FieldPath("a")), OrderBy(.documentID, .descending)], nil, ["a", "__name__"]),
      ([OrderBy(FieldPath("a"))], Bound(values: [1], isInclusive: true), ["a"]),
      (
        [OrderBy(FieldPath("a"))],
        Bound(values: [1, .reference(DatabaseID(project: "p"), key("c/d"))], isInclusive: true),
        ["a", "__name__"]
      ),
    ] as [([OrderBy], Bound?, [String])])
  func impliedName(orders: [OrderBy], start: Bound?, sent: [String]) throws {
    let target = Query(path: ResourcePath("c"), explicitOrderBy: orders, start: start).target
    let request = try Wire.RunAggregationQueryRequest(
      serializedBytes: bytes { $0.aggregationRequest(target, [], in: database) })
    #expect(request.structuredAggregationQuery.structuredQuery.orderBy.map(\.field.fieldPath) == sent)
  }

  @Test("ListCollectionIds and ListDocuments requests equal the protobuf messages", arguments: ["", "more"])
  func listing(token: String) throws {
    for parent: ResourcePath in [.root, ResourcePath("a/ü")] {
      let ids = Wire.ListCollectionIdsRequest.with { request in
        (request.parent, request.pageSize, request.pageToken) = (database.name(of: parent), 300, token)
      }
      try expectSame(
        bytes { $0.listCollectionIDsRequest(below: parent, in: database, pageSize: 300, pageToken: token) }, ids, "")
      let documents = Wire.ListDocumentsRequest.with { request in
        (request.parent, request.collectionID) = (database.name(of: parent), "c")
        (request.pageSize, request.pageToken, request.showMissing) = (7, token, true)
        request.mask.fieldPaths = ["__name__"]
      }
      try expectSame(
        bytes {
          $0.listNamesRequest(in: parent.appending("c"), of: database, pageSize: 7, pageToken: token)
        }, documents, "")
      let received = try read(documents) { reader throws(WireError) in try reader.listDocumentsRequest() }
      #expect(received.parent == documents.parent && received.collectionID == "c" && received.showMissing)
      #expect(received.pageSize == 7 && received.pageToken == token)
    }
  }

  @Test("A Listen request equals the generated protobuf message")
  func listen() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let request = random.watchRequest()
      try expectSame(
        bytes { $0.watchRequest(request, in: database) }, request.message(in: database), "seed \(seed)")
    }
  }

  @Test("The server reads a listen request encoded with the generated protobuf type", arguments: Samples.watchedQueries)
  func listening(query: Query) throws {
    for seed in 0..<20 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      guard case .add(let sent) = random.watchRequest(query.target) else { continue }
      let message = try read(WatchRequest.add(sent).message(in: database)) { reader throws(WireError) in
        try reader.listenRequest()
      }
      let request = try ListenRequest(message)
      guard case .watch(.add(let received), _, let others) = request.change else {
        Issue.record("not added: \(request.change)")
        return
      }
      #expect(received.id == sent.id && received.target == sent.target && others.isEmpty)
      #expect(received.resume == sent.resume)
      #expect(received.expectedCount == (sent.resume == nil ? nil : sent.expectedCount))
    }
    let removal = try read(WatchRequest.remove(TargetID(7)).message(in: database)) { reader throws(WireError) in
      try reader.listenRequest()
    }
    #expect(removal.removed == TargetID(7) && removal.target.map(\.id) == nil)
  }
}

extension Target {
  /// Whether the other orders imply the last one, which is by name, and no cursor has a value for it.
  fileprivate var impliesName: Bool {
    let direction = orderBy.count > 1 ? orderBy[orderBy.count - 2].direction : .ascending
    let cursors = [start, end].compactMap { $0?.values.count }
    return orderBy.last == OrderBy(.documentID, direction) && cursors.allSatisfy { $0 < orderBy.count }
  }
}
