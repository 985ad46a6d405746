// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request to a client in this process, in a watched program, or in a test. The comment of each case names the
/// `ClientEvent` that is the reply. Each request has one JSON form (`RequestForms`).
package enum ClientRequest: Equatable, Sendable {
  /// Start a listener whose snapshots carry the tag.
  case listen(ListenerTag, Query, ListenerOptions)
  case unlisten(ListenerTag)
  /// Load the few documents that the browser shows, and keep them current. The reply is `windowLoaded` or
  /// `windowFailed`.
  case openWindow(WindowTag, Query)
  case closeWindow(WindowTag)
  /// Read a query's result once. The reply is `windowLoaded` or `windowFailed`.
  case ask(WindowTag, Query)
  /// Search all documents of a query with a filter, until `closeWindow`. The replies are `searched`, repeatedly, or
  /// `windowFailed`.
  case search(WindowTag, SearchRequest)
  /// Find the document at an offset in a query's result. The reply is `located`.
  case locate(WindowTag, Query, offset: Int)
  /// List the collections below a document or at the root. The reply is `collections`.
  case listCollections(below: ResourcePath)
  /// List the missing documents of a collection that have documents below them. The reply is `missingDocuments`.
  case listMissing(in: ResourcePath)
  /// Count a collection without reading its documents. The reply is `counted`.
  case count(ResourcePath)
  /// Open a document's detail. The reply is `detail`, now and after every change, until `closeDetail`, or
  /// `detailFailed`.
  case openDetail(DocumentKey)
  case closeDetail(DocumentKey)
  case setNetwork(enabled: Bool)
  /// Write one batch.
  case write([Mutation])
  /// Write an edited document. The reply is `editConflict` if another client changed an edited field.
  case edit(FieldEdit)
  /// Drop a batch that is not in flight.
  case cancelWrite(BatchID)
  /// Remove a batch that is not in flight from the queue, and store it with the rejected writes.
  case setWriteAside(BatchID)
  /// Undo the newest of the dashboard's own writes. The reply is `undoConflict` if the undo would overwrite later
  /// changes that the user has not agreed to lose.
  case undo(over: UndoConflict? = nil)
  /// Redo the last undone write.
  case redo(over: UndoConflict? = nil)
  /// Resend a rejected batch, or send other mutations in its place.
  case resend(BatchID, as: [Mutation]? = nil)
  /// Drop rejected batches.
  case dropRejected([BatchID])
  /// Skip any backoff.
  case retryNow
  /// Run a query on the cache and report its plan. The reply is `explained`.
  case explain(Query)
  /// While the user types a query, count the cached documents that match it and find the missing index. The work is
  /// bounded. Only the newest of several requests gets a reply, which is `previewed`.
  case preview(Query)
  /// Create the missing indexes for a query, so that the query need not scan the whole collection.
  case createIndexes(for: Query)
  case deleteIndexes
  /// Set whether queries that read many documents for few results create an index.
  case setIndexAutoCreation(Bool)
  /// Import or export directly at the server, bypassing the write queue. The replies are `transferring`, periodically,
  /// and `transferred` at the end. If a file would be replaced, the reply is `question` instead.
  case transfer(TransferRequest)
  case cancelTransfer
  /// Request the latest decisions of the server's security rules. The reply is `decisions`, unless the newest decision
  /// is already known.
  case listDecisions(after: Int?)
  /// Set the network faults; an empty setting ends them.
  case setFaults(FaultSettings)
  /// Inject a fault once, into the next call of its kind or immediately.
  case causeFault(FaultEvent)
  /// Report the client's targets, lookups and traffic. The reply is `inside`.
  case lookInside
  /// Count the cache by collection, and the documents that a garbage collection would remove. The reply is `surveyed`.
  case surveyCache
  /// Count the field types of a collection's cached documents. The reply is `fieldTypes`.
  case countFieldTypes(in: ResourcePath)
  /// Evict documents or tombstones from the cache, except those that are in use or that the server confirmed within the
  /// given time. A notice reports how many were evicted, and why others remain.
  case evict(EvictionScope, olderThan: Duration? = nil)
  /// Evict documents whose lifetime has expired. A report follows only if documents were evicted.
  case applyLifetimes
  /// Store a pin or a lifetime in the cache. It replaces one of the same kind for the same query. The reply is
  /// `retentions`.
  case retain(Retention)
  /// Remove a pin or a lifetime. The reply is `retentions`.
  case release(Retention)
  /// Close a stream and open another one immediately.
  case restartStream(StreamUse.Kind)
}

