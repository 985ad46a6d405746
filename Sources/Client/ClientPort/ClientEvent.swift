// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// An event that the client reports to the dashboard. The dashboard receives only these events, so it depends on
/// neither the engine nor a transport. Each event has one JSON form (`EventForms`).
package enum ClientEvent: Sendable {
  /// The watched program started a listener, or the listener already existed when watching began. The tag is the
  /// listener's number.
  case listenerStarted(ListenerState)
  /// A listener delivered a snapshot.
  case snapshot(ListenerSnapshot)
  /// A listener ended with an error and delivers no more snapshots.
  case listenerFailed(ListenerTag, RPCStatus)
  /// The watched program has stopped a listener.
  case listenerStopped(ListenerTag)
  /// Some snapshots were not reported. The values are the number of these snapshots and the listeners' current results.
  case snapshotsMissed(Int, [ListenerTag: ListenerState.Result])
  /// The active faults between the client and its backend, and the one-time faults that have not been injected yet.
  case faults(FaultSettings, waiting: [FaultEvent])
  /// A client's connection or call at a proxy began or ended, or the proxy injected a fault.
  case traffic(ProtocolEvent)
  /// The watched program has closed the client.
  case closed
  /// The watched program stopped reporting. The text contains the reason.
  case attachmentEnded(String)
  /// A request without a specific error event failed; the status is the reason.
  case requestFailed(RPCStatus)
  /// The documents of one window of the document browser, in query order. Sent again after every change. `total` is the
  /// collection's document count, if known.
  case windowLoaded(WindowTag, [Document], isFromCache: Bool, total: Int?)
  /// A browser window, or a search in a window, ended with an error.
  case windowFailed(WindowTag, RPCStatus)
  /// A search examined more documents.
  case searched(WindowTag, SearchUpdate)
  /// The reply to `ClientRequest.locate`. The key is `nil` if the offset is beyond the query's last document.
  /// `cachedCount` is the cache's document count if the server is unreachable.
  case located(WindowTag, DocumentKey?, cachedCount: Int?)
  /// The ids of the collections below a document, or at the root.
  case collections(below: ResourcePath, [String])
  /// The backend cannot list its collections. A preceding event reported the cached collections.
  case collectionsUnlisted(below: ResourcePath, RPCStatus)
  /// The reply to `ClientRequest.listMissing`; empty for collections that are too large to search.
  case missingDocuments(in: ResourcePath, [DocumentKey])
  /// The reply to `ClientRequest.count`. If the server is unreachable, this is the number of cached documents.
  case counted(ResourcePath, Int, isFromCache: Bool = false)
  /// Commits changed these collections. From now on, the client reports each commit.
  case committed(CommitUpdate)
  /// The client cannot report commits, or has stopped reporting them. The text contains the reason.
  case commitsUnheard(String)
  /// The online state, the streams and the round-trip times. A newer event replaces older ones. The lists in the status
  /// are reported by separate events.
  case status(ClientStatus)
  /// The number of documents that the server has sent for each target.
  case reads([ReadMeter])
  /// A storage problem: the data or the cache is not where the user expects it.
  case storage(StorageNotice)
  /// The processes that use the embedded data, and the process that has it open.
  case peers(DataPeers)
  /// The pending batches, oldest first. For a long queue, the event contains only the first and last batches, and the
  /// queue's size.
  case pendingWrites([PendingWrite], of: QueueSize? = nil)
  /// The backend acknowledged a batch; `after` is the time from sending to acknowledgement. Sent before the snapshots
  /// that contain the result (S3). If the server answered before any event listed the batch, `of` contains the batch's
  /// documents.
  case writeAcknowledged(BatchID, after: Duration?, of: WrittenDocuments? = nil)
  /// The backend rejected a batch, and the client undid the batch's local effect.
  case writeRejected(BatchID, RPCStatus)
  /// A batch was cancelled before it was sent, and the client undid the batch's local effect.
  case writeCancelled(BatchID)
  /// The number of writes whose outcomes are unknown, because too many writes finished between two of the program's
  /// reports.
  case outcomesMissed(Int)
  /// All rejected batches that were neither resent nor dropped, oldest first.
  case rejectedWrites([RejectedWrite])
  /// The client dropped these rejected batches because its store of rejected writes is full.
  case rejectedWritesForgotten([BatchID])
  /// The three versions of an open document: the backend's version in the cache, one mutation that combines the pending
  /// writes, and the version that listeners see. `isFromCache` is true if the server has not confirmed the document;
  /// `nil` if unknown.
  case detail(DocumentKey, remote: Document?, overlay: Mutation?, local: Document?, isFromCache: Bool? = nil)
  /// The open document cannot be read. No more `detail` events follow.
  case detailFailed(DocumentKey, RPCStatus)
  /// A write of this client replaced values that its author had not seen. Sent after the acknowledgement of the write.
  case conflict(WriteConflict)
  /// The server answered a write. Sent before `conflict`, and only if the dashboard shows several clients.
  case answered(AnsweredWrite)
  /// Another client on the dashboard and this client wrote to the same document. Both clients get this event as soon as
  /// the conflict is detected.
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
  /// All local indexes of the cache. Sent after every change, and whenever building an index progresses.
  case indexes([IndexState])
  /// The cache's rules for keeping documents (pins) and for evicting them after a time (lifetimes). Sent after every
  /// change, including changes by other clients of the cache.
  case retentions([Retention])
}

/// The dashboard's name for one of its listeners.
package struct ListenerTag: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerTag, right: ListenerTag) -> Bool { left.rawValue < right.rawValue }
}

/// The identity of one window of the collection browser. A window gets a new tag whenever it moves. Events with an old
/// tag are ignored.
package struct WindowTag: Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}
