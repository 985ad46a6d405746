// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
import FirestoreText

/// A question whether to overwrite other changes. The action waits until the user has answered. It has a table of the
/// fields and the possible answers.
package struct Decision: Sendable {
  /// A row of the table. Fields that both sides changed have a mark as prefix.
  package struct Row: Sendable {
    package var isDisputed: Bool
    package var cells: [String]
  }

  package var title: String
  /// Sentences about what happened before.
  package var lead: [String]
  /// The column headings of the table.
  package var heads: [String]
  package var rows: [Row]
  /// The possible answers. The first one overwrites nothing.
  package var items: [MenuItem]
  /// The message that is shown if the user closes the dialog without an answer.
  package var leaving: String?
  /// The write whose history is shown, if known.
  package var batch: BatchID?
  /// Whether the dialog shows a transfer and is updated by its events.
  package var isTransfer = false
  /// The completed fraction of a running transfer, if known.
  package var fraction: Double?

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
        ? "The document was deleted while you edited it. Your edit is not written yet."
        : "Another client changed what you edited. Nothing is written yet."
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
          letter: "e", title: "edit again", detail: "with the current values in the text",
          choice: .perform([.terminal(.edit(request))]))
      case .fields(let now):
        MenuItem(
          letter: "e", title: "edit again", detail: "your changes, next to the current values",
          choice: .editFields(over: now))
      }
    let dropped = "Nothing was written; your edit is dropped."
    // The first two answers write nothing, so keys typed before the dialog appeared cannot overwrite data.
    items = [
      again,
      MenuItem(letter: "c", title: "cancel", detail: "your edit is dropped", choice: .perform([], saying: dropped)),
    ]
    if !conflict.keepingTheirs.isEmpty {
      items.append(
        MenuItem(
          letter: "t", title: "keep theirs", detail: "skip the fields that others changed",
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

  /// The question before the user undoes a write that replaced values which its author had not seen. Undo can restore
  /// those values, or the values that the author had seen.
  private init(restoring conflict: UndoConflict) {
    func put(_ restored: UndoConflict.Restored) -> MenuItem.Choice {
      var allowed = conflict
      allowed.restored = restored
      return .perform([.client(.undo(over: allowed))])
    }
    let isOne = conflict.conflicts.count == 1
    let names = conflict.conflicts.prefix(3).map(\.key.path.text).joined(separator: ", ")
    let fields = conflict.conflicts.flatMap { one in
      one.fields.map { (isOne ? "" : one.key.documentID + " ", $0) }
    }
    self.init(
      title: "Undo \(conflict.batch)",
      lead: ["Write \(conflict.batch) replaced values in \(names) that you had not seen. Nothing is undone yet."],
      heads: ["field", "theirs", "you saw", "yours"],
      rows: fields.map { prefix, field in
        Row(
          isDisputed: true,
          cells: [prefix + field.path.canonicalText] + [field.theirs, field.base, field.mine].map(Self.text))
      },
      items: [
        MenuItem(letter: "c", title: "cancel", detail: "yours stays", choice: .perform([])),
        MenuItem(
          letter: "t", title: "restore theirs", detail: "the values before \(conflict.batch)",
          choice: put(.replaced)),
        MenuItem(
          letter: "s", title: "restore the values that you saw", detail: "theirs stays lost", choice: put(.seen)),
      ])
    let later = conflict.documents.flatMap(\.writing.fields).filter { $0.base != $0.theirs }
    if !later.isEmpty {
      lead.append(
        "Changed again since: "
          + later.map { "\($0.path.canonicalText) is \(Self.text($0.theirs))" }.joined(separator: ", ") + ".")
    }
  }

  /// The question before undoing or redoing a write.
  package init(_ conflict: UndoConflict) {
    if conflict.conflicts.isEmpty { self.init(overwriting: conflict) } else { self.init(restoring: conflict) }
  }

  /// The later changes that are lost if the write is undone or redone.
  private init(overwriting conflict: UndoConflict) {
    let (batch, verb) = (conflict.batch, conflict.isRedo ? "redo" : "undo")
    title = (conflict.isRedo ? "Redo " : "Undo ") + batch.description
    let names = conflict.documents.prefix(3).map(\.key.path.text).joined(separator: ", ")
    let more = conflict.documents.count > 3 ? " and \(conflict.documents.count - 3) more" : ""
    let done = conflict.isRedo ? "\(batch) was undone" : "\(batch)"
    lead = [
      "Since \(done), the same data has changed again, in \(names)\(more). Nothing is written yet."
    ]
    heads = ["field", conflict.isRedo ? "after the undo" : "after \(batch)", "now there", "will be"]
    let isOne = conflict.documents.count == 1
    rows = conflict.documents.flatMap { document in
      Self.rows(of: document.writing, to: document, isOne ? "" : document.key.documentID + " ")
    }
    let effect: ClientRequest = conflict.isRedo ? .redo(over: conflict) : .undo(over: conflict)
    items = [
      MenuItem(letter: "c", title: "cancel", detail: "nothing is changed", choice: .perform([])),
      MenuItem(
        letter: "a", title: "\(verb) anyway", detail: "the current values above are replaced",
        choice: .perform([.client(effect)])),
    ]
  }

  /// The fields that a write replaces. Fields that have changed since then are marked.
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

/// Information that is shown in the same dialog but asks no question: the effect of a write, or the result of an
/// outage.
extension Decision {
  /// The effect of a batch, field by field, and its progress.
  /// - Parameter now: returns the current version of a document.
  package init(_ row: QueueRow, way: [String], now: (DocumentKey) -> Document?) {
    title = "\(row.batch) \(row.operation.rawValue)"
    lead = way
    batch = row.batch
    heads = ["field", "writes", "now here"]
    let isOne = Set(row.documents).count == 1
    if isOne, let key = row.documents.first { title += " \(key.path.text)" }
    rows = row.write.mutations.flatMap { mutation -> [Row] in
      let fields = now(mutation.key)?.data?.fields
      let prefix = isOne ? "" : mutation.key.path.text + " "
      func line(_ name: String, _ writes: String, _ now: Value?) -> Row {
        Row(isDisputed: false, cells: [prefix + name, writes, now.map(ValueText.short) ?? "nothing"])
      }
      var rows: [Row] = []
      switch mutation.operation {
      case .set(let new):
        rows.append(Row(isDisputed: false, cells: [prefix + "document", "replaced", fields == nil ? "nothing" : ""]))
        rows += new.entries.map { line($0.name, ValueText.short($0.value), fields?[$0.name]) }
      case .patch(let new, let mask):
        rows += mask.paths.sorted().map { path in
          line(path.canonicalText, new[path].map(ValueText.short) ?? "removed", fields?[path])
        }
      case .delete:
        rows.append(
          Row(isDisputed: false, cells: [prefix + "document", "deleted", fields == nil ? "nothing" : "there"]))
      case .verify: rows.append(Row(isDisputed: false, cells: [prefix + "document", "checked", ""]))
      }
      return rows
        + mutation.transforms.map { line($0.path.canonicalText, $0.operation.text, fields?[$0.path]) }
    }
    items = [MenuItem(letter: "c", title: "close", detail: "", choice: .perform([]))]
    if row.isRejected, row.error?.code == .permissionDenied {
      items.append(
        MenuItem(
          letter: "r", title: "what the rules saw", detail: "its request, with the line that denied it",
          choice: .openRequest(of: row.batch)))
    }
    if let key = row.documents.first {
      items.append(MenuItem(letter: "o", title: "open the document", detail: key.path.text, choice: .open(key)))
    }
  }

  package init(_ reconnection: Reconnection, clock: String, bullet: String) {
    title = "Back online"
    lead = [reconnection.text(clock: clock, bullet: bullet)]
    heads = ["document", "what", "why"]
    rows = reconnection.rejected.map { entry in
      Row(
        isDisputed: true,
        cells: [entry.key?.path.text ?? "", "\(entry.batch) rejected", entry.status.lineText(beside: entry.key)])
    }
    rows += reconnection.conflicts.map { conflict in
      let names = conflict.fields.map(\.path.canonicalText).joined(separator: ", ")
      return Row(
        isDisputed: true, cells: [conflict.key.path.text, "\(conflict.batch) conflicting", "replaced \(names)"])
    }
    let changed = reconnection.changed.sorted { $0.key < $1.key }
    rows += changed.prefix(Reconnection.mostListed).map { key, kind in
      let word = kind == .added ? "came" : kind == .removed ? "went" : "changed"
      return Row(isDisputed: false, cells: [key.path.text, word, "by others"])
    }
    items = [MenuItem(letter: "c", title: "close", detail: "", choice: .perform([]))]
  }
}

extension FieldTransform.Operation {
  /// The transform as text: `increment 1`, `server time`.
  package var text: String {
    switch self {
    case .serverTimestamp: "server time"
    case .increment(let value): "increment \(ValueText.short(value))"
    case .minimum(let value): "minimum \(ValueText.short(value))"
    case .maximum(let value): "maximum \(ValueText.short(value))"
    case .arrayUnion(let values): "union of \(values.count)"
    case .arrayRemove(let values): "remove \(values.count)"
    }
  }
}

/// The progress and the result of a transfer.
extension Decision {
  package init(_ progress: TransferState) {
    self.init(
      title: progress.request.title, lead: [progress.text], heads: [], rows: [],
      items: [
        MenuItem(letter: "h", title: "hide", detail: "it continues", choice: .perform([])),
        MenuItem(
          letter: "x", title: "cancel",
          detail: progress.request.isImport ? "imported documents stay" : "no file is written",
          choice: .perform([.client(.cancelTransfer)])),
      ])
    (isTransfer, fraction) = (true, progress.fraction)
  }

  package init(_ account: TransferSummary) {
    self.init(
      title: account.request.title, lead: [account.text] + account.notes,
      heads: account.refused.isEmpty ? [] : ["rejected", "why"],
      rows: account.refused.map { text in
        let parts = text.split(separator: ": ", maxSplits: 1).map(String.init)
        return Row(isDisputed: true, cells: parts.count == 2 ? parts : ["", text])
      },
      items: [MenuItem(letter: "c", title: "close", detail: "", choice: .perform([]))])
    if account.refusedCount > account.refused.count {
      rows.append(Row(isDisputed: false, cells: ["", "\(grouped(account.refusedCount - account.refused.count)) more"]))
    }
    isTransfer = true
  }
}

extension TransferRequest {
  package var title: String {
    switch self {
    case .importing(let file, let path): "Import \(file)" + (path.map { " into \($0.text)" } ?? "")
    case .export(nil, let file, _): "Export the database to \(file)"
    case .export(let paths?, let file, _):
      "Export \(paths.count == 1 ? paths[0].text : "\(grouped(paths.count)) paths") to \(file)"
    case .bundle(let contents, let file, _): "Bundle \(contents.text) into \(file)"
    case .freezing(let path, let file, _): "Freeze \(path?.text ?? "the cache") into \(file)"
    }
  }

  /// The verb in the sentence about the transferred documents: `exported to`.
  fileprivate var outcome: String {
    switch self {
    case .importing: "imported from"
    case .export: "exported to"
    case .bundle: "bundled into"
    case .freezing: "of the cache written to"
    }
  }

  fileprivate var noun: String {
    switch self {
    case .importing: "import"
    case .export: "export"
    case .bundle: "bundle"
    case .freezing: "freeze"
    }
  }
}

extension TransferState {
  /// The progress as text: `1 204 documents, 3 210/s, 45 %, 0:12 left, 2 refused`.
  package var text: String {
    var parts = ["\(grouped(documents)) document\(documents == 1 ? "" : "s")", "\(grouped(perSecond))/s"]
    if let fraction { parts.append("\(Int(fraction * 100)) %") }
    if let secondsLeft {
      let seconds = secondsLeft % 60
      parts.append("\(secondsLeft / 60):\(seconds < 10 ? "0" : "")\(seconds) left")
    }
    if refused > 0 { parts.append("\(grouped(refused)) rejected") }
    return parts.joined(separator: ", ")
  }

  /// The badge of the transfer in the footer: `[IMPORT 45 %]`.
  package var badge: String {
    let figure = fraction.map { "\(Int($0 * 100)) %" } ?? grouped(documents)
    return "[\(request.noun.uppercased()) \(figure)]"
  }
}

extension TransferSummary {
  /// The result in one sentence, for a feed row and for a message.
  package var text: String {
    let count = "\(grouped(documents)) document\(documents == 1 ? "" : "s")"
    let refused = refusedCount > 0 ? "; \(grouped(refusedCount)) rejected" : ""
    let tenths = Int((elapsed / .milliseconds(100)).rounded())
    let time = "\(tenths / 10).\(tenths % 10) s"
    switch (end, request.isImport) {
    case (.complete, _): return "\(count) \(request.outcome) \(request.file) in \(time)\(refused)"
    case (.cancelled, true): return "import of \(request.file) canceled after \(count)\(refused)"
    case (.cancelled, false): return "\(request.noun) canceled after \(count): \(request.file) is unchanged"
    case (.failed(let reason), true): return "import of \(request.file) ended after \(count)\(refused): \(reason)"
    case (.failed(let reason), false): return "nothing \(request.outcome) \(request.file): \(reason)"
    }
  }
}

extension BundleContents {
  /// The contents as text: `orders where total > 10`, `3 documents`.
  package var text: String {
    switch self {
    case .documents(let keys): keys.count == 1 ? keys[0].path.text : "\(grouped(keys.count)) documents"
    case .result(let query, _): QueryText.line(query)
    }
  }
}
