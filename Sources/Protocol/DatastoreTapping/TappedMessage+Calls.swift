// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery

// The requests and answers of calls.

extension TappedMessage {
  /// - Parameter read: a read of `FirestoreProtocol`; of any other its type is noted.
  mutating func note(_ read: some DatastoreRead, in database: DatabaseID) {
    switch read {
    case let read as LookupRead:
      kind = "BatchGetDocuments"
      note(read.keys)
      note(Schema.batchGetDocumentsRequest) { $0.batchGetRequest(read.keys, read.view, in: database) }
    case let read as QueryRead:
      kind = "RunQuery"
      // A target that is one document is asked for by its name.
      if read.target.isDocumentTarget { return note([DocumentKey(unchecked: read.target.path)]) }
      note(Schema.runQueryRequest) {
        $0.runQueryRequest(read.target, read.view, passing: read.offset, in: database)
      }
    case let read as AggregationRead:
      kind = "RunAggregationQuery"
      if read.target.isDocumentTarget { return note([DocumentKey(unchecked: read.target.path)]) }
      note(Schema.runAggregationQueryRequest) {
        $0.aggregationRequest(read.target, read.aggregations, at: read.view.time, in: database)
      }
    case let read as ExplainRead:
      kind = "RunQuery"
      note(Schema.runQueryRequest) {
        $0.explainRequest(read.target, isRun: read.isRun, read.view, in: database)
      }
    case let read as CollectionIDsRead:
      kind = "ListCollectionIds"
      note(Schema.listCollectionIDsRequest) {
        $0.listCollectionIDsRequest(below: read.parent, at: read.view.time, in: database, pageSize: 0, pageToken: "")
      }
    case let read as MissingDocumentsRead:
      kind = "ListDocuments"
      note(Schema.listDocumentsRequest) {
        $0.listNamesRequest(in: read.collection, at: read.view.time, of: database, pageSize: 0, pageToken: "")
      }
    case is PipelineExecution: kind = "ExecutePipeline"
    case is DatabasesRead: kind = "ListDatabases"
    default: kind = "\(type(of: read))"
    }
  }

  /// - Parameter answer: the answer to the read. An empty list is of every type, so that the read tells what it is.
  mutating func note(_ answer: Any, to read: some DatastoreRead, _ names: DocumentNames) {
    switch read {
    case is LookupRead:
      guard let documents = answer as? [Document] else { return }
      note(documents, Schema.batchGetDocumentsResponse) { document, writer in
        writer.batchGetResponse(ReadResponse(document: document), names)
      }
    case is QueryRead:
      guard let documents = answer as? [Document] else { return }
      note(documents, Schema.runQueryResponse) { document, writer in
        writer.runQueryResponse(ReadResponse(document: document), names)
      }
    case is AggregationRead:
      guard let figures = answer as? [String: Value] else { return }
      count = figures.count
      note(Schema.aggregationResult) { $0.entries(2, Fields(figures.map { ($0.key, $0.value) })) }
    case is ExplainRead:
      guard let metrics = answer as? ExplainMetrics else { return }
      note(Schema.runQueryResponse) { $0.runQueryResponse(explaining: metrics) }
    case is CollectionIDsRead:
      guard let ids = answer as? [String] else { return }
      count = ids.count
      note(Schema.listCollectionIDsResponse) { $0.listCollectionIDsResponse(CollectionIDPage(ids: ids)) }
    case is MissingDocumentsRead: (answer as? [DocumentKey]).map { note($0) }
    case is DatabasesRead: count = (answer as? [DatabaseID])?.count ?? 0
    case is PipelineExecution: count = (answer as? PipelineResponse)?.results.count ?? 0
    default: break
    }
  }

  mutating func note(_ mutations: [Mutation], in database: DatabaseID) {
    kind = "Commit"
    note(mutations.lazy.map(\.key))
    note(Schema.commitRequest) { $0.commitRequest(mutations, in: database) }
  }

  mutating func note(_ response: CommitResponse, to mutations: [Mutation]) {
    kind = "Commit"
    note(mutations.lazy.map(\.key))
    note(Schema.commitResponse) { $0.commitResponse(response, to: mutations) }
  }

  mutating func note(_ request: DescendantsRequest, in database: DatabaseID) {
    kind = "RunQuery"
    note(Schema.runQueryRequest) { $0.runQueryRequest(request, in: database) }
  }
}
