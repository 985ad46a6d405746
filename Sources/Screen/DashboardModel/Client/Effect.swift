// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// A request of the dashboard to its surroundings. `update` returns these; each kind is performed in one place of the
/// command.
package enum Effect: Equatable, Sendable {
  case client(ClientRequest)
  case terminal(TerminalEffect)
  /// A request to `DashboardSession`, which knows the session's history.
  case timeline(TimelineEffect)
  case recording(RecordingEffect)
  /// A request to `ClientStage`, which knows the clients that share the screen, and from it to the host.
  case stage(StageEffect)
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
  /// Open the client of the effect: a request to the host.
  case open
  /// End the client of the effect: a request to the host.
  case close
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
