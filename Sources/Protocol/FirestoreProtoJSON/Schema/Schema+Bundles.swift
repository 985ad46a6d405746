// SPDX-License-Identifier: Apache-2.0

/// The elements of bundles (firestore/bundle.proto).
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
