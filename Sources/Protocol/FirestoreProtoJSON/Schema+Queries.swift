// SPDX-License-Identifier: Apache-2.0

extension Schema {
  package static let structuredQuery: MessageSchema = message(
    "StructuredQuery",
    [
      FieldSchema(1, "select", .message { projection }),
      FieldSchema(2, "from", .message { collectionSelector }, .list), FieldSchema(3, "where", .message { filter }),
      FieldSchema(4, "order_by", .message { order }, .list), FieldSchema(5, "limit", .wrapper(.int32)),
      FieldSchema(6, "offset", .int32), FieldSchema(7, "start_at", .message { cursor }),
      FieldSchema(8, "end_at", .message { cursor }), FieldSchema(9, "find_nearest", .message { findNearest }),
    ])

  private static let projection: MessageSchema = message(
    "StructuredQuery.Projection", [FieldSchema(2, "fields", .message { fieldReference }, .list)])

  private static let collectionSelector: MessageSchema = message(
    "StructuredQuery.CollectionSelector",
    [FieldSchema(2, "collection_id", .string), FieldSchema(3, "all_descendants", .boolean)])

  private static let fieldReference: MessageSchema = message(
    "StructuredQuery.FieldReference", [FieldSchema(2, "field_path", .string)])

  private static let filter: MessageSchema = message(
    "StructuredQuery.Filter",
    [
      FieldSchema(1, "composite_filter", .message { compositeFilter }, oneof: "filter_type"),
      FieldSchema(2, "field_filter", .message { fieldFilter }, oneof: "filter_type"),
      FieldSchema(3, "unary_filter", .message { unaryFilter }, oneof: "filter_type"),
    ],
    // An empty filter matches everything over gRPC, as in the emulator. In JSON it is rejected, since it is probably a
    // mistake.
    emptiness: "Unknown Filter type.")

  private static let compositeFilter: MessageSchema = message(
    "StructuredQuery.CompositeFilter",
    [
      FieldSchema(
        1, "op",
        .enumeration(
          enumeration("StructuredQuery.CompositeFilter.Operator", ["OPERATOR_UNSPECIFIED": 0, "AND": 1, "OR": 2]))),
      FieldSchema(2, "filters", .message { filter }, .list),
    ])

  private static let fieldFilter: MessageSchema = message(
    "StructuredQuery.FieldFilter",
    [
      FieldSchema(1, "field", .message { fieldReference }),
      FieldSchema(
        2, "op",
        .enumeration(
          enumeration(
            "StructuredQuery.FieldFilter.Operator",
            [
              "OPERATOR_UNSPECIFIED": 0, "LESS_THAN": 1, "LESS_THAN_OR_EQUAL": 2, "GREATER_THAN": 3,
              "GREATER_THAN_OR_EQUAL": 4, "EQUAL": 5, "NOT_EQUAL": 6, "ARRAY_CONTAINS": 7, "IN": 8,
              "ARRAY_CONTAINS_ANY": 9, "NOT_IN": 10,
            ]))),
      FieldSchema(3, "value", .message { value }),
    ])

  private static let unaryFilter: MessageSchema = message(
    "StructuredQuery.UnaryFilter",
    [
      FieldSchema(
        1, "op",
        .enumeration(
          enumeration(
            "StructuredQuery.UnaryFilter.Operator",
            ["OPERATOR_UNSPECIFIED": 0, "IS_NAN": 2, "IS_NULL": 3, "IS_NOT_NAN": 4, "IS_NOT_NULL": 5]))),
      FieldSchema(2, "field", .message { fieldReference }, oneof: "operand_type"),
    ])

  private static let order: MessageSchema = message(
    "StructuredQuery.Order",
    [
      FieldSchema(1, "field", .message { fieldReference }),
      FieldSchema(
        2, "direction",
        .enumeration(
          enumeration(
            "StructuredQuery.Direction", ["DIRECTION_UNSPECIFIED": 0, "ASCENDING": 1, "DESCENDING": 2]))),
    ])

  private static let cursor: MessageSchema = message(
    "Cursor", [FieldSchema(1, "values", .message { value }, .list), FieldSchema(2, "before", .boolean)])

  private static let findNearest: MessageSchema = message(
    "StructuredQuery.FindNearest",
    [
      FieldSchema(1, "vector_field", .message { fieldReference }), FieldSchema(2, "query_vector", .message { value }),
      FieldSchema(
        3, "distance_measure",
        .enumeration(
          enumeration(
            "StructuredQuery.FindNearest.DistanceMeasure",
            ["DISTANCE_MEASURE_UNSPECIFIED": 0, "EUCLIDEAN": 1, "COSINE": 2, "DOT_PRODUCT": 3]))),
      FieldSchema(4, "limit", .wrapper(.int32)), FieldSchema(5, "distance_result_field", .string),
      FieldSchema(6, "distance_threshold", .wrapper(.double)),
    ])

