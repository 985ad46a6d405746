// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// An event of the screen's host, about the editor, files, questions or messages. It contains no state of a client.
package enum HostEvent: Sendable {
  /// Another client changed the edited fields while the editor was open. Nothing is written yet.
  case editConflict(EditConflict)
  /// Undoing or redoing a write would overwrite later changes. Nothing is written yet.
  case undoConflict(UndoConflict)
  /// The editor's text cannot be written. The text is included, so that no input is lost.
  case editorFailed(EditRequest, line: Int, column: Int, reason: String)
  /// The user's editor could not be started, or it ended without a text to write.
  case editorGaveUp(String)
  /// The user's new document was written locally.
  case created(DocumentKey)
  /// The reply to `TerminalEffect.openListeners`: the listeners that could be read, and the name of the file.
  case listenersRead([ListenerDefinition], from: String)
  /// A question to the user before effects are performed. `action` is the name of the button that performs them.
  case question(title: String, body: [String], action: String, HeldEffects)
  /// A message that the user should read.
  case notice(Toast.Kind, String)
  /// A feed row that marks the end of a scenario.
  case marked(String)
  /// A step of a scenario starts. `line` is its line in the scenario's file.
  case stepped(line: Int)
  case transferring(TransferState)
  /// The end of a transfer that `Effect.transfer` started.
  case transferred(TransferSummary)
  /// The database has no collections, but another database of the same backend has documents; `nil` if none has.
  case dataElsewhere(OtherDatabase?)
}

/// A database with documents, beside the empty one that is shown.
package struct OtherDatabase: Hashable, Sendable {
  /// The name, as in `demo-shop/(default)`.
  package let name: String
  /// The command-line options that select the database, as in `--project demo-shop`.
  package let options: String
  /// The number of databases with documents.
  package let count: Int

  package init(name: String, options: String, count: Int) {
    (self.name, self.options, self.count) = (name, options, count)
  }
}

/// An event for a dashboard.
package enum ScreenEvent: Sendable {
  case client(ClientEvent)
  case host(HostEvent)
}

/// Effects that wait for the user's answer. They belong to this program and are not recorded.
package struct HeldEffects: Sendable {
  package var effects: [Effect]

  package init(_ effects: [Effect]) { self.effects = effects }
}

/// A message that is shown above the footer for a few seconds.
package struct Toast: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable { case info, warning, error }

  package var kind: Kind
  package var text: String
  package var shownAt: Timestamp

  package init(_ kind: Kind, _ text: String, shownAt: Timestamp) {
    self.kind = kind
    self.text = text
    self.shownAt = shownAt
  }

  /// The time when the message disappears: after 2 s, or after 4 s for errors and warnings. That is long enough to read
  /// a line, according to users of lazygit.
  package var expiry: Timestamp { shownAt.advanced(seconds: kind == .info ? 2 : 4) }
}

/// The connection to another program whose client the dashboard shows. The configuration names the program.
package struct AttachmentState: Sendable {
  /// The reason why the program sends no more events; `nil` while it still sends events.
  package private(set) var end: String?
  /// The count of snapshots that the program did not send.
  package private(set) var missedSnapshots = 0

  package init() {}

  package var isOver: Bool { end != nil }

  /// Ends the connection. Later calls have no effect.
  /// - Returns: whether this call ended the connection.
  package mutating func end(because reason: String) -> Bool {
    guard end == nil else { return false }
    end = reason
    return true
  }

  package mutating func miss(_ count: Int) { missedSnapshots += max(0, count) }
}
