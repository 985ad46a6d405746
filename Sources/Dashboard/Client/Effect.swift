// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// What the dashboard wants done. `update` returns these; each kind is performed in one place of the command.
package enum Effect: Equatable, Sendable {
  case client(ClientEffect)
  case terminal(TerminalEffect)
  /// For `DashboardSession`, which knows what was seen before.
  case timeline(TimelineEffect)
  case recording(RecordingEffect)
}

/// What the client is to do, and which `ClientEvent` answers.
package enum ClientEffect: Equatable, Sendable {
  /// Start a listener whose snapshots come back under the tag.
  case listen(ListenerTag, Query, ListenerOptions)
  case unlisten(ListenerTag)
  /// Read, and keep reading, the few documents that the browser shows; answers `windowLoaded` or `windowFailed`.
  case openWindow(WindowTag, Query)
  case closeWindow(WindowTag)
  /// Find the document that has so many before it in a query's order; answers `located`.
  case locate(WindowTag, Query, offset: Int)
  /// Answers `collections`.
  case listCollections(below: ResourcePath)
  /// List the documents of a collection that do not exist while documents below them do; answers `missingDocuments`.
  case listMissing(in: ResourcePath)
  /// Count a collection without reading its documents; answers `counted`.
  case count(ResourcePath)
  /// Answers `detail` now and after every change, until closed.
  case openDetail(DocumentKey)
  case closeDetail(DocumentKey)
  case setNetwork(enabled: Bool)
  /// Write one batch.
  case write([Mutation])
  /// Write an edited document; answers `editConflict` where somebody else changed what is edited.
  case edit(FieldEdit)
  /// Drop a batch that is not in flight.
  case cancelWrite(BatchID)
  /// Take the newest of the dashboard's own writes back; answers `undoConflict` where that would overwrite other changes
  /// than those that the user has allowed.
  case undo(over: UndoConflict? = nil)
  /// Do the write again that was taken back last.
  case redo(over: UndoConflict? = nil)
  /// Queue a rejected batch again, or other mutations in its place.
  case resend(BatchID, as: [Mutation]? = nil)
  /// Forget rejected batches.
  case dropRejected([BatchID])
  /// Skip any backoff.
  case retryNow
  /// Answer a query from the cache and say how that was done; answers `explained`.
  case explain(Query)
  /// Say how many documents of the cache match a query that is being written, and which index it lacks, in bounded work;
  /// of several questions only the newest is answered. Answers `previewed`.
  case preview(Query)
  /// Make the indexes that spare reading the whole collection for a query.
  case createIndexes(for: Query)
  case deleteIndexes
  /// Whether queries that read many documents for few make an index for the next time.
  case setIndexAutoCreation(Bool)
  /// Import or export at the server, past the queue; answers `transferring` now and then, and `transferred` at the end,
  /// or `question` where a file would be replaced.
  case transfer(TransferRequest)
  case cancelTransfer
  /// Ask the server what its security rules have decided last; answers `decisions`, unless the newest has the number
  /// that is known.
  case listDecisions(after: Int?)
  /// Disturb the network as given, also calm it.
  case setFaults(FaultSettings)
  case injectFault(WriteFault)
}

/// What the terminal, and the process that has it, is to do.
package enum TerminalEffect: Equatable, Sendable {
  /// Suspend the screen, run the user's editor on the text and write the result, or answer `editorFailed`.
  case edit(EditRequest)
  case copy(String)
  case setTheme(String)
  /// Show the theme at the next start too.
  case rememberTheme(String)
  /// Have these commands of the palette at the next start too, newest last.
  case rememberCommands([String])
  case setMouse(Bool)
  /// Write listeners to a file that `openListeners` reads; answers `question` where there is one already.
  case saveListeners([ListenerDefinition], file: String, replaces: Bool = false)
  /// Read listeners from a file; answers `listenersRead`, and a notice for each that cannot be read.
  case openListeners(file: String)
  /// Give the terminal back until the process is continued.
  case suspend
  /// Paint every cell again.
  case redraw
  case quit(code: Int32)
}

/// A text for the user's editor, and what becomes of it.
package struct EditRequest: Codable, Hashable, Sendable {
  package enum Subject: Codable, Hashable, Sendable {
    /// Replace the document.
    case document(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
    /// Make the document, which must not be there yet.
    case documentToCreate(DocumentKey)
    /// Send a rejected batch again in another form; its text is that of `WriteJSON`.
    case rejectedWrite(BatchID)
  }

  package var subject: Subject
  /// The JSON the editor starts with.
  package var text: String
  /// The JSON that edits are compared with: what the editor started with the first time.
  package let original: String

  package init(_ subject: Subject, text: String) {
    self.subject = subject
    self.text = text
    original = text
  }
}
