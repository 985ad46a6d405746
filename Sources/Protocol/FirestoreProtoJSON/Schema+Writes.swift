// SPDX-License-Identifier: Apache-2.0

extension Schema {
  package static let write: MessageSchema = message(
    "Write",
    [
      FieldSchema(1, "update", .message { document }, oneof: "operation"),
      FieldSchema(2, "delete", .string, oneof: "operation"),
      FieldSchema(3, "update_mask", .message { documentMask }),
      FieldSchema(4, "current_document", .message { precondition }),
      FieldSchema(5, "verify", .string, oneof: "operation"),
      FieldSchema(6, "transform", .message { documentTransform }, oneof: "operation"),
      FieldSchema(7, "update_transforms", .message { fieldTransform }, .list),
    ])

  private static let documentTransform: MessageSchema = message(
    "DocumentTransform",
    [
      FieldSchema(1, "document", .string),
      FieldSchema(2, "field_transforms", .message { fieldTransform }, .list),
    ])

  private static let fieldTransform: MessageSchema = message(
    "DocumentTransform.FieldTransform",
    [
      FieldSchema(1, "field_path", .string),
      FieldSchema(2, "set_to_server_value", .enumeration(serverValue), oneof: "transform_type"),
      FieldSchema(3, "increment", .message { value }, oneof: "transform_type"),
      FieldSchema(4, "maximum", .message { value }, oneof: "transform_type"),
      FieldSchema(5, "minimum", .message { value }, oneof: "transform_type"),
      FieldSchema(6, "append_missing_elements", .message { arrayValue }, oneof: "transform_type"),
      FieldSchema(7, "remove_all_from_array", .message { arrayValue }, oneof: "transform_type"),
    ])

  private static let serverValue = enumeration(
    "DocumentTransform.FieldTransform.ServerValue", ["SERVER_VALUE_UNSPECIFIED": 0, "REQUEST_TIME": 1])

  package static let writeResult: MessageSchema = message(
    "WriteResult",
    [FieldSchema(1, "update_time", .timestamp), FieldSchema(2, "transform_results", .message { value }, .list)])

  package static let commitRequest: MessageSchema = message(
    "CommitRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "writes", .message { write }, .list),
      FieldSchema(3, "transaction", .bytes), FieldSchema(4, "request_options", .message { requestOptions }),
    ])

  package static let commitResponse: MessageSchema = message(
    "CommitResponse",
    [FieldSchema(1, "write_results", .message { writeResult }, .list), FieldSchema(2, "commit_time", .timestamp)])

  package static let batchWriteRequest: MessageSchema = message(
    "BatchWriteRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "writes", .message { write }, .list),
      FieldSchema(3, "labels", .string, .map), FieldSchema(4, "request_options", .message { requestOptions }),
    ])

  package static let batchWriteResponse: MessageSchema = message(
    "BatchWriteResponse",
    [
      FieldSchema(1, "write_results", .message { writeResult }, .list),
      FieldSchema(2, "status", .message { status }, .list),
    ])

  package static let beginTransactionRequest: MessageSchema = message(
    "BeginTransactionRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "options", .message { transactionOptions }),
      FieldSchema(3, "request_options", .message { requestOptions }),
    ])

  package static let beginTransactionResponse: MessageSchema = message(
    "BeginTransactionResponse", [FieldSchema(1, "transaction", .bytes)])

  package static let rollbackRequest: MessageSchema = message(
    "RollbackRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "transaction", .bytes),
      FieldSchema(3, "request_options", .message { requestOptions }),
    ])
}

