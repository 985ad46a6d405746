// SPDX-License-Identifier: Apache-2.0

/// The schemas of the google.firestore.v1 messages that the REST API uses, taken from their proto files. This file
/// contains documents, values, and types that both requests and responses use.
package enum Schema {
  package static let document: MessageSchema = message(
    "Document",
    [
      FieldSchema(1, "name", .string), FieldSchema(2, "fields", .message { value }, .map),
      FieldSchema(3, "create_time", .timestamp), FieldSchema(4, "update_time", .timestamp),
    ])

  package static let value: MessageSchema = message(
    "Value",
    [
      FieldSchema(1, "boolean_value", .boolean, oneof: "value_type"),
      FieldSchema(2, "integer_value", .int64, oneof: "value_type"),
      FieldSchema(3, "double_value", .double, oneof: "value_type"),
      FieldSchema(5, "reference_value", .string, oneof: "value_type"),
      FieldSchema(6, "map_value", .message { mapValue }, oneof: "value_type"),
      FieldSchema(8, "geo_point_value", .message { latLng }, oneof: "value_type"),
      FieldSchema(9, "array_value", .message { arrayValue }, oneof: "value_type"),
      FieldSchema(10, "timestamp_value", .timestamp, oneof: "value_type"),
      FieldSchema(11, "null_value", .null, oneof: "value_type"),
      FieldSchema(17, "string_value", .string, oneof: "value_type"),
      FieldSchema(18, "bytes_value", .bytes, oneof: "value_type"),
      FieldSchema(19, "field_reference_value", .string, oneof: "value_type"),
      FieldSchema(20, "function_value", .message { function }, oneof: "value_type"),
      FieldSchema(21, "pipeline_value", .message { pipeline }, oneof: "value_type"),
      FieldSchema(22, "variable_reference_value", .string, oneof: "value_type"),
    ])

  private static let mapValue: MessageSchema = message("MapValue", [FieldSchema(1, "fields", .message { value }, .map)])
  package static let arrayValue: MessageSchema = message(
    "ArrayValue", [FieldSchema(1, "values", .message { value }, .list)])

  private static let latLng: MessageSchema = MessageSchema(
    "google.type.LatLng", [FieldSchema(1, "latitude", .double), FieldSchema(2, "longitude", .double)])

  package static let documentMask: MessageSchema = message(
    "DocumentMask", [FieldSchema(1, "field_paths", .string, .list)])

  package static let precondition: MessageSchema = message(
    "Precondition",
    [
      FieldSchema(1, "exists", .boolean, oneof: "condition_type"),
      FieldSchema(2, "update_time", .timestamp, oneof: "condition_type"),
    ])

  package static let transactionOptions: MessageSchema = message(
    "TransactionOptions",
    [
      FieldSchema(2, "read_only", .message { readOnly }, oneof: "mode"),
      FieldSchema(3, "read_write", .message { readWrite }, oneof: "mode"),
    ])

  private static let readOnly: MessageSchema = message(
    "TransactionOptions.ReadOnly", [FieldSchema(2, "read_time", .timestamp, oneof: "consistency_selector")])

  private static let readWrite: MessageSchema = message(
    "TransactionOptions.ReadWrite",
    [
      FieldSchema(1, "retry_transaction", .bytes),
      FieldSchema(
        2, "concurrency_mode",
        .enumeration(
          enumeration(
            "TransactionOptions.ConcurrencyMode",
            ["CONCURRENCY_MODE_UNSPECIFIED": 0, "OPTIMISTIC": 1, "PESSIMISTIC": 2]))),
    ])

  package static let requestOptions: MessageSchema = message(
    "RequestOptions", [FieldSchema(1, "request_tags", .string, .list)])
  package static let explainOptions: MessageSchema = message("ExplainOptions", [FieldSchema(1, "analyze", .boolean)])

  package static let explainMetrics: MessageSchema = message(
    "ExplainMetrics",
    [
      FieldSchema(1, "plan_summary", .message { planSummary }),
      FieldSchema(2, "execution_stats", .message { executionStats }),
    ])

  private static let planSummary: MessageSchema = message(
    "PlanSummary", [FieldSchema(1, "indexes_used", .structure, .list)])

  private static let executionStats: MessageSchema = message(
    "ExecutionStats",
    [
      FieldSchema(1, "results_returned", .int64), FieldSchema(3, "execution_duration", .duration),
      FieldSchema(4, "read_operations", .int64), FieldSchema(5, "debug_stats", .structure),
    ])

  package static let status: MessageSchema = MessageSchema(
    "google.rpc.Status", [FieldSchema(1, "code", .int32), FieldSchema(2, "message", .string)])

  package static let empty: MessageSchema = MessageSchema("google.protobuf.Empty", [])

  package static func message(_ name: String, _ fields: [FieldSchema], emptiness: String? = nil) -> MessageSchema {
    MessageSchema("google.firestore.v1.\(name)", fields, emptiness: emptiness)
  }

  package static func enumeration(_ name: String, _ cases: [String: Int32]) -> EnumSchema {
    EnumSchema("google.firestore.v1.\(name)", cases)
  }
}
