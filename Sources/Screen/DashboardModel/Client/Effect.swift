// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// A side effect that the dashboard requests. `update` returns effects, and the program performs each kind of effect in
/// one place.
package enum Effect: Equatable, Sendable {
  case client(ClientRequest)
  case terminal(TerminalEffect)
  /// A request to `DashboardSession`, which stores the session's history.
  case timeline(TimelineEffect)
  case recording(RecordingEffect)
  /// A request to `ClientSet`, which manages the clients of the screen and forwards requests to the host.
  case clientSet(ClientSetEffect)
}

/// A request to the terminal, or to the process that owns it.
package enum TerminalEffect: Equatable, Sendable {
  /// Suspend the screen, and run the user's editor on the text. Then write the result, or reply with `editorFailed`.
  case edit(EditRequest)
  case copy(String)
  case setTheme(String)
  /// Save the theme as the theme of the next start.
  case rememberTheme(String)
  /// Save the palette's command history for the next start, newest last.
  case rememberCommands([String])
  case setMouse(Bool)
  /// Draw only with characters that the terminal's locale supports.
  case adoptGlyphs
  /// Reload the user's files and report the changes.
  case readAgain
  /// Write listeners to a file that `openListeners` reads. If the file exists, replies with `question`.
  case saveListeners([ListenerDefinition], file: String, replaces: Bool = false)
  /// Read listeners from a file. Replies with `listenersRead`, and with a notice for each listener that cannot be read.
  case openListeners(file: String)
  /// Release the terminal until the process is continued.
  case suspend
  /// Repaint every cell.
  case redraw
  case quit(code: Int32)
  /// Play a shipped scenario on this screen, in a separate environment.
  case playScenario(String)
}

/// A text for the user's editor, and what the edited text is used for.
package struct EditRequest: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Replace the document.
    case document(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
    /// Create the document, which must not exist yet.
    case documentToCreate(DocumentKey)
    /// Send an edited version of a rejected batch. The text has the format of `WriteJSON`.
    case rejectedWrite(BatchID)
  }

  package var subject: Subject
  /// The JSON that the editor starts with.
  package var text: String
  /// The JSON that the edited text is compared with. This is the text when the editor was first started.
  package let original: String

  /// - Parameter original: the text that edits are compared with; `nil` to use `text`.
  package init(_ subject: Subject, text: String, original: String? = nil) {
    self.subject = subject
    self.text = text
    self.original = original ?? text
  }
}

/// A change to the clients on the screen. Performed by `ClientSet`.
package enum ClientSetEffect: Equatable, Sendable {
  /// Open a client with a separate cache, and focus it.
  case add(name: String, user: String?)
  /// End a client and discard its pending writes.
  case remove(name: String)
  /// Focus a client, which then receives the keys.
  case focus(name: String)
  case focusNext
  /// Show only the focused client, or show all clients again.
  case toggleZoom
  /// Pause or continue the scenario, or change the delay between its steps.
  case scenario(ScenarioControl)
  /// Ask the host to open the client to which the effect belongs.
  case open
  /// Ask the host to close the client to which the effect belongs.
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
