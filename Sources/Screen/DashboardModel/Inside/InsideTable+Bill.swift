// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The cost of the targets' reads, as it is or would be at Cloud Firestore.
extension InsideTable {
  package static func bill(of inside: ClientInside, _ context: InsideContext) -> InsideTable {
    let price = context.settings.price
    var table = InsideTable(columns: [
      Column(title: "LISTENER", isFlexible: true), Column(title: "READS", isNumber: true),
      Column(title: "A MINUTE", isNumber: true, rank: 1), Column(title: "COST", isNumber: true),
      Column(title: "SAVED", isNumber: true, rank: 2), Column(title: "AFTER 30 MIN", isNumber: true, rank: 3),
    ])
    var (reads, minute, kept, anew) = (0, 0, 0, 0)
    for target in inside.targets {
      let rate = context.lastMinute?[target.target]
      (reads, minute) = (reads + target.sent, minute + (rate ?? 0))
      (kept, anew) = (kept + target.kept, anew + target.readsAnew)
      table.rows.append(
        Row(
          cells: [
            QueryText.line(target.target), grouped(target.sent), rate.map(grouped) ?? "?", price.text(of: target.sent),
            grouped(target.kept), grouped(target.readsAnew),
          ],
          subject: target.target.isDocumentTarget
            ? .document(DocumentKey(unchecked: target.target.path))
            : target.target.collectionGroup == nil ? .collection(target.target.path) : nil,
          detail: "\(price.text(of: target.sent)) so far; \(price.text(of: target.kept)) saved by the cache and its "
            + "resume token; back after more than 30 minutes offline: \(price.text(of: target.readsAnew))"))
    }
    table.empty = "no target: nothing is listened to, and nothing read"
    guard !table.rows.isEmpty else { return table }
    table.rows.append(
      Row(
        cells: [
          "all", grouped(reads), context.lastMinute == nil ? "?" : grouped(minute), price.text(of: reads),
          grouped(kept), grouped(anew),
        ],
        isNotable: true,
        detail: "saved: \(price.text(of: kept)); after more than 30 minutes offline: \(price.text(of: anew))"))
    if inside.targetCount > inside.targets.count {
      table.notes.append("the first \(inside.targets.count) of \(grouped(inside.targetCount)) targets")
    }
    if !context.isBilled { table.notes.append("this server bills nothing: it is what Cloud Firestore would bill") }
    table.notes.append(price.assumption)
    table.notes.append("reads of present targets; not counts, writes, deletes, storage, the network, and what is free")
    return table
  }
}
