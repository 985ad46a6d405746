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

/// The schemas for the elements of bundles (firestore/bundle.proto).
extension Schema {
  package static let bundleElement: MessageSchema = bundleMessage(
    "BundleElement",
    [
      FieldSchema(1, "metadata", .message { bundleMetadata }, oneof: "element_type"),
      FieldSchema(2, "named_query", .message { namedQuery }, oneof: "element_type"),
      FieldSchema(3, "document_metadata", .message { bundledDocumentMetadata }, oneof: "element_type"),
      FieldSchema(4, "document", .message { document }, oneof: "element_type"),
    ])

  private static let bundleMetadata = bundleMessage(
    "BundleMetadata",
    [
      FieldSchema(1, "id", .string), FieldSchema(2, "create_time", .timestamp), FieldSchema(3, "version", .int64),
      FieldSchema(4, "total_documents", .int64), FieldSchema(5, "total_bytes", .int64),
    ])

  private static let namedQuery = bundleMessage(
    "NamedQuery",
    [
      FieldSchema(1, "name", .string), FieldSchema(2, "bundled_query", .message { bundledQuery }),
      FieldSchema(3, "read_time", .timestamp),
    ])

  private static let bundledQuery = bundleMessage(
    "BundledQuery",
    [
      FieldSchema(1, "parent", .string), FieldSchema(2, "structured_query", .message { structuredQuery }),
      FieldSchema(
        3, "limit_type", .enumeration(EnumSchema("firestore.BundledQuery.LimitType", ["FIRST": 0, "LAST": 1]))),
    ])

  private static let bundledDocumentMetadata = bundleMessage(
    "BundledDocumentMetadata",
    [
      FieldSchema(1, "name", .string), FieldSchema(2, "read_time", .timestamp), FieldSchema(3, "exists", .boolean),
      FieldSchema(4, "queries", .string, .list),
    ])

  private static func bundleMessage(_ name: String, _ fields: [FieldSchema]) -> MessageSchema {
    MessageSchema("firestore.\(name)", fields)
  }
}
