// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// An event that the client reports to the dashboard, in their shared vocabulary. The dashboard depends on neither the
/// engine nor a transport. Each event has one JSON form (`EventForms`).
package enum ClientEvent: Sendable {
  /// The watched program has started a listener, or had it before. The tag is the listener's number.
  case listenerStarted(ListenerState)
  /// A listener delivered a snapshot.
  case snapshot(ListenerSnapshot)
  /// A listener ended with an error and delivers no more snapshots.
  case listenerFailed(ListenerTag, RPCStatus)
  /// The watched program has stopped a listener.
  case listenerStopped(ListenerTag)
  /// A number of snapshots was not reported. Carries the current results of the listeners.
  case snapshotsMissed(Int, [ListenerTag: ListenerState.Result])
  /// The faults between the client and its backend, and the one-time faults that have not happened yet.
  case faults(FaultSettings, waiting: [FaultEvent])
  /// A proxy saw a connection or a call of its clients begin or end, or a fault hit.
  case traffic(ProtocolEvent)
  /// The watched program has closed the client.
  case closed
  /// The watched program stopped reporting, for this reason.
  case attachmentEnded(String)
  /// A request without its own reply event failed.
  case requestFailed(RPCStatus)
  /// The documents of a browser window in query order, sent again after every change. `total` is the collection's
  /// document count, if known.
  case windowLoaded(WindowTag, [Document], isFromCache: Bool, total: Int?)
  /// A window, or the search for a row, ended with an error.
  case windowFailed(WindowTag, RPCStatus)
  /// A search has examined more documents.
  case searched(WindowTag, SearchUpdate)
  /// The reply to `ClientRequest.locate`; no key if the query has no more documents than the offset. `cachedCount` is
  /// the cache's document count if the server is unreachable.
  case located(WindowTag, DocumentKey?, cachedCount: Int?)
  /// The ids of the collections below a document, or at the root.
  case collections(below: ResourcePath, [String])
  /// The backend cannot list its collections; the cached collections were reported before.
  case collectionsUnlisted(below: ResourcePath, RPCStatus)
  /// The reply to `ClientRequest.listMissing`; empty for collections that are too large to search.
  case missingDocuments(in: ResourcePath, [DocumentKey])
  /// The reply to `ClientRequest.count`; counts the cached documents if the server is unreachable.
  case counted(ResourcePath, Int, isFromCache: Bool = false)
  /// Commits changed these collections; from now on each commit is reported.
  case committed(CommitUpdate)
  /// Commits are not reported, or no longer reported, for this reason.
  case commitsUnheard(String)
  /// Online state, streams, round trips. The newest event replaces older ones. The lists have separate events.
  case status(ClientStatus)
  /// The count of documents that the server has sent for each target.
  case reads([ReadMeter])
  /// The data or the cache is not in the expected place.
  case storage(StorageNotice)
  /// The other users of the embedded data, and the process that has it open.
  case peers(DataPeers)
  /// The pending batches, oldest first. A long queue is sent as its first and last batches and its size.
  case pendingWrites([PendingWrite], of: QueueSize? = nil)
  /// The backend acknowledged a batch; `after` is the time from sending to acknowledgement. Sent before the snapshots
  /// that contain the result (S3). `of` has the documents of a batch that was answered before it was listed.
  case writeAcknowledged(BatchID, after: Duration?, of: WrittenDocuments? = nil)
  /// The backend rejected a batch and its local effect was undone.
  case writeRejected(BatchID, RPCStatus)
  /// A batch was cancelled before it was sent, and its local effect was undone.
  case writeCancelled(BatchID)
  /// The outcomes of N writes are unknown: there were too many between two reports of the program.
  case outcomesMissed(Int)
  /// All rejected batches that were neither resent nor dropped, oldest first.
  case rejectedWrites([RejectedWrite])
  /// Rejected batches that were dropped because the store of rejected writes is full.
  case rejectedWritesForgotten([BatchID])
  /// The three layers of an open document: the cached version of the backend, one mutation that combines the pending
  /// writes, and the listeners' version. Also whether the server has not confirmed it, if known.
  case detail(DocumentKey, remote: Document?, overlay: Mutation?, local: Document?, isFromCache: Bool? = nil)
  /// The open document cannot be read; no more `detail` follows.
  case detailFailed(DocumentKey, RPCStatus)
  /// A write of this client replaced values that its author had not seen. Sent after its acknowledgement.
  case conflict(WriteConflict)
  /// The server answered a write. Sent only if several clients share a screen; precedes `conflict`.
  case answered(AnsweredWrite)
  /// Another client on the screen and this one wrote to the same document. Sent to both once it is known.
  case contested(ClientConflict)
  /// The reply to `ClientRequest.explain`.
  case explained(Query, Result<QueryExplanation, RPCStatus>)
  /// The reply to `ClientRequest.listDecisions`.
  case decisions(Result<[RuleDecision], RPCStatus>)
  /// The reply to `ClientRequest.lookInside`.
  case inside(Result<ClientInside, RPCStatus>)
  /// The reply to `ClientRequest.surveyCache`.
  case surveyed(Result<CacheSurvey, RPCStatus>)
  /// The reply to `ClientRequest.countFieldTypes`.
  case fieldTypes(in: ResourcePath, Result<FieldTypes, RPCStatus>)
  /// The reply to `ClientRequest.preview`.
  case previewed(Query, Result<QueryPreview, RPCStatus>)
  /// All indexes of the cache, after every change and every step of building one.
  case indexes([IndexState])
  /// All pins and lifetimes of the cache, after every change, including changes by its other clients.
  case retentions([Retention])
}

/// The dashboard's name for one of its listeners.
package struct ListenerTag: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerTag, right: ListenerTag) -> Bool { left.rawValue < right.rawValue }
}

/// The name of one window of the collection browser. Every move of a window gets a new tag; events with an old tag are
/// dropped.
package struct WindowTag: Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}
