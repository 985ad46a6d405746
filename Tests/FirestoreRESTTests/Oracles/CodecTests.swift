// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtoJSON
import FirestoreTesting
import Foundation
import SeededRandom
import SwiftProtobuf
import Testing
import WireOracle

@testable import FirestoreREST

@Suite("Messages as proto3 JSON match swift-protobuf")
struct CodecTests {
  /// JSON in a form that can be compared: members sorted, and maps, which the oracle writes as lists of entries, as such.
  private func normal(_ json: JSONSyntax) -> String {
    switch json.kind {
    case .object(let members):
      let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      return "{"
        + sorted.map { "\(JSONSyntax(.string($0.name)).lineText):\(normal(member($0)))" }.joined(separator: ",") + "}"
    case .array(let elements): return "[" + elements.map(normal).joined(separator: ",") + "]"
    case .double(let value): return "\(value)"
    case .integer(let value): return "\(Double(value))"
    default: return json.lineText
    }
  }

  private func member(_ member: JSONSyntax.Member) -> JSONSyntax {
    guard member.name == "fields", case .array(let entries) = member.value.kind else { return member.value }
    return JSONSyntax(
      .object(
        entries.map { entry in
          var name = ""
          if case .string(let text)? = entry["name"]?.kind { name = text }
          return JSONSyntax.Member(name, entry["value"] ?? JSONSyntax(.object([])))
        }))
  }

  /// Both ways: the JSON that is written says what the oracle's says, and is read as the bytes it was written from.
  private func expectSame<Message: SwiftProtobuf.Message & Equatable>(
    _ message: Message, _ schema: MessageSchema, _ note: Comment, isPretty: Bool = false
  ) throws {
    let bytes: [UInt8] = try message.serializedBytes()
    let text = String(decoding: try MessageWriter.text(of: bytes, schema, isPretty: isPretty), as: UTF8.self)
    let written = try JSONSyntax(parsing: text, numbers: .ofAnySize)
    let oracle = try JSONSyntax(parsing: try message.jsonString(), numbers: .ofAnySize)
    #expect(normal(written) == normal(oracle), note)

    let read = try MessageReader.bytes(of: written, schema)
    let again = try Message(serializedBytes: read)
    // NaN is not equal to itself.
    #expect(try again.serializedBytes() as [UInt8] == bytes, note)
  }

  @Test("Writes as JSON match swift-protobuf", arguments: [UInt64](1...60))
  func writes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let request = Wire.CommitRequest.with { request in
      request.database = database.name
      request.transaction = Data(random.list(upTo: 5) { UInt8.random(in: .min ... .max, using: &$0) })
      request.writes = random.list(upTo: 4) { random in
        let operation: Mutation.Operation =
          switch Int.random(in: 0..<3, using: &random) {
          case 0: .set(random.fields())
          case 1: .patch(random.fields(depth: 1), FieldMask([FieldPath(segments: [random.name()])]))
          default: .delete
          }
        let transforms = random.list(upTo: 2) { random in
          FieldTransform(
            path: FieldPath(segments: [random.name()]),
            operation: random.pick([
              .serverTimestamp, .increment(.integer(-1)), .maximum(.double(0.5)), .arrayUnion([random.value(depth: 1)]),
            ]))
        }
        return Mutation(
          key: random.key(), operation: operation,
          precondition: random.pick([
            .none, .exists(true), .exists(false), .updateTime(SnapshotVersion(random.timestamp())),
          ]), transforms: transforms
        ).message(in: database)
      }
    }
    try expectSame(request, Schema.commitRequest, "seed \(seed)", isPretty: seed.isMultiple(of: 2))
  }

  @Test("Documents and query responses as JSON match swift-protobuf", arguments: [UInt64](1...40))
  func documents(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let document = Wire.Document.with { document in
      document.name = database.name(of: random.key())
      document.fields = random.fields().message
      document.createTime = random.timestamp().message
    }
    try expectSame(document, Schema.document, "seed \(seed)")
    let response = Wire.RunQueryResponse.with { response in
      (response.document, response.readTime, response.skippedResults) = (document, random.timestamp().message, 3)
      response.done = Bool.random(using: &random)
    }
    try expectSame(response, Schema.runQueryResponse, "seed \(seed)")
  }

  @Test("Queries and aggregations as JSON match swift-protobuf")
  func queries() throws {
    typealias Query = Wire.StructuredQuery
    func field(_ path: String) -> Query.FieldReference { .with { $0.fieldPath = path } }
    let query = Query.with { query in
      query.from = [.with { ($0.collectionID, $0.allDescendants) = ("c", true) }]
      query.select.fields = [field("a"), field("`b c`")]
      query.orderBy = [.with { ($0.field, $0.direction) = (field("a"), .descending) }]
      query.limit = 0
      query.offset = 7
      query.startAt = .with { ($0.values, $0.before) = ([Value.integer(.max).message], true) }
      query.where.compositeFilter.op = .or
      query.where.compositeFilter.filters = [
        .with {
          $0.fieldFilter = .with { ($0.field, $0.op, $0.value) = (field("a"), .notIn, Value.array([.null]).message) }
        },
        .with { $0.unaryFilter = .with { ($0.op, $0.field) = (.isNotNan, field("b")) } },
      ]
      query.findNearest.vectorField = field("v")
      query.findNearest.queryVector = Value.vector([1, 0.5]).message
      query.findNearest.distanceMeasure = .dotProduct
      query.findNearest.limit = 3
      query.findNearest.distanceThreshold = 0.25
    }
    let request = Wire.RunQueryRequest.with { request in
      (request.parent, request.structuredQuery, request.explainOptions.analyze) = ("x", query, true)
      request.newTransaction.readWrite.retryTransaction = Data([0xFB, 0xFF, 0])
      request.newTransaction.readWrite.concurrencyMode = .pessimistic
    }
    try expectSame(request, Schema.runQueryRequest, "query")
    let aggregation = Wire.RunAggregationQueryRequest.with { request in
      request.structuredAggregationQuery.structuredQuery = query
      request.structuredAggregationQuery.aggregations = [
        .with { ($0.alias, $0.count.upTo) = ("n", 5) }, .with { $0.sum.field = field("a") },
        .with { $0.avg.field = field("b") },
      ]
      request.transaction = Data([1, 2])
    }
    try expectSame(aggregation, Schema.runAggregationQueryRequest, "aggregation")
  }

  @Test("Every message field has the number, names and type of the proto files")
  func explained() throws {
    let response = Google_Firestore_V1_RunQueryResponse.with { response in
      response.explainMetrics.planSummary.indexesUsed = [
        .with {
          $0.fields = [
            "query_scope": .init(stringValue: "Collection"), "n": .init(numberValue: 1.5), "b": .init(boolValue: true),
            "l": .init(listValue: .with { $0.values = [.with { $0.nullValue = .nullValue }, .init(numberValue: 2)] }),
          ]
        }
      ]
      response.explainMetrics.executionStats.resultsReturned = 9_007_199_254_740_993
      response.explainMetrics.executionStats.executionDuration = .with { ($0.seconds, $0.nanos) = (1, 2_000_000) }
    }
    let text = try MessageWriter.text(of: try response.serializedBytes(), Schema.runQueryResponse, isPretty: false)
    let written = try JSONSyntax(parsing: String(decoding: text, as: UTF8.self))
    #expect(normal(written) == normal(try JSONSyntax(parsing: try response.jsonString())))
  }
}
