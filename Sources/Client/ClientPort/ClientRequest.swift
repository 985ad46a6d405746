// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request to a client: the client of this process, of a watched program, or of a test. The text of a case names the
/// `ClientEvent` that answers it. Each has one JSON form (`RequestForms`).
package enum ClientRequest: Equatable, Sendable {
  /// Start a listener whose snapshots come back under the tag.
  case listen(ListenerTag, Query, ListenerOptions)
  case unlisten(ListenerTag)
  /// Read, and keep reading, the few documents that the browser shows; answers `windowLoaded` or `windowFailed`.
  case openWindow(WindowTag, Query)
  case closeWindow(WindowTag)
  /// Read a query's result once; answers `windowLoaded` or `windowFailed`.
  case ask(WindowTag, Query)
  /// Look through all documents of a query for those that pass a filter, until `closeWindow`; answers `searched` again
  /// and again, or `windowFailed`.
  case search(WindowTag, SearchRequest)
  /// Find the document at an offset in a query's order; answers `located`.
  case locate(WindowTag, Query, offset: Int)
  /// List the collections below a document or at the root; answers `collections`.
  case listCollections(below: ResourcePath)
  /// List the documents of a collection that do not exist while documents below them do; answers `missingDocuments`.
  case listMissing(in: ResourcePath)
  /// Count a collection without reading its documents; answers `counted`.
  case count(ResourcePath)
  /// Report an open document until it is closed; answers `detail` now and after every change.
  case openDetail(DocumentKey)
  case closeDetail(DocumentKey)
  case setNetwork(enabled: Bool)
  /// Write one batch.
  case write([Mutation])
  /// Write an edited document; answers `editConflict` if another client changed an edited field.
  case edit(FieldEdit)
  /// Drop a batch that is not in flight.
  case cancelWrite(BatchID)
  /// Take a batch out of the queue that is not in flight, and keep it among the rejected ones.
  case setWriteAside(BatchID)
  /// Undo the newest of the dashboard's own writes; answers `undoConflict` if that would overwrite changes other than
  /// those that the user has allowed.
  case undo(over: UndoConflict? = nil)
  /// Redo the write that was undone last.
  case redo(over: UndoConflict? = nil)
  /// Queue a rejected batch again, or other mutations in its place.
  case resend(BatchID, as: [Mutation]? = nil)
  /// Forget rejected batches.
  case dropRejected([BatchID])
  /// Skip any backoff.
  case retryNow
  /// Answer a query from the cache and report the way it was done; answers `explained`.
  case explain(Query)
  /// Count the documents of the cache that match a query while it is being written, and find the index that it lacks,
  /// in bounded work; of several questions only the newest is answered. Answers `previewed`.
  case preview(Query)
  /// Create the indexes that save a query from reading the whole collection.
  case createIndexes(for: Query)
  case deleteIndexes
  /// Set whether queries that read many documents for few results create an index for the next time.
  case setIndexAutoCreation(Bool)
  /// Import or export at the server, past the queue; answers `transferring` now and then, and `transferred` at the end,
  /// or `question` where a file would be replaced.
  case transfer(TransferRequest)
  case cancelTransfer
  /// Ask the server for the latest decisions of its security rules; answers `decisions`, unless the number of the
  /// newest is the known one.
  case listDecisions(after: Int?)
  /// Set the faults of the network, also to none.
  case setFaults(FaultSettings)
  /// Let a fault happen once, to the next call of its kind or at once.
  case causeFault(FaultEvent)
  /// Tell what the client watches, looks up, sends and receives; answers `inside`.
  case lookInside
  /// Count the cache by collection, and what a garbage collection would take; answers `surveyed`.
  case surveyCache
  /// Count the types of the fields of a collection's documents in the cache; answers `fieldTypes`.
  case countFieldTypes(in: ResourcePath)
  /// Remove documents from the cache, or the knowledge of those that do not exist, unless something holds them, or the
  /// server has confirmed them within a time; a notice tells how many left and why others stay.
  case evict(EvictionScope, olderThan: Duration? = nil)
  /// Remove what has outlived its lifetime; told only if something left.
  case applyLifetimes
  /// Store a pin or a lifetime in the cache, in place of one of the same kind; answers `retentions`.
  case retain(Retention)
  /// Take back a pin or a lifetime; answers `retentions`.
  case release(Retention)
  /// Give a stream up and begin another one at once.
  case restartStream(StreamUse.Kind)
}

extension ClientRequest {
  /// Whether the request changes the client, its cache or its network: a watcher may send it only with `--control`.
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
    case .openDetail(let key), .closeDetail(let key):
      .requestFailed(RPCStatus(status.code, "\(key): \(status.message)", isForeign: status.isForeign))
    default: .requestFailed(status)
    }
  }
}

/// A search through all documents of a query, whose filter no query can ask for.
package struct SearchRequest: Hashable, Sendable {
  /// The query that bounds the search.
  package var query: Query
  /// The filter as it is typed after `/`; each document is checked with it.
  package var filter: String
  /// The database of the documents.
  package var database: DatabaseID

  package init(_ query: Query, _ filter: String, in database: DatabaseID) {
    (self.query, self.filter, self.database) = (query, filter, database)
  }
}

/// The edit that the field editor asks to be written, with the document that its author saw.
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
  /// The document as its author saw it; empty for one to be created.
  package var base: Fields
  /// The document after the edit; fields that the server computes have their old values.
  package var fields: Fields
  package var transforms: [FieldTransform]
  /// Whether the document is written as a whole, and not only what was changed.
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
