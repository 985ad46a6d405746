// SPDX-License-Identifier: Apache-2.0

extension Schema {
  package static let function: MessageSchema = call("Function")
  package static let pipeline: MessageSchema = message(
    "Pipeline", [FieldSchema(1, "stages", .message { stage }, .list)])
  private static let stage: MessageSchema = call("Pipeline.Stage")

  /// A stage or a function: a name, arguments and options.
  private static func call(_ name: String) -> MessageSchema {
    message(
      name,
      [
        FieldSchema(1, "name", .string), FieldSchema(2, "args", .message { value }, .list),
        FieldSchema(3, "options", .message { value }, .map),
      ])
  }

  package static let executePipelineRequest: MessageSchema = message(
    "ExecutePipelineRequest",
    [
      FieldSchema(1, "database", .string),
      FieldSchema(2, "structured_pipeline", .message { structuredPipeline }, oneof: "pipeline_type"),
      FieldSchema(5, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(6, "new_transaction", .message { transactionOptions }, oneof: "consistency_selector"),
      FieldSchema(7, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(9, "auto_commit_transaction", .boolean),
      FieldSchema(10, "request_options", .message { requestOptions }),
    ])

  private static let structuredPipeline: MessageSchema = message(
    "StructuredPipeline",
    [FieldSchema(1, "pipeline", .message { pipeline }), FieldSchema(2, "options", .message { value }, .map)])

  package static let executePipelineResponse: MessageSchema = message(
    "ExecutePipelineResponse",
    [
      FieldSchema(1, "transaction", .bytes), FieldSchema(2, "results", .message { document }, .list),
      FieldSchema(3, "execution_time", .timestamp), FieldSchema(4, "explain_stats", .message { explainStats }),
    ])

  private static let explainStats: MessageSchema = message("ExplainStats", [FieldSchema(1, "data", .message { text })])

  /// A `google.protobuf.Any` that holds a `google.protobuf.StringValue`.
  private static let text = MessageSchema(
    "google.protobuf.Any", [FieldSchema(1, "@type", .string), FieldSchema(2, "value", .wrapper(.string))])
}
