// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The field editors that left the screen, and the ways on which they come back to it. The one on the screen is the
/// overlay's.
///
///     on the screen ── a question comes up ──► waiting ────── answered ──► on the screen, or dropped
///           │──────── sent ──────────────────► sent ───────── conflict ──► on the screen, over what is there now
///           └──────── edited as a text ──────► handed over ── gave up ───► on the screen
///
/// One edit may be in each of the three places: a conflict of the one that was sent comes up while another is open.
package struct EditingState: Sendable {

  private var waiting: FieldEditor?
  private var sent: FieldEditor?
  private var handedOver: FieldEditor?

  package init() {}

  /// Puts an editor behind a question; one without edits to lose is not kept.
  package mutating func wait(_ editor: FieldEditor?) {
    if let editor, editor.hasUnsentEdits { waiting = editor }
  }

  /// The editor that waits, which waits no more.
  package mutating func takeWaiting() -> FieldEditor? {
    defer { waiting = nil }
    return waiting
  }

  package mutating func dropWaiting() { waiting = nil }

  /// Keeps an editor for when its edit comes back with a conflict, in place of the one before.
  package mutating func send(_ editor: FieldEditor) -> FieldEdit {
    sent = editor
    return editor.edit
  }

  /// The edit that was sent last, over what the document has now.
  package func again(over now: Fields?) -> FieldEditor? { sent?.again(over: now) }

  /// Keeps an editor whose edits the user's editor of texts has, for when that gives nothing back.
  package mutating func handOver(_ editor: FieldEditor) { handedOver = editor }

  /// Forgets what was handed over: the user's editor gets a text of its own.
  package mutating func beginText() { handedOver = nil }

  /// The editor that was handed over, if it has edits that were not sent; it is handed over no more.
  package mutating func takeBack() -> FieldEditor? {
    defer { handedOver = nil }
    return handedOver?.hasUnsentEdits == true ? handedOver : nil
  }
}
