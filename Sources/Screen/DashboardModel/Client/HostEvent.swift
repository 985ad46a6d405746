// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// An event of the screen's host: the editor, files, questions and messages. It says nothing of the client.
package enum HostEvent: Sendable {
  /// An edited document was changed in the same fields while the editor was open: nothing is written yet.
  case editConflict(EditConflict)
  /// A write cannot be undone, or redone, without overwriting later changes: nothing is written yet.
  case undoConflict(UndoConflict)
  /// The text from the editor cannot be written. The text is kept, so that no typing is lost.
  case editorFailed(EditRequest, line: Int, column: Int, reason: String)
  /// The user's editor could not be run, or ended without a text to be written.
  case editorGaveUp(String)
  /// A document that the user made was written, here first.
  case created(DocumentKey)
  /// The answer to `TerminalEffect.openListeners`: the listeners that could be read, and the name of the file.
  case listenersRead([ListenerDefinition], from: String)
  /// A question to the user before effects are performed; `action` names them.
  case question(title: String, body: [String], action: String, HeldEffects)
  /// A message that the user should read.
  case notice(Toast.Kind, String)
  /// A line for the feed that tells where a played scenario is.
  case marked(String)
  case transferring(TransferState)
  /// The end of what `Effect.transfer` began.
  case transferred(TransferAccount)
}

/// An event that a dashboard is told.
package enum ScreenEvent: Sendable {
  case client(ClientEvent)
  case host(HostEvent)
}

/// Effects that wait for the user's answer. They are effects of this program, and not part of a recording.
package struct HeldEffects: Sendable {
  package var effects: [Effect]

  package init(_ effects: [Effect]) { self.effects = effects }
}

/// A line that appears for a while above the footer.
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

  /// The time at which the toast disappears: after 2 s, errors and warnings after 4 s; long enough to read a line, as
  /// lazygit's users agree.
  package var expiry: Timestamp { shownAt.advanced(seconds: kind == .info ? 2 : 4) }
}

/// The connection to another program, whose client the dashboard shows. The program itself is named by the
/// configuration.
package struct AttachmentState: Sendable {
  /// The reason why nothing more is told of the program; `nil` while it tells.
  package private(set) var end: String?
  /// Snapshots that the program did not tell.
  package private(set) var missedSnapshots = 0

  package init() {}

  package var isOver: Bool { end != nil }

  /// Ends it once: the first reason is the one that counts.
  /// - Returns: whether it was not over before.
  package mutating func end(because reason: String) -> Bool {
    guard end == nil else { return false }
    end = reason
    return true
  }

  package mutating func miss(_ count: Int) { missedSnapshots += max(0, count) }
}
