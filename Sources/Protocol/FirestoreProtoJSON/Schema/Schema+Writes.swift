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
