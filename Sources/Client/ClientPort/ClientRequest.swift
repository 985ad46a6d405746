// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request to a client: in this process, in a watched program, or in a test. The comment of a case names the
/// `ClientEvent` that replies to it. Each request has one JSON form (`RequestForms`).
package enum ClientRequest: Equatable, Sendable {
  /// Start a listener whose snapshots carry the tag.
  case listen(ListenerTag, Query, ListenerOptions)
  case unlisten(ListenerTag)
  /// Load the few documents that the browser shows, and keep them current; replies `windowLoaded` or `windowFailed`.
  case openWindow(WindowTag, Query)
  case closeWindow(WindowTag)
  /// Read a query's result once; replies `windowLoaded` or `windowFailed`.
  case ask(WindowTag, Query)
  /// Search all documents of a query for those that pass a filter, until `closeWindow`; replies `searched` repeatedly,
  /// or `windowFailed`.
  case search(WindowTag, SearchRequest)
  /// Find the document at an offset in a query's order; replies `located`.
  case locate(WindowTag, Query, offset: Int)
  /// List the collections below a document or at the root; replies `collections`.
  case listCollections(below: ResourcePath)
  /// List the missing documents of a collection that have documents below them; replies `missingDocuments`.
  case listMissing(in: ResourcePath)
  /// Count a collection without reading its documents; replies `counted`.
  case count(ResourcePath)
  /// Report an open document until it is closed; replies `detail` now and after every change, or
  /// `detailFailed`.
  case openDetail(DocumentKey)
  case closeDetail(DocumentKey)
  case setNetwork(enabled: Bool)
  /// Write one batch.
  case write([Mutation])
  /// Write an edited document; replies `editConflict` if another client changed an edited field.
  case edit(FieldEdit)
  /// Drop a batch that is not in flight.
  case cancelWrite(BatchID)
  /// Remove a batch that is not in flight from the queue, and store it with the rejected ones.
  case setWriteAside(BatchID)
  /// Undo the newest of the dashboard's own writes; replies `undoConflict` if that would overwrite changes that the
  /// user has not allowed.
  case undo(over: UndoConflict? = nil)
  /// Redo the last undone write.
  case redo(over: UndoConflict? = nil)
  /// Resend a rejected batch, or other mutations in its place.
  case resend(BatchID, as: [Mutation]? = nil)
  /// Drop rejected batches.
  case dropRejected([BatchID])
  /// Skip any backoff.
  case retryNow
  /// Run a query on the cache and report its plan; replies `explained`.
  case explain(Query)
  /// Count the cached documents that match a query while the user types it, and find the missing index, in bounded
  /// work. Only the newest of several requests is answered. Replies `previewed`.
  case preview(Query)
  /// Create the indexes that save a query a scan of the whole collection.
  case createIndexes(for: Query)
  case deleteIndexes
  /// Set whether queries that read many documents for few results create an index.
  case setIndexAutoCreation(Bool)
  /// Import or export at the server, bypassing the queue; replies `transferring` periodically and `transferred` at the
  /// end, or `question` if a file would be replaced.
  case transfer(TransferRequest)
  case cancelTransfer
  /// Request the latest decisions of the server's security rules; replies `decisions`, unless the newest decision is
  /// already known.
  case listDecisions(after: Int?)
  /// Set the network faults; an empty setting ends them.
  case setFaults(FaultSettings)
  /// Inject a fault once, into the next call of its kind or immediately.
  case causeFault(FaultEvent)
  /// Report the client's targets, lookups and traffic; replies `inside`.
  case lookInside
  /// Count the cache by collection, and the documents that a garbage collection would remove; replies `surveyed`.
  case surveyCache
  /// Count the field types of a collection's cached documents; replies `fieldTypes`.
  case countFieldTypes(in: ResourcePath)
  /// Evict documents or tombstones from the cache, unless they are in use or the server has confirmed them within a
  /// time. A notice reports the evicted count and why others remain.
  case evict(EvictionScope, olderThan: Duration? = nil)
  /// Evict documents whose lifetime has expired; reported only if any were evicted.
  case applyLifetimes
  /// Store a pin or a lifetime in the cache, replacing one of the same kind; replies `retentions`.
  case retain(Retention)
  /// Remove a pin or a lifetime; replies `retentions`.
  case release(Retention)
  /// Close a stream and open another one immediately.
  case restartStream(StreamUse.Kind)
}

extension ClientRequest {
  /// Whether the request changes the client, its cache or its network. A watcher may send it only with `--control`.
  package var isControl: Bool {
    switch self {
    case .listen, .unlisten, .openWindow, .closeWindow, .ask, .search, .locate, .listCollections, .listMissing, .count,
      .openDetail, .closeDetail, .explain, .preview, .listDecisions, .lookInside, .surveyCache, .countFieldTypes:
      false
    case .setNetwork, .write, .edit, .cancelWrite, .setWriteAside, .undo, .redo, .resend, .dropRejected, .retryNow,
      .createIndexes, .deleteIndexes, .setIndexAutoCreation, .transfer, .cancelTransfer, .setFaults,
      .causeFault, .evict, .applyLifetimes, .retain, .release, .restartStream:
      true
    }
  }

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

/// An edit from the field editor, with the document that its author saw.
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
  /// The document as its author saw it; empty for a new document.
  package var base: Fields
  /// The document after the edit; fields that the server computes have their old values.
  package var fields: Fields
  package var transforms: [FieldTransform]
  /// Whether the whole document is written, not only the changes.
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
