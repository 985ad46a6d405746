// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request of the dashboard to its surroundings. `update` returns these; each kind is performed in one place of the
/// command.
package enum Effect: Equatable, Sendable {
  case client(ClientEffect)
  case terminal(TerminalEffect)
  /// A request to `DashboardSession`, which knows the session's history.
  case timeline(TimelineEffect)
  case recording(RecordingEffect)
  /// A request to `ClientStage`, which knows the clients that share the screen.
  case stage(StageEffect)
}

/// A request to the client; the text names the `ClientEvent` that answers it.
package enum ClientEffect: Equatable, Sendable {
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
  case injectFault(WriteFault)
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

/// A request to the terminal, or to the process that has it.
package enum TerminalEffect: Equatable, Sendable {
  /// Suspend the screen, run the user's editor on the text and write the result, or answer `editorFailed`.
  case edit(EditRequest)
  case copy(String)
  case setTheme(String)
  /// Remember the theme for the next start.
  case rememberTheme(String)
  /// Remember these commands of the palette for the next start, newest last.
  case rememberCommands([String])
  case setMouse(Bool)
  /// Draw with the characters that the terminal's locale has.
  case adoptGlyphs
  /// Read the user's files again, and say what has changed.
  case readAgain
  /// Write listeners to a file that `openListeners` reads; answers `question` if the file exists.
  case saveListeners([ListenerDefinition], file: String, replaces: Bool = false)
  /// Read listeners from a file; answers `listenersRead`, and a notice for each that cannot be read.
  case openListeners(file: String)
  /// Give the terminal back until the process is continued.
  case suspend
  /// Paint every cell again.
  case redraw
  case quit(code: Int32)
  /// Play a shipped scenario on this screen, in a world of its own.
  case playScenario(String)
}

/// A text for the user's editor, and the purpose of its result.
package struct EditRequest: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Replace the document.
    case document(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
    /// Create the document, which must not exist yet.
    case documentToCreate(DocumentKey)
    /// Send a rejected batch again in another form; the text is in the form of `WriteJSON`.
    case rejectedWrite(BatchID)
  }

  package var subject: Subject
  /// The JSON that the editor starts with.
  package var text: String
  /// The JSON that edits are compared with: the text of the first start of the editor.
  package let original: String

  /// - Parameter original: `nil` for the text itself.
  package init(_ subject: Subject, text: String, original: String? = nil) {
    self.subject = subject
    self.text = text
    self.original = original ?? text
  }
}

/// A change of the clients on the screen. Performed by `ClientStage`.
package enum StageEffect: Equatable, Sendable {
  /// Open a client with a cache of its own, and give it the focus.
  case add(name: String, user: String?)
  /// End a client, with what waits in its cache.
  case remove(name: String)
  /// Let the keys act on a client.
  case focus(name: String)
  case focusNext
  /// Fill the screen with the client that has the focus, or show all again.
  case toggleZoom
  /// Stop the scenario that is played, let it go on, or change its pace.
  case scenario(ScenarioControl)
}

/// The bytes and frames that the screen has sent to the terminal so far.
package struct TerminalTraffic: Hashable, Sendable {
  package var bytes: Int
  package var frames: Int

  package init(bytes: Int, frames: Int) {
    self.bytes = bytes
    self.frames = frames
  }
}
