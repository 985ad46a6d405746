// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// An event that the client reports to the dashboard, in the vocabulary that both share: the dashboard knows neither
/// the engine nor a transport. Each has one JSON form (`EventForms`).
package enum ClientEvent: Sendable {
  /// The program whose client is shown has started a listener, or had it before; its number is its tag.
  case listenerStarted(ListenerState)
  /// A listener fired.
  case snapshot(ListenerSnapshot)
  /// A listener ended with an error; it will not fire again.
  case listenerFailed(ListenerTag, RPCStatus)
  /// The program whose client is shown has stopped a listener.
  case listenerStopped(ListenerTag)
  /// A number of snapshots was not reported; carries the present results of the listeners.
  case snapshotsMissed(Int, [ListenerTag: ListenerState.Result])
  /// The faults set in the program's network, by this dashboard or another.
  case faults(FaultSettings)
  /// The program has closed the client that is shown.
  case closed
  /// The program whose client is shown reports no more, for this reason.
  case attachmentEnded(String)
  /// A request failed whose answer is not an event of its own.
  case requestFailed(RPCStatus)
  /// The documents of a browser window, in the order of its query; again after every change.
  /// `total` is the number of documents in the collection, where it is known.
  case windowLoaded(WindowTag, [Document], isFromCache: Bool, total: Int?)
  /// A window, or the search for a row, ended with an error.
  case windowFailed(WindowTag, RPCStatus)
  /// A search has looked at further documents.
  case searched(WindowTag, SearchNews)
  /// The answer to `ClientRequest.locate`; no key where the query has no more documents than the offset. `cachedCount` is the
  /// number of documents in the cache, if the server could not be asked.
  case located(WindowTag, DocumentKey?, cachedCount: Int?)
  /// The ids of the collections below a document, or at the root.
  case collections(below: ResourcePath, [String])
  /// The backend does not list its collections; those of the cache were reported before.
  case collectionsUnlisted(below: ResourcePath, RPCStatus)
  /// The answer to `ClientRequest.listMissing`; empty for collections that are too large to search.
  case missingDocuments(in: ResourcePath, [DocumentKey])
  /// The answer to `ClientRequest.count`; of the cache's documents where the server could not be asked.
  case counted(ResourcePath, Int, isFromCache: Bool = false)
  /// Commits changed these collections; from now on each further commit is told.
  case committed(CommitNews)
  /// Commits are not told, or not any longer, for this reason.
  case commitsUnheard(String)
  /// Online state, streams, round trips: newest wins. Its lists have events of their own.
  case status(ClientStatus)
  /// The documents that the server sent for each target so far.
  case reads([ReadMeter])
  /// The data or the cache is not where the user expects it.
  case storage(StorageNotice)
  /// The other users of the embedded data, and the process that has it open.
  case company(DataCompany)
  /// The queue of batches that the backend has not acknowledged, oldest first; a long queue comes as its first and last
  /// batches and its size.
  case pendingWrites([PendingWrite], of: QueueSize? = nil)
  /// The backend acknowledged a batch; `after` is the time from sending to acknowledgement. Comes before the
  /// snapshots that contain the result (S3). `of` is the documents, for a batch that was answered before it was listed.
  case writeAcknowledged(BatchID, after: Duration?, of: WrittenDocuments? = nil)
  /// The backend refused a batch and its local effect was undone.
  case writeRejected(BatchID, RPCStatus)
  /// A batch was taken back before it was sent, and its local effect was undone.
  case writeCancelled(BatchID)
  /// The results of so many writes are unknown: there were too many between two reports of the program.
  case outcomesMissed(Int)
  /// All batches that the backend refused and that were neither sent again nor dropped since, oldest first.
  case rejectedWrites([RejectedWrite])
  /// Batches that the backend refused and that were given up because there is no room for more of them.
  case rejectedWritesForgotten([BatchID])
  /// The three layers of an open document: the backend's version as cached, the one mutation that sums up what is
  /// queued, and what listeners see; and whether the server has not confirmed it, where that is known.
  case detail(DocumentKey, remote: Document?, overlay: Mutation?, local: Document?, isFromCache: Bool? = nil)
  /// A write of this client replaced values that its author had not seen. Comes after its acknowledgement.
  case conflict(WriteConflict)
  /// The server answered a write. Told only where several clients share a screen; comes before `conflict`.
  case answered(AnsweredWrite)
  /// Another client of the screen and this one have written the same: told to both, once it is known.
  case contested(ClientConflict)
  /// The answer to `ClientRequest.explain`.
  case explained(Query, Result<QueryExplanation, RPCStatus>)
  /// The answer to `ClientRequest.listDecisions`.
  case decisions(Result<[RuleDecision], RPCStatus>)
  /// The answer to `ClientRequest.lookInside`.
  case inside(Result<ClientInside, RPCStatus>)
  /// The answer to `ClientRequest.surveyCache`.
  case surveyed(Result<CacheSurvey, RPCStatus>)
  /// The answer to `ClientRequest.countFieldTypes`.
  case fieldTypes(in: ResourcePath, Result<FieldTypes, RPCStatus>)
  /// The answer to `ClientRequest.preview`.
  case previewed(Query, Result<QueryPreview, RPCStatus>)
  /// All indexes of the cache, after every change and every step of filling one.
  case indexes([IndexState])
  /// All pins and lifetimes of the cache, after every change, also by another client of it.
  case retentions([Retention])
}

/// The name of one listener of the dashboard, chosen by the dashboard.
package struct ListenerTag: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerTag, right: ListenerTag) -> Bool { left.rawValue < right.rawValue }
}

/// The name of one window of the collection browser. Every move of a window gets a new tag; events with an old one are
/// dropped.
package struct WindowTag: Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}
