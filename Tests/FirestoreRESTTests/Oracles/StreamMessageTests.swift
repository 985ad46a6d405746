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

@Suite("Stream messages as JSON")
struct StreamMessageTests {
  private static let database = "projects/p/databases/(default)"

  private func request<Message: SwiftProtobuf.Message>(_ method: StreamMethod, _ json: String) throws -> Message {
    try Message(serializedBytes: try method.request(Array(json.utf8)))
  }

  private func text(_ method: StreamMethod, _ message: some SwiftProtobuf.Message) throws -> String {
    String(decoding: try method.response(try message.serializedBytes()), as: UTF8.self)
  }

  @Test("Stream requests of the web SDK are read correctly")
  func requests() throws {
    let added: Google_Firestore_V1_ListenRequest = try request(
      .listen,
      #"{"database":"\#(Self.database)","addTarget":{"query":{"structuredQuery":{"from":[{"collectionId":"c"}],"orderBy":"#
        + #"[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}],"limit":5},"parent":"\#(Self.database)/documents"},"#
        + #""targetId":2,"resumeToken":"CgkI","expectedCount":3},"labels":{"goog-listen-tags":"limbo-document"}}"#)
    #expect(added.database == Self.database && added.labels == ["goog-listen-tags": "limbo-document"])
    #expect(added.addTarget.targetID == 2 && added.addTarget.resumeToken == Data([10, 9, 8]))
    #expect(added.addTarget.expectedCount == 3 && added.addTarget.query.structuredQuery.limit == 5)
    #expect(added.addTarget.query.structuredQuery.orderBy.first?.direction == .ascending)

    let removed: Google_Firestore_V1_ListenRequest = try request(
      .listen, #"{"database":"\#(Self.database)","removeTarget":2}"#)
    #expect(removed.targetChange == .removeTarget(2))

    let written: Google_Firestore_V1_WriteRequest = try request(
      .write,
      #"{"streamToken":"MA==","writes":[{"update":{"name":"\#(Self.database)/documents/c/a","fields":{"n":{"doubleValue":"#
        + #""-0"},"t":{"timestampValue":"2020-01-01T00:00:00.000000000Z"}}},"updateMask":{"fieldPaths":["n"]},"#
        + #""updateTransforms":[{"fieldPath":"at","setToServerValue":"REQUEST_TIME"}],"#
        + #""currentDocument":{"exists":true}}]}"#)
    #expect(written.streamToken == Data("0".utf8) && written.writes.count == 1)
    let number = written.writes[0].update.fields.first { entry in entry.name == "n" }
    #expect(number?.value.doubleValue.sign == .minus)
    #expect(written.writes[0].updateTransforms.first?.setToServerValue == .requestTime)
  }

  @Test("Wrappers and timestamps may be written as messages, on streams only")
  func spelledOut() throws {
    let plain =
      #"{"addTarget":{"query":{"structuredQuery":{"limit":3,"startAt":{"values":[{"timestampValue":"#
      + #""1970-01-01T00:00:05.000000006Z"}]}}},"targetId":2,"readTime":"1970-01-01T00:00:01Z","expectedCount":4}}"#
    let messages =
      #"{"addTarget":{"query":{"structuredQuery":{"limit":{"value":3},"startAt":{"values":[{"timestampValue":"#
      + #"{"seconds":"5","nanos":6}}]}}},"targetId":2,"readTime":{"seconds":1,"nanos":0},"expectedCount":{"value":4}}}"#
    let added: Google_Firestore_V1_ListenRequest = try request(.listen, messages)
    #expect(try added == request(.listen, plain))

    #expect(throws: RPCStatus.self) {
      try MessageReader.bytes(of: try JSONSyntax(parsing: #"{"limit":{"value":3}}"#), Schema.structuredQuery)
    }
    #expect(throws: RPCStatus.self) {
      try MessageReader.bytes(of: try JSONSyntax(parsing: #"{"timestampValue":{"seconds":5}}"#), Schema.value)
    }
  }

  @Test("Listen and Write responses as JSON equal the emulator's, in its order")
  func responses() throws {
    var response = Google_Firestore_V1_ListenResponse()
    response.targetChange = .with { change in
      (change.targetChangeType, change.targetIds) = (.current, [2, 300])
      (change.resumeToken, change.readTime.seconds, change.readTime.nanos) = (Data([10]), 1, 427_902_000)
    }
    #expect(
      try text(.listen, response)
        == #"{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2,300],"resumeToken":"Cg==","#
        + #""readTime":"1970-01-01T00:00:01.427902Z"}}"#)
    response.targetChange = .with { change in
      (change.targetChangeType, change.targetIds, change.cause.code) = (.remove, [4], 3)
      change.cause.message = "It's \"so\""
    }
    #expect(
      try text(.listen, response)
        == #"{"targetChange":{"targetChangeType":"REMOVE","targetIds":[4],"#
        + #""cause":{"code":3,"message":"It's \"so\""}}}"#)
    response.documentDelete = .with { ($0.document, $0.removedTargetIds) = ("d", [2]) }
    #expect(try text(.listen, response) == #"{"documentDelete":{"document":"d","removedTargetIds":[2]}}"#)
    response.filter = .with { filter in
      (filter.targetID, filter.count, filter.unchangedNames.hashCount) = (2, 5, 7)
      (filter.unchangedNames.bits.bitmap, filter.unchangedNames.bits.padding) = (Data([255]), 1)
    }
    #expect(
      try text(.listen, response)
        == #"{"filter":{"targetId":2,"count":5,"unchangedNames":{"bits":{"bitmap":"/w==","#
        + #""padding":1},"hashCount":7}}}"#)
    let written = Google_Firestore_V1_WriteResponse.with { ($0.streamID, $0.streamToken) = ("7", Data("0".utf8)) }
    #expect(try text(.write, written) == #"{"streamId":"7","streamToken":"MA=="}"#)
  }

  @Test("Target ids, packed or not, match swift-protobuf", arguments: [UInt64](1...20))
  func targets(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ids = random.list(upTo: 5) { Int32.random(in: .min ... .max, using: &$0) }
    let name = random.name()
    let response = Google_Firestore_V1_ListenResponse.with { response in
      response.documentChange.document.name = name
      (response.documentChange.targetIds, response.documentChange.removedTargetIds) = (ids, ids.reversed())
    }
    let written = try JSONSyntax(parsing: try text(.listen, response), numbers: .ofAnySize)
    let oracle = try JSONSyntax(parsing: try response.jsonString(), numbers: .ofAnySize)
    #expect(written.lineText == oracle.lineText, "seed \(seed)")
  }

  @Test("A failing stream sends its status, and an invalid message is a client error")
  func faults() throws {
    #expect(
      String(decoding: StreamMethod.end(with: RPCStatus(.permissionDenied, "No <way>.")), as: UTF8.self)
        == #"{"error":{"code":403,"message":"PERMISSION_DENIED: No \u003cway\u003e.","status":"PERMISSION_DENIED"}}"#)
    for json in ["{not json", #"{"wrong":1}"#, "[]", #"{"addTarget":{"targetId":"x"}}"#, "\u{0}x"] {
      #expect(throws: RPCStatus.self) { try StreamMethod.listen.request(Array(json.utf8)) }
    }
  }
}
