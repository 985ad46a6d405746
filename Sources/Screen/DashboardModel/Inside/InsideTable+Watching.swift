// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The watched targets, and the documents in doubt.
extension InsideTable {
  /// - Parameter now: the time by which ages are told.
  package static func targets(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "TARGET", isFlexible: true), Column(title: "ID", isNumber: true, rank: 3),
      Column(title: "FOR", rank: 4), Column(title: "STATE"), Column(title: "TOKEN", isNumber: true, rank: 1),
      Column(title: "DOCS", isNumber: true), Column(title: "SENT", isNumber: true, rank: 2),
      Column(title: "KEPT", isNumber: true, rank: 2), Column(title: "USE", isNumber: true, rank: 5),
    ])
    table.rows = inside.targets.map { row($0, at: now) }
    table.empty = "no target: nothing is listened to"
    if inside.targetCount > inside.targets.count {
      table.notes.append("the first \(inside.targets.count) of \(grouped(inside.targetCount)) targets")
    }
    let cost = inside.targets.reduce(0) { $0 + $1.readsAnew }
    if cost > 0 {
      table.notes.append(
        "after more than 30 minutes offline Cloud Firestore bills them anew: \(reads(cost)) in all, whatever is sent")
    }
    return table
  }

  private static func row(_ target: TargetState, at now: Timestamp) -> Row {
    let token = target.tokenTime.map { TimeText.elapsed(seconds: now.wholeSeconds(since: $0)) }
    let subject: InsideSubject? =
      if target.target.isDocumentTarget {
        .document(DocumentKey(unchecked: target.target.path))
      } else {
        target.target.collectionGroup == nil ? .collection(target.target.path) : nil
      }
    let saved = target.kept > 0 ? ", \(grouped(target.kept)) kept from the cache and not sent" : ""
    return Row(
      cells: [
        QueryText.line(target.target), "\(target.id)", target.purpose.rawValue, target.progress.words, token ?? "none",
        grouped(target.documents), grouped(target.sent), grouped(target.kept),
        target.lastUse.map { "\($0)" } ?? "",
      ],
      isNotable: target.purpose != .listen || target.progress != .current, subject: subject,
      detail: "\(reads(target.sent)) so far\(saved); back after more than 30 minutes: \(reads(target.readsAnew)) on "
        + "Cloud Firestore")
  }

  private static func reads(_ count: Int) -> String { "\(grouped(count)) read\(count == 1 ? "" : "s")" }

  package static func limbo(of inside: ClientInside) -> InsideTable {
    let lookups = inside.lookups
    var table = InsideTable(columns: [
      Column(title: "DOCUMENT", isFlexible: true), Column(title: "STATE"), Column(title: "TARGET", isNumber: true),
      Column(title: "PLACE", isNumber: true),
    ])
    let asked = lookups.listed.count { $0.target != nil }
    table.rows = lookups.listed.enumerated().map { index, lookup in
      // Documents that are asked for come first.
      let place = lookup.target == nil ? "\(index - asked + 1) of \(grouped(lookups.waiting))" : ""
      return Row(
        cells: [
          lookup.key.path.text, lookup.target == nil ? "waits" : "asked", lookup.target.map { "\($0)" } ?? "", place,
        ],
        isNotable: lookup.target == nil, subject: .document(lookup.key),
        detail: lookup.target == nil
          ? "asked for when those before it are answered, \(lookups.limit) at a time"
          : "a result shows it, and the server did not list it: its answer is awaited")
    }
    table.empty = "no document is in doubt: the server has listed every document that a result shows"
    let listed = lookups.listed.count < lookups.asked + lookups.waiting ? "; \(lookups.listed.count) are listed" : ""
    table.notes = [
      "\(grouped(lookups.asked)) asked for, \(grouped(lookups.waiting)) wait; at most \(lookups.limit) at a time\(listed)"
    ]
    return table
  }
}

extension TargetState {
  /// The reads that Cloud Firestore bills when the target is listened to anew: one at least.
  var readsAnew: Int { max(1, documents) }
}

extension TargetState.Progress {
  fileprivate var words: String {
    switch self {
    case .unasked: "not asked"
    case .asked: "asked"
    case .receiving: "receiving"
    case .current: "current"
    }
  }
}

extension QueryText {
  /// A target as the query that it may come from.
  package static func line(_ target: Target) -> String {
    var orders = target.orderBy
    if orders.last?.path.isDocumentID == true { orders.removeLast() }
    return line(
      Query(
        path: target.path, collectionGroup: target.collectionGroup, filters: target.filters, explicitOrderBy: orders,
        limit: target.limit))
  }
}
