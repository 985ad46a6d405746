// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import Foundation
import SwiftProtobuf
import Testing
import WireOracle

@Suite("Pipeline messages")
struct PipelineMessageTests {
  private let database = Samples.database

  @Test("Pipeline requests round-trip with the generated protobuf messages")
  func requests() throws {
    let inner = PipelineMessage([.init("collection", [.path("/d")])])
    let pipeline = PipelineMessage([
      .init("collection", [.path("/c")], options: ["hint": .constant(.string("x"))]),
      .init(
        "select", [.named([("a", .function("add", [.field("n"), .constant(.integer(0))])), ("v", .variable("w"))])]),
      .init("union", [.pipeline(inner)]),
      .init("x", [.array([.field("f"), .constant(.null)]), .constant(.array([.boolean(false)]))]),
    ])
    let request = Google_Firestore_V1_ExecutePipelineRequest.with { request in
      request.database = database.name
      request.readTime = Samples.version.message
      request.structuredPipeline.pipeline.stages = [
        .with { stage in
          (stage.name, stage.args) = ("collection", [.with { $0.referenceValue = "/c" }])
          stage.options = ["hint": .with { $0.stringValue = "x" }]
        },
        .with { stage in
          stage.name = "select"
          stage.args = [
            .with { map in
              let sum = Google_Firestore_V1_Value.with { value in
                value.functionValue.name = "add"
                value.functionValue.args = [.with { $0.fieldReferenceValue = "n" }, .with { $0.integerValue = 0 }]
              }
              map.mapValue.fields = [
                .with { ($0.name, $0.value) = ("a", sum) },
                .with { ($0.name, $0.value) = ("v", .with { $0.variableReferenceValue = "w" }) },
              ]
            }
          ]
        },
        .with { stage in
          stage.name = "union"
          stage.args = [
            .with {
              $0.pipelineValue.stages = [
                .with { ($0.name, $0.args) = ("collection", [.with { $0.referenceValue = "/d" }]) }
              ]
            }
          ]
        },
        .with { stage in
          stage.name = "x"
          stage.args = [
            .with {
              $0.arrayValue.values = [.with { $0.fieldReferenceValue = "f" }, .with { $0.nullValue = .nullValue }]
            },
            .with { $0.arrayValue.values = [.with { $0.booleanValue = false }] },
          ]
        },
      ]
    }
    try expectSame(
      WireWriter.message { $0.executePipelineRequest(pipeline, at: Samples.version, in: database) }, request, "")
    let message = try read(request) { reader throws(WireError) in try reader.executePipelineRequest() }
    #expect(message.database == database.name && message.pipeline == pipeline)
    guard case .readTime(Samples.version.timestamp) = message.consistency else {
      Issue.record("The read time was not read.")
      return
    }
  }

  @Test("Pipeline responses round-trip with the generated protobuf messages")
  func responses() throws {
    let result = PipelineResult(
      key: Samples.key, createTime: Samples.version, updateTime: Samples.version, data: DocumentData(["a": .integer(1)])
    )
    let response = PipelineResponse(
      transaction: [1, 2], results: [result, PipelineResult(data: DocumentData([:]))], executionTime: Samples.version,
      explanation: "text")
    let message = Google_Firestore_V1_ExecutePipelineResponse.with { message in
      message.transaction = Data([1, 2])
      message.results = [
        .with { document in
          document.name = database.name(of: Samples.key) as String
          document.fields = [.with { ($0.name, $0.value) = ("a", .with { $0.integerValue = 1 }) }]
          (document.createTime, document.updateTime) = (Samples.version.message, Samples.version.message)
        }, .init(),
      ]
      message.executionTime = Samples.version.message
      message.explainStats.data.typeURL = "type.googleapis.com/google.protobuf.StringValue"
      message.explainStats.data.value = Data([0x0a, 4] + Array("text".utf8))
    }
    let names = DocumentNames(database)
    try expectSame(WireWriter.message { $0.executePipelineResponse(response, names) }, message, "")
    let back = try read(message) { reader throws(WireError) in try reader.executePipelineResponse(names) }
    #expect(back.transaction == [1, 2] && back.executionTime == Samples.version)
    #expect(back.results.map(\.key) == [Samples.key, nil])
    #expect(back.results.map(\.data.fields) == [["a": .integer(1)], [:]])
  }
}
