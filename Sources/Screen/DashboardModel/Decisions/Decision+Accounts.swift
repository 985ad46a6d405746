// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel

/// Accounts that need no decision, in the same form: the effect of a write, and the outcome of an outage.
extension Decision {
  /// The effect of a batch, field by field, and its progress so far.
  /// - Parameter now: gives a document as it is known now.
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
          letter: "r", title: "what the rules saw", detail: "its request, with the line that refused it",
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
