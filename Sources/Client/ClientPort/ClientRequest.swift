// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request to a client in this process, in a watched program, or in a test. The comment of each case names the
/// `ClientEvent` with which the client replies. Each request has one JSON form (`RequestForms`).
package enum ClientRequest: Equatable, Sendable {
  /// Start a listener whose snapshots carry the tag.
  case listen(ListenerTag, Query, ListenerOptions)
  case unlisten(ListenerTag)
  /// Load the few documents that the document browser shows, and report each change. The reply is `windowLoaded` or
  /// `windowFailed`.
  case openWindow(WindowTag, Query)
  case closeWindow(WindowTag)
  /// Read a query's result once. The reply is `windowLoaded` or `windowFailed`.
  case ask(WindowTag, Query)
  /// Search all documents of a query with a text filter, until `closeWindow`. The replies are any number of `searched`,
  /// or `windowFailed`.
  case search(WindowTag, SearchRequest)
  /// Find the document at an offset in a query's result. The reply is `located`.
  case locate(WindowTag, Query, offset: Int)
  /// List the collections below a document or at the root. The reply is `collections`.
  case listCollections(below: ResourcePath)
  /// List documents of a collection that do not exist but have subcollections. The reply is `missingDocuments`.
  case listMissing(in: ResourcePath)
  /// Count the documents of a collection without reading them. The reply is `counted`.
  case count(ResourcePath)
  /// Read a document and report each change, until `closeDetail`. The reply is `detail`, now and after every change, or
  /// `detailFailed`.
  case openDetail(DocumentKey)
  case closeDetail(DocumentKey)
  case setNetwork(enabled: Bool)
  /// Write one batch.
  case write([Mutation])
  /// Write an edited document. The reply is `editConflict` if another client changed an edited field.
  case edit(FieldEdit)
  /// Drop a pending batch that is not in flight.
  case cancelWrite(BatchID)
  /// Remove a batch that is not in flight from the queue, and store it with the rejected writes.
  case setWriteAside(BatchID)
  /// Undo the newest write that was made in the dashboard. The reply is `undoConflict` if the undo would overwrite
  /// later changes, unless the user has already confirmed this conflict.
  case undo(over: UndoConflict? = nil)
  /// Redo the last undone write.
  case redo(over: UndoConflict? = nil)
  /// Resend a rejected batch, or send other mutations in its place.
  case resend(BatchID, as: [Mutation]? = nil)
  /// Drop rejected batches.
  case dropRejected([BatchID])
  /// Connect now, without waiting for the end of a backoff delay.
  case retryNow
  /// Run a query on the cache and explain its plan. The reply is `explained`.
  case explain(Query)
  /// While the user types a query, count the cached documents that match it and find the missing index. The amount of
  /// work is limited. If there are several requests, only the newest gets a reply, which is `previewed`.
  case preview(Query)
  /// Create the missing indexes for a query, so that the query need not scan the whole collection.
  case createIndexes(for: Query)
  case deleteIndexes
  /// Set whether the client creates an index when a query reads many documents for few results.
  case setIndexAutoCreation(Bool)
  /// Import or export directly at the server, bypassing the write queue. The replies are `transferring`, periodically,
  /// and `transferred` at the end. If a file would be replaced, the reply is `question` instead.
  case transfer(TransferRequest)
  case cancelTransfer
  /// Request the latest allow and deny decisions of the server's security rules. The reply is `decisions`, unless the
  /// caller already has the newest decision.
  case listDecisions(after: Int?)
  /// Set the network faults. Empty settings end all faults.
  case setFaults(FaultSettings)
  /// Inject a fault once, into the next call of its kind or immediately.
  case causeFault(FaultEvent)
  /// Report the client's targets, lookups and traffic. The reply is `inside`.
  case lookInside
  /// Count the cached documents of each collection, and the documents that a garbage collection would evict. The reply
  /// is `surveyed`.
  case surveyCache
  /// Count the field types of a collection's cached documents. The reply is `fieldTypes`.
  case countFieldTypes(in: ResourcePath)
  /// Evict documents or tombstones from the cache, except those that are in use or that the server confirmed within the
  /// given time. A notice reports how many were evicted, and why the others were not.
  case evict(EvictionScope, olderThan: Duration? = nil)
  /// Evict documents whose lifetime has expired. A notice follows only if documents were evicted.
  case applyLifetimes
  /// Store a pin (keep the query's documents) or a lifetime (evict them after a time) in the cache. It replaces an
  /// existing one of the same kind for the same query. The reply is `retentions`.
  case retain(Retention)
  /// Remove a pin or a lifetime. The reply is `retentions`.
  case release(Retention)
  /// Close a stream and immediately open a new one.
  case restartStream(StreamUse.Kind)
}

extension ClientRequest {
  /// The part of a client that a request affects. It determines whether a watched program accepts the request.
  package enum Subject: Sendable {
    /// Only reads documents, counts or state.
    case view
    case listeners
    /// The network, its faults, and the pending or rejected writes. A watched program accepts such a request only from
    /// a watcher that was started with `--control`.
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

  /// Whether the request changes the client, its cache or its network. A watcher needs `--control` to send it.
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

/// A search through all documents of a query, with a filter that Firestore queries cannot express.
package struct SearchRequest: Hashable, Sendable {
  /// The query that selects the documents to search.
  package var query: Query
  /// The filter as the user typed it after `/`. It is applied to each document.
  package var filter: String
  /// The database of the documents.
  package var database: DatabaseID

  package init(_ query: Query, _ filter: String, in database: DatabaseID) {
    (self.query, self.filter, self.database) = (query, filter, database)
  }
}

/// An edit from the field editor, together with the document that the author saw.
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
  /// The document after the edit. Fields that the server will compute still have their old values.
  package var fields: Fields
  package var transforms: [FieldTransform]
  /// Whether to write the whole document instead of only the changes.
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