extension ClientRequest {
  /// The part of a client that a request concerns. It decides whether a watched program accepts the request.
  package enum Subject: Sendable {
    /// Shows documents, counts or state without changing the client.
    case view
    case listeners
    /// The network, its faults and the queue of pending writes. Such a request is allowed in a watched program with
    /// `--control`.
    case connection
    case documents, indexes, transfers, cache, rejectedWrites
  }

  package var subject: Subject {
    switch self {
    case .openWindow, .closeWindow, .ask, .search, .locate, .listCollections, .listMissing, .count, .openDetail,
      .closeDetail, .explain, .preview, .listDecisions, .lookInside, .surveyCache, .countFieldTypes:
      .view
    case .listen, .unlisten: .listeners
    case .setNetwork, .cancelWrite, .resend(_, as: nil), .dropRejected, .retryNow, .setFaults, .causeFault,
      .restartStream:
      .connection
    case .write, .edit, .undo, .redo, .resend: .documents
    case .createIndexes, .deleteIndexes, .setIndexAutoCreation: .indexes
    case .transfer, .cancelTransfer: .transfers
    case .evict, .applyLifetimes, .retain, .release: .cache
    case .setWriteAside: .rejectedWrites
    }
  }

  /// Whether the request changes the client, its cache or its network. A watcher may send it only with `--control`.
  package var isControl: Bool { subject != .view && subject != .listeners }

  /// The event for a request that failed.
  package func failed(_ status: RPCStatus) -> ClientEvent {
    switch self {
    case .listen(let tag, _, _): .listenerFailed(tag, status)
    case .openWindow(let tag, _), .ask(let tag, _), .search(let tag, _), .locate(let tag, _, _):
      .windowFailed(tag, status)
    case .listCollections(let parent): .collectionsUnlisted(below: parent, status)
    case .explain(let query): .explained(query, .failure(status))
    case .preview(let query): .previewed(query, .failure(status))
    case .listDecisions: .decisions(.failure(status))
    case .lookInside: .inside(.failure(status))
    case .surveyCache: .surveyed(.failure(status))
    case .countFieldTypes(let path): .fieldTypes(in: path, .failure(status))
    case .openDetail(let key), .closeDetail(let key): .detailFailed(key, status)
    default: .requestFailed(status)
    }
  }
}

/// A search through all documents of a query, with a filter that no query can express.
package struct SearchRequest: Hashable, Sendable {
  /// The query that bounds the search.
  package var query: Query
  /// The filter as typed after `/`; it applies to each document.
  package var filter: String
  /// The database of the documents.
  package var database: DatabaseID

  package init(_ query: Query, _ filter: String, in database: DatabaseID) {
    (self.query, self.filter, self.database) = (query, filter, database)
  }
}

/// An edit from the field editor, with the document that the author saw.
package struct FieldEdit: Equatable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Change the document.
    case document(DocumentKey)
    /// Create the document, which must not exist yet.
    case documentToCreate(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
  }

  package var subject: Subject
  /// The document that the author saw; empty for a new document.
  package var base: Fields
  /// The document after the edit. Fields that the server computes still have their old values.
  package var fields: Fields
  package var transforms: [FieldTransform]
  /// Whether the whole document is written, rather than only the changes.
  package var replaces: Bool

  package init(
    subject: Subject, base: Fields, fields: Fields, transforms: [FieldTransform], replaces: Bool = false
  ) {
    self.subject = subject
    self.base = base
    self.fields = fields
    self.transforms = transforms
    self.replaces = replaces
  }
}