  package static let runQueryRequest: MessageSchema = message(
    "RunQueryRequest",
    [
      FieldSchema(1, "parent", .string),
      FieldSchema(2, "structured_query", .message { structuredQuery }, oneof: "query_type"),
      FieldSchema(5, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(6, "new_transaction", .message { transactionOptions }, oneof: "consistency_selector"),
      FieldSchema(7, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(10, "explain_options", .message { explainOptions }),
      FieldSchema(11, "request_options", .message { requestOptions }),
    ])

  package static let runQueryResponse: MessageSchema = message(
    "RunQueryResponse",
    [
      FieldSchema(1, "document", .message { document }), FieldSchema(2, "transaction", .bytes),
      FieldSchema(3, "read_time", .timestamp), FieldSchema(4, "skipped_results", .int32),
      FieldSchema(6, "done", .boolean, oneof: "continuation_selector"),
      FieldSchema(11, "explain_metrics", .message { explainMetrics }),
    ])

  package static let runAggregationQueryRequest: MessageSchema = message(
    "RunAggregationQueryRequest",
    [
      FieldSchema(1, "parent", .string),
      FieldSchema(2, "structured_aggregation_query", .message { structuredAggregationQuery }, oneof: "query_type"),
      FieldSchema(4, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(5, "new_transaction", .message { transactionOptions }, oneof: "consistency_selector"),
      FieldSchema(6, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(8, "explain_options", .message { explainOptions }),
      FieldSchema(9, "request_options", .message { requestOptions }),
    ])

  private static let structuredAggregationQuery: MessageSchema = message(
    "StructuredAggregationQuery",
    [
      FieldSchema(1, "structured_query", .message { structuredQuery }, oneof: "query_type"),
      FieldSchema(3, "aggregations", .message { aggregation }, .list),
    ])

  private static let aggregation: MessageSchema = message(
    "StructuredAggregationQuery.Aggregation",
    [
      FieldSchema(1, "count", .message { count }, oneof: "operator"),
      FieldSchema(2, "sum", .message { sum }, oneof: "operator"),
      FieldSchema(3, "avg", .message { average }, oneof: "operator"), FieldSchema(7, "alias", .string),
    ])

  private static let count: MessageSchema = message(
    "StructuredAggregationQuery.Aggregation.Count", [FieldSchema(1, "up_to", .wrapper(.int64))])
  private static let sum: MessageSchema = message(
    "StructuredAggregationQuery.Aggregation.Sum", [FieldSchema(1, "field", .message { fieldReference })])
  private static let average: MessageSchema = message(
    "StructuredAggregationQuery.Aggregation.Avg", [FieldSchema(1, "field", .message { fieldReference })])

  package static let runAggregationQueryResponse: MessageSchema = message(
    "RunAggregationQueryResponse",
    [
      FieldSchema(1, "result", .message { aggregationResult }), FieldSchema(2, "transaction", .bytes),
      FieldSchema(3, "read_time", .timestamp), FieldSchema(10, "explain_metrics", .message { explainMetrics }),
    ])

  package static let aggregationResult: MessageSchema = message(
    "AggregationResult", [FieldSchema(2, "aggregate_fields", .message { value }, .map)])

  package static let partitionQueryRequest: MessageSchema = message(
    "PartitionQueryRequest",
    [
      FieldSchema(1, "parent", .string),
      FieldSchema(2, "structured_query", .message { structuredQuery }, oneof: "query_type"),
      FieldSchema(3, "partition_count", .int64), FieldSchema(4, "page_token", .string),
      FieldSchema(5, "page_size", .int32),
      FieldSchema(6, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(7, "request_options", .message { requestOptions }),
    ])

  package static let partitionQueryResponse: MessageSchema = message(
    "PartitionQueryResponse",
    [FieldSchema(1, "partitions", .message { cursor }, .list), FieldSchema(2, "next_page_token", .string)])
}

extension Schema {
  package static let function: MessageSchema = call("Function")
  package static let pipeline: MessageSchema = message(
    "Pipeline", [FieldSchema(1, "stages", .message { stage }, .list)])
  private static let stage: MessageSchema = call("Pipeline.Stage")

  /// The schema of a stage or function, which has a name, arguments and options.
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

  /// The schema of a `google.protobuf.Any` that contains a `google.protobuf.StringValue`.
  private static let text = MessageSchema(
    "google.protobuf.Any", [FieldSchema(1, "@type", .string), FieldSchema(2, "value", .wrapper(.string))])
}
