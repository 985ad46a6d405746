// SPDX-License-Identifier: Apache-2.0

extension Schema {
  package static let getDocumentRequest: MessageSchema = message(
    "GetDocumentRequest",
    [
      FieldSchema(1, "name", .string), FieldSchema(2, "mask", .message { documentMask }),
      FieldSchema(3, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(5, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(10, "request_options", .message { requestOptions }),
    ])

  package static let listDocumentsRequest: MessageSchema = message(
    "ListDocumentsRequest",
    [
      FieldSchema(1, "parent", .string), FieldSchema(2, "collection_id", .string), FieldSchema(3, "page_size", .int32),
      FieldSchema(4, "page_token", .string), FieldSchema(6, "order_by", .string),
      FieldSchema(7, "mask", .message { documentMask }),
      FieldSchema(8, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(10, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(12, "show_missing", .boolean), FieldSchema(13, "request_options", .message { requestOptions }),
    ])

  package static let listDocumentsResponse: MessageSchema = message(
    "ListDocumentsResponse",
    [FieldSchema(1, "documents", .message { document }, .list), FieldSchema(2, "next_page_token", .string)])

  package static let createDocumentRequest: MessageSchema = message(
    "CreateDocumentRequest",
    [
      FieldSchema(1, "parent", .string), FieldSchema(2, "collection_id", .string),
      FieldSchema(3, "document_id", .string), FieldSchema(4, "document", .message { document }),
      FieldSchema(5, "mask", .message { documentMask }), FieldSchema(6, "request_options", .message { requestOptions }),
    ])

  package static let updateDocumentRequest: MessageSchema = message(
    "UpdateDocumentRequest",
    [
      FieldSchema(1, "document", .message { document }), FieldSchema(2, "update_mask", .message { documentMask }),
      FieldSchema(3, "mask", .message { documentMask }), FieldSchema(4, "current_document", .message { precondition }),
      FieldSchema(5, "request_options", .message { requestOptions }),
    ])

  package static let deleteDocumentRequest: MessageSchema = message(
    "DeleteDocumentRequest",
    [
      FieldSchema(1, "name", .string), FieldSchema(2, "current_document", .message { precondition }),
      FieldSchema(3, "request_options", .message { requestOptions }),
    ])

  package static let batchGetDocumentsRequest: MessageSchema = message(
    "BatchGetDocumentsRequest",
    [
      FieldSchema(1, "database", .string), FieldSchema(2, "documents", .string, .list),
      FieldSchema(3, "mask", .message { documentMask }),
      FieldSchema(4, "transaction", .bytes, oneof: "consistency_selector"),
      FieldSchema(5, "new_transaction", .message { transactionOptions }, oneof: "consistency_selector"),
      FieldSchema(7, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(8, "request_options", .message { requestOptions }),
    ])

  package static let batchGetDocumentsResponse: MessageSchema = message(
    "BatchGetDocumentsResponse",
    [
      FieldSchema(1, "found", .message { document }, oneof: "result"),
      FieldSchema(2, "missing", .string, oneof: "result"), FieldSchema(3, "transaction", .bytes),
      FieldSchema(4, "read_time", .timestamp),
    ])

  package static let listCollectionIDsRequest: MessageSchema = message(
    "ListCollectionIdsRequest",
    [
      FieldSchema(1, "parent", .string), FieldSchema(2, "page_size", .int32), FieldSchema(3, "page_token", .string),
      FieldSchema(4, "read_time", .timestamp, oneof: "consistency_selector"),
      FieldSchema(5, "request_options", .message { requestOptions }),
    ])

  package static let listCollectionIDsResponse: MessageSchema = message(
    "ListCollectionIdsResponse",
    [FieldSchema(1, "collection_ids", .string, .list), FieldSchema(2, "next_page_token", .string)])
}
