// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// What the client tells the dashboard, in the vocabulary that both share: the dashboard knows neither the engine nor a
/// transport. What it carries can be encoded, since sessions are recorded.
package enum ClientEvent: Codable, Sendable {
  /// A listener fired.
  case snapshot(ListenerSnapshot)
  /// A listener ended with an error; it will not fire again.
  case listenerFailed(ListenerTag, RPCStatus)
  /// The program whose client this shows stopped a listener.
  case listenerStopped(ListenerTag)
  /// So many snapshots were not told, and what listeners have now.
  case snapshotsMissed(Int, [ListenerTag: ListenerState.Result])
  /// How the program's network is disturbed, by whomever.
  case faults(FaultSettings)
  /// Nothing more is told of the program whose client this shows, for this reason.
  case attachmentEnded(String)
  /// The documents of a browser window, in the order of its query; again after every change.
  /// `total` is the number of documents in the collection, where it is known.
  case windowLoaded(WindowTag, [Document], isFromCache: Bool, total: Int?)
  /// A window, or the search for a row, ended with an error.
  case windowFailed(WindowTag, RPCStatus)
  /// The answer to `Effect.locate`; no key where the query has no more documents than were to be passed over.
  /// `cachedCount` is how many the cache has, where the server could not be asked.
  case located(WindowTag, DocumentKey?, cachedCount: Int?)
  /// The ids of the collections below a document, or at the root.
  case collections(below: ResourcePath, [String])
  /// The backend does not say which collections there are; those of the cache are told before.
  case collectionsUnlisted(below: ResourcePath, RPCStatus)
  /// The answer to `Effect.listMissing`; none for collections that are too large to look through.
  case missingDocuments(in: ResourcePath, [DocumentKey])
  /// The answer to `Effect.count`.
  case counted(ResourcePath, Int)
  /// Online state, streams, round trips: newest wins.
  case status(ClientStatus)
  /// Data or cache are not kept where the user expects them.
  case storage(StorageNotice)
  /// Who uses the embedded data besides, and which process has it open.
  case company(DataCompany)
  /// The queue of batches that the backend has not acknowledged, oldest first; of a long one its first and its last,
  /// and how much it is in all.
  case pendingWrites([PendingWrite], of: QueueSize? = nil)
  /// The backend acknowledged a batch; `after` is the time from sending to acknowledgement. Comes before the
  /// snapshots that contain the result (S3).
  case writeAcknowledged(BatchID, after: Duration?)
  /// The backend refused a batch and its local effect was undone.
  case writeRejected(BatchID, RPCStatus)
  /// A batch was taken back before it was sent, and its local effect was undone.
  case writeCancelled(BatchID)
  /// All batches that the backend refused and that were neither sent again nor dropped since, oldest first.
  case rejectedWrites([RejectedWrite])
  /// Batches that the backend refused and that were given up because there is no room for more of them.
  case rejectedWritesForgotten([BatchID])
  /// The three layers of an open document: the backend's version as cached, the one mutation that sums up what is
  /// queued, and what listeners see.
  case detail(DocumentKey, remote: Document?, overlay: Mutation?, local: Document?)
  /// A write of this client replaced what its author had not seen. Comes after its acknowledgement.
  case conflict(WriteConflict)
  /// An edited document was changed in the same fields while the editor was open: nothing is written yet.
  case editConflict(EditConflict)
  /// A write cannot be taken back, or done again, without overwriting what came after it: nothing is written yet.
  case undoConflict(UndoConflict)
  /// The text that came back from the editor cannot be written. The text is kept, so that nothing typed is lost.
  case editorFailed(EditRequest, line: Int, column: Int, reason: String)
  /// The user's editor could not be run, or ended without a text to be written.
  case editorGaveUp(String)
  /// The answer to `Effect.explain`.
  case explained(Query, ExplanationResult)
  /// The answer to `Effect.listDecisions`.
  case decisions(DecisionsResult)
  /// The answer to `Effect.preview`.
  case previewed(Query, PreviewResult)
  /// All indexes of the cache, after every change and every step of filling one.
  case indexes([IndexState])
  case transferring(TransferState)
  /// The end of what `Effect.transfer` began.
  case transferred(TransferAccount)
  /// The answer to `TerminalEffect.openListeners`: those that could be read, and how the file is called.
  case listenersRead([ListenerDefinition], from: String)
  /// What is not done before the user has said so: the effects of the action, which is named.
  case question(title: String, body: [String], action: String, HeldEffects)
  /// Something the user should read.
  case notice(Toast.Kind, String)
}

extension ClientEvent {
  package enum ExplanationResult: Codable, Sendable {
    case success(QueryExplanation)
    case failure(RPCStatus)
  }

  package enum DecisionsResult: Codable, Sendable {
    case success([RuleDecision])
    case failure(RPCStatus)
  }

  package enum PreviewResult: Codable, Sendable {
    case success(QueryPreview)
    case failure(RPCStatus)
  }
}

/// Effects that wait for a user's word. They are what this program would do, and not part of a recording.
package struct HeldEffects: Codable, Sendable {
  package var effects: [Effect]

  package init(_ effects: [Effect]) { self.effects = effects }

  package init(from decoder: any Decoder) { effects = [] }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(true)
  }
}

/// Names one listener of the dashboard, as chosen by the dashboard.
package struct ListenerTag: Codable, Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerTag, right: ListenerTag) -> Bool { left.rawValue < right.rawValue }
}

/// Names one window of the collection browser. Every move of a window gets a new tag; events with an old one are
/// dropped.
package struct WindowTag: Codable, Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// A line that appears for a while above the footer.
package struct Toast: Hashable, Sendable {
  package enum Kind: Codable, Hashable, Sendable { case info, warning, error }

  package var kind: Kind
  package var text: String
  package var shownAt: Timestamp

  package init(_ kind: Kind, _ text: String, shownAt: Timestamp) {
    self.kind = kind
    self.text = text
    self.shownAt = shownAt
  }

  /// 2 s, errors and warnings 4 s: long enough to read a line, and lazygit's users agree.
  package var expiry: Timestamp { shownAt.advanced(seconds: kind == .info ? 2 : 4) }
}
