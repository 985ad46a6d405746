// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// A side effect that the dashboard requests. `update` returns effects; the command performs each kind in one place.
package enum Effect: Equatable, Sendable {
  case client(ClientRequest)
  case terminal(TerminalEffect)
  /// A request to `DashboardSession`, which has the session's history.
  case timeline(TimelineEffect)
  case recording(RecordingEffect)
  /// A request to `ClientSet`, which has the clients of the screen and forwards to the host.
  case clientSet(ClientSetEffect)
}

/// A request to the terminal, or to the process that owns it.
package enum TerminalEffect: Equatable, Sendable {
  /// Suspend the screen, run the user's editor on the text and write the result, or reply with `editorFailed`.
  case edit(EditRequest)
  case copy(String)
  case setTheme(String)
  /// Save the theme for the next start.
  case rememberTheme(String)
  /// Save these commands of the palette for the next start, newest last.
  case rememberCommands([String])
  case setMouse(Bool)
  /// Draw with characters that the terminal's locale supports.
  case adoptGlyphs
  /// Reload the user's files and report the changes.
  case readAgain
  /// Write listeners to a file that `openListeners` reads. Replies with `question` if the file exists.
  case saveListeners([ListenerDefinition], file: String, replaces: Bool = false)
  /// Read listeners from a file. Replies with `listenersRead`, and with a notice for each that cannot be read.
  case openListeners(file: String)
  /// Release the terminal until the process is continued.
  case suspend
  /// Repaint every cell.
  case redraw
  case quit(code: Int32)
  /// Play a shipped scenario on this screen, in a separate world.
  case playScenario(String)
}

/// A text for the user's editor, and the purpose of the result.
package struct EditRequest: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Replace the document.
    case document(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
    /// Create the document, which must not exist yet.
    case documentToCreate(DocumentKey)
    /// Send a rejected batch again in another form. The text has the format of `WriteJSON`.
    case rejectedWrite(BatchID)
  }

  package var subject: Subject
  /// The JSON that the editor starts with.
  package var text: String
  /// The JSON that edits are compared with: the text at the first start of the editor.
  package let original: String

  /// - Parameter original: `nil` for the text itself.
  package init(_ subject: Subject, text: String, original: String? = nil) {
    self.subject = subject
    self.text = text
    self.original = original ?? text
  }
}

/// A change of the clients on the screen. Performed by `ClientSet`.
package enum ClientSetEffect: Equatable, Sendable {
  /// Open a client with a separate cache, and focus it.
  case add(name: String, user: String?)
  /// End a client and discard its pending writes.
  case remove(name: String)
  /// Focus a client, which then receives the keys.
  case focus(name: String)
  case focusNext
  /// Fill the screen with the focused client, or show all clients again.
  case toggleZoom
  /// Pause or continue the playing scenario, or change its pace.
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