/// The schemas for the messages of Listen and Write. Only WebChannel sends these messages as JSON.
extension Schema {
  package static let listenRequest: MessageSchema = message(
    "ListenRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "add_target", .message { target }, oneof: "target_change"),
      FieldSchema(3, "remove_target", .int32, oneof: "target_change"), FieldSchema(4, "labels", .string, .map),
      FieldSchema(5, "request_options", .message { requestOptions }),
    ])

  private static let target: MessageSchema = message(
    "Target",
    [
      FieldSchema(2, "query", .message { queryTarget }, oneof: "target_type"),
      FieldSchema(3, "documents", .message { documentsTarget }, oneof: "target_type"),
      FieldSchema(4, "resume_token", .bytes, oneof: "resume_type"), FieldSchema(5, "target_id", .int32),
      FieldSchema(6, "once", .boolean), FieldSchema(11, "read_time", .timestamp, oneof: "resume_type"),
      FieldSchema(12, "expected_count", .wrapper(.int32)),
    ])

  private static let queryTarget: MessageSchema = message(
    "Target.QueryTarget",
    [
      FieldSchema(1, "parent", .string),
      FieldSchema(2, "structured_query", .message { structuredQuery }, oneof: "query_type"),
    ])

  private static let documentsTarget: MessageSchema = message(
    "Target.DocumentsTarget", [FieldSchema(2, "documents", .string, .list)])

  package static let listenResponse: MessageSchema = message(
    "ListenResponse",
    [
      FieldSchema(2, "target_change", .message { targetChange }, oneof: "response_type"),
      FieldSchema(3, "document_change", .message { documentChange }, oneof: "response_type"),
      FieldSchema(4, "document_delete", .message { documentDelete }, oneof: "response_type"),
      FieldSchema(5, "filter", .message { existenceFilter }, oneof: "response_type"),
      FieldSchema(6, "document_remove", .message { documentRemove }, oneof: "response_type"),
    ])

  private static let targetChange: MessageSchema = message(
    "TargetChange",
    [
      FieldSchema(
        1, "target_change_type",
        .enumeration(
          enumeration(
            "TargetChange.TargetChangeType", ["NO_CHANGE": 0, "ADD": 1, "REMOVE": 2, "CURRENT": 3, "RESET": 4]))),
      FieldSchema(2, "target_ids", .int32, .list), FieldSchema(3, "cause", .message { status }),
      FieldSchema(4, "resume_token", .bytes), FieldSchema(6, "read_time", .timestamp),
    ])

  private static let documentChange: MessageSchema = message(
    "DocumentChange",
    [
      FieldSchema(1, "document", .message { document }), FieldSchema(5, "target_ids", .int32, .list),
      FieldSchema(6, "removed_target_ids", .int32, .list),
    ])

  private static let documentDelete: MessageSchema = message(
    "DocumentDelete",
    [
      FieldSchema(1, "document", .string), FieldSchema(4, "read_time", .timestamp),
      FieldSchema(6, "removed_target_ids", .int32, .list),
    ])

  private static let documentRemove: MessageSchema = message(
    "DocumentRemove",
    [
      FieldSchema(1, "document", .string), FieldSchema(2, "removed_target_ids", .int32, .list),
      FieldSchema(4, "read_time", .timestamp),
    ])

  private static let existenceFilter: MessageSchema = message(
    "ExistenceFilter",
    [
      FieldSchema(1, "target_id", .int32), FieldSchema(2, "count", .int32),
      FieldSchema(3, "unchanged_names", .message { bloomFilter }),
    ])

  private static let bloomFilter: MessageSchema = message(
    "BloomFilter", [FieldSchema(1, "bits", .message { bitSequence }), FieldSchema(2, "hash_count", .int32)])

  private static let bitSequence: MessageSchema = message(
    "BitSequence", [FieldSchema(1, "bitmap", .bytes), FieldSchema(2, "padding", .int32)])

  package static let writeRequest: MessageSchema = message(
    "WriteRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "stream_id", .string),
      FieldSchema(3, "writes", .message { write }, .list), FieldSchema(4, "stream_token", .bytes),
      FieldSchema(5, "labels", .string, .map), FieldSchema(6, "request_options", .message { requestOptions }),
    ])

  /// The schema of a timestamp that is written as a message with fields. Current JSON uses text instead.
  package static let timestamp = MessageSchema(
    "google.protobuf.Timestamp", [FieldSchema(1, "seconds", .int64), FieldSchema(2, "nanos", .int32)])

  package static let writeResponse: MessageSchema = message(
    "WriteResponse",
    [
      FieldSchema(1, "stream_id", .string), FieldSchema(2, "stream_token", .bytes),
      FieldSchema(3, "write_results", .message { writeResult }, .list), FieldSchema(4, "commit_time", .timestamp),
    ])
}
