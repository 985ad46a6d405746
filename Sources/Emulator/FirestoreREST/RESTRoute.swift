// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtoJSON
import FirestoreService

/// The call for a target, and the parts of the request that the target contains (`google.api.http` in
/// google/firestore/v1/firestore.proto).
struct RESTRoute {
  /// The method; `nil` for a known method that is not supported.
  private(set) var method: FirestoreService.Method?
  /// The name of the method after the colon.
  private(set) var custom: String?
  /// The fields of the request that the target sets.
  private(set) var fields: [(number: Int, text: String)] = []
  /// The field of the request that contains the body's document; `nil` if the body is the whole request.
  private(set) var bodyField: Int?
  /// The name of the document in the body.
  private(set) var documentName: String?

  /// The methods of databases, as in `…/documents:commit`.
  private static let ofDatabases: [String: FirestoreService.Method] = [
    "batchGet": .batchGetDocuments, "batchWrite": .batchWrite, "beginTransaction": .beginTransaction,
    "commit": .commit, "rollback": .rollback, "executePipeline": .executePipeline,
  ]
  private static let unserved: Set<String> = ["listen", "write"]
  /// The methods for a parent, which is the root or a document, as in `…/documents:runQuery` and
  /// `…/documents/c/a:runQuery`.
  private static let ofParents: [String: FirestoreService.Method] = [
    "runQuery": .runQuery, "runAggregationQuery": .runAggregationQuery, "partitionQuery": .partitionQuery,
    "listCollectionIds": .listCollectionIDs,
  ]

  /// - Parameter segments: the segments after `/v1/`, unchanged.
  /// - Returns: `nil` for an unknown target.
  init?(_ verb: String, _ segments: [Substring]) {
    var segments = segments
    // A name may contain colons. The part after the last colon is a method only if a method with this name exists.
    if verb == "POST", let last = segments.last, let colon = last.lastIndex(of: ":") {
      let name = String(last[last.index(after: colon)...])
      let isOfDatabase = segments.count == 5 && (Self.ofDatabases[name] != nil || Self.unserved.contains(name))
      if isOfDatabase || Self.ofParents[name] != nil {
        custom = name
        segments[segments.count - 1] = last[..<colon]
      }
    }
    guard segments.count >= 5, segments[0] == "projects", segments[2] == "databases", segments[4] == "documents",
      segments.allSatisfy({ !$0.isEmpty })
    else { return nil }
    let names = segments.map { PercentEncoding.decoded($0, slashes: false) }
    let depth = names.count - 5
    let isDocument = depth > 0 && depth.isMultiple(of: 2)
    let name = names.joined(separator: "/")
    let parent = names.dropLast().joined(separator: "/")

    // The service rejects the name of a collection where a document is required.
    switch (verb, custom) {
    case ("POST", let custom?):
      if let method = Self.ofParents[custom] {
        (self.method, fields) = (method, [(1, name)])
      } else {
        (method, fields) = (Self.ofDatabases[custom], [(1, names.prefix(4).joined(separator: "/"))])
      }
    case ("GET", _) where isDocument: (method, fields) = (.getDocument, [(1, name)])
    case ("GET", _) where depth > 0: (method, fields) = (.listDocuments, [(1, parent), (2, collection(of: segments))])
    case ("POST", _) where depth > 0:
      (method, fields, bodyField) = (.createDocument, [(1, parent), (2, collection(of: segments))], 4)
    case ("PATCH", _) where depth > 0: (method, bodyField, documentName) = (.updateDocument, 1, name)
    case ("DELETE", _) where depth > 0: (method, fields) = (.deleteDocument, [(1, name)])
    default: return nil
    }
  }
}

private func collection(of segments: [Substring]) -> String { segments.last.map { PercentEncoding.decoded($0) } ?? "" }

extension FirestoreService.Method {
  /// Whether the method returns any number of messages.
  var isStream: Bool {
    switch self {
    case .batchGetDocuments, .runQuery, .runAggregationQuery, .executePipeline: true
    case .getDocument, .listDocuments, .createDocument, .updateDocument, .deleteDocument, .beginTransaction, .commit,
      .rollback, .batchWrite, .listCollectionIDs, .partitionQuery:
      false
    }
  }

  var request: MessageSchema {
    switch self {
    case .getDocument: Schema.getDocumentRequest
    case .batchGetDocuments: Schema.batchGetDocumentsRequest
    case .listDocuments: Schema.listDocumentsRequest
    case .createDocument: Schema.createDocumentRequest
    case .updateDocument: Schema.updateDocumentRequest
    case .deleteDocument: Schema.deleteDocumentRequest
    case .beginTransaction: Schema.beginTransactionRequest
    case .commit: Schema.commitRequest
    case .rollback: Schema.rollbackRequest
    case .batchWrite: Schema.batchWriteRequest
    case .listCollectionIDs: Schema.listCollectionIDsRequest
    case .runQuery: Schema.runQueryRequest
    case .runAggregationQuery: Schema.runAggregationQueryRequest
    case .partitionQuery: Schema.partitionQueryRequest
    case .executePipeline: Schema.executePipelineRequest
    }
  }

  var response: MessageSchema {
    switch self {
    case .getDocument, .createDocument, .updateDocument: Schema.document
    case .batchGetDocuments: Schema.batchGetDocumentsResponse
    case .listDocuments: Schema.listDocumentsResponse
    case .deleteDocument, .rollback: Schema.empty
    case .beginTransaction: Schema.beginTransactionResponse
    case .commit: Schema.commitResponse
    case .batchWrite: Schema.batchWriteResponse
    case .listCollectionIDs: Schema.listCollectionIDsResponse
    case .runQuery: Schema.runQueryResponse
    case .runAggregationQuery: Schema.runAggregationQueryResponse
    case .partitionQuery: Schema.partitionQueryResponse
    case .executePipeline: Schema.executePipelineResponse
    }
  }
}
