// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// An action that waits until the user has seen the changes that it would overwrite: a table of the fields, and the
/// possible answers.
package struct Decision: Sendable {
  /// One line of the table; fields in dispute have a mark in front.
  package struct Row: Sendable {
    package var isDisputed: Bool
    package var cells: [String]
  }

  package var title: String
  /// The events that led here, in sentences.
  package var lead: [String]
  /// The heads over the cells.
  package var heads: [String]
  package var rows: [Row]
  /// The possible answers; the first one overwrites nothing.
  package var items: [MenuItem]
  /// The message when the decision is left open.
  package var leaving: String?
  /// The write whose way is drawn, as far as it is known.
  package var batch: BatchID?
  /// Whether this is the account of the transfer, and is updated with its events.
  package var isTransfer = false

  package init(
    title: String, lead: [String], heads: [String], rows: [Row], items: [MenuItem], leaving: String? = nil,
    isTransfer: Bool = false
  ) {
    self.title = title
    self.lead = lead
    self.heads = heads
    self.rows = rows
    self.items = items
    self.leaving = leaving
    self.isTransfer = isTransfer
  }
}

extension Decision {
  /// Both versions of a document that was changed while it was edited.
  package init(_ conflict: EditConflict) {
    title = "\(conflict.key.path.text) was changed meanwhile"
    lead = [
      conflict.isDeleted
        ? "It was deleted while you edited it. Nothing is written yet."
        : "Somebody else changed what you edited. Nothing is written yet."
    ]
    heads = ["field", "before", "yours", "now there"]
    rows = conflict.fields.map { field in
      Row(
        isDisputed: field.mine != field.base && field.theirs != field.base && field.mine != field.theirs,
        cells: [field.path.canonicalText] + [field.base, field.mine, field.theirs].map(Self.text))
    }
    let disputed = rows.count(where: \.isDisputed)
    let mine = conflict.fields.count { $0.mine != $0.base }
    let again =
      switch conflict.again {
      case .text(let request):
        MenuItem(
          letter: "e", title: "edit again", detail: "with what is there now in the text",
          choice: .perform([.terminal(.edit(request))]))
      case .fields(let now):
        MenuItem(
          letter: "e", title: "edit again", detail: "your changes, beside what is there now",
          choice: .editFields(over: now))
      }
    let dropped = "Nothing was written; your edit is dropped."
    // The first two answers write nothing, so that keys that were meant for the screen before overwrite nothing.
    items = [
      again,
      MenuItem(letter: "c", title: "cancel", detail: "your edit is dropped", choice: .perform([], saying: dropped)),
    ]
    if !conflict.keepingTheirs.isEmpty {
      items.append(
        MenuItem(
          letter: "t", title: "keep theirs", detail: "write only what nobody else changed",
          choice: .perform([.client(.write(conflict.keepingTheirs))])))
    }
    if conflict.isDeleted {
      items.append(
        MenuItem(
          letter: "w", title: "write it again", detail: "the whole document as you have it",
          choice: .perform([.client(.write(conflict.replacing))])))
    } else {
      items.append(
        MenuItem(
          letter: "o", title: "overwrite",
          detail: "your \(mine) field\(mine == 1 ? "" : "s"), over \(disputed) of theirs",
          choice: .perform([.client(.write(conflict.overwriting))])))
      items.append(
        MenuItem(
          letter: "w", title: "overwrite the whole document", detail: "all their changes are lost",
          choice: .perform([.client(.write(conflict.replacing))])))
    }
    leaving = dropped
  }

  /// The changes that undoing or redoing a write would lose.
  package init(_ conflict: UndoConflict) {
    let (batch, verb) = (conflict.batch, conflict.isRedo ? "redo" : "undo")
    title = (conflict.isRedo ? "Redo " : "Undo ") + batch.description
    let names = conflict.documents.prefix(3).map(\.key.path.text).joined(separator: ", ")
    let more = conflict.documents.count > 3 ? " and \(conflict.documents.count - 3) more" : ""
    let done = conflict.isRedo ? "\(batch) was undone" : "\(batch)"
    lead = [
      "Since \(done), there were other changes to what is written here, in \(names)\(more). Nothing is written yet."
    ]
    heads = ["field", conflict.isRedo ? "after the undo" : "after \(batch)", "now there", "will be"]
    let isOne = conflict.documents.count == 1
    rows = conflict.documents.flatMap { document in
      Self.rows(of: document.writing, to: document, isOne ? "" : document.key.documentID + " ")
    }
    let effect: ClientEffect = conflict.isRedo ? .redo(over: conflict) : .undo(over: conflict)
    items = [
      MenuItem(letter: "c", title: "cancel", detail: "everything stays as it is", choice: .perform([])),
      MenuItem(
        letter: "a", title: "\(verb) all the same", detail: "what is now there above is replaced",
        choice: .perform([.client(effect)])),
    ]
  }

  /// The fields that a write replaces, those marked that changed since.
  private static func rows(
    of writing: UndoConflict.Writing, to document: UndoConflict.Document, _ prefix: String
  ) -> [Row] {
    let fields = writing.fields.map { field in
      let will = writing.operation == .deletion ? "deleted" : text(field.mine)
      return Row(
        isDisputed: field.base != field.theirs,
        cells: [prefix + field.path.canonicalText, text(field.base), text(field.theirs), will])
    }
    func there(_ fields: Fields?) -> String { fields == nil ? "not there" : "there" }
    func whole(_ will: String) -> Row {
      Row(
        isDisputed: document.left != document.now,
        cells: [prefix + "document", there(document.left), there(document.now), will])
    }
    switch writing.operation {
    case .fields: return fields
    case .document: return [whole(document.now == nil ? "there again" : "replaced")] + fields
    case .deletion: return [whole("deleted")] + fields
    }
  }

  private static func text(_ value: Value?) -> String { value.map(ValueText.short) ?? "nothing" }
}
