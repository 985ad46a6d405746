// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// The cache's content, and the times of its answers.
extension InsideTable {
  /// - Parameter now: the time by which ages are told.
  package static func cache(_ survey: CacheSurvey, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "COLLECTION", isFlexible: true), Column(title: "DOCS", isNumber: true),
      Column(title: "NAMES", isNumber: true, rank: 2), Column(title: "SIZE", isNumber: true),
      Column(title: "LEAVE NEXT", isNumber: true), Column(title: "SIZE", isNumber: true, rank: 1),
    ])
    table.rows = survey.shares.map { share in
      let leaves = share.leavingDocuments > 0
      return Row(
        cells: [
          share.path.text, grouped(share.documents), grouped(share.names), ByteText.short(Int(clamping: share.bytes)),
          leaves ? grouped(share.leavingDocuments) : "",
          leaves ? ByteText.short(Int(clamping: share.leavingBytes)) : "",
        ],
        isNotable: leaves, subject: .collection(share.path),
        detail: share.names > 0
          ? "\(grouped(share.names)) of which no content is here: they are known not to exist, or by name alone" : "")
    }
    table.empty = "the cache has no document"
    table.notes = [
      survey.size, survey.collection,
      "counted \(TimeText.elapsed(seconds: now.wholeSeconds(since: survey.time))) ago, without overlays and indexes",
    ]
    if survey.collectionCount > survey.shares.count {
      table.notes.append("the \(survey.shares.count) largest of \(grouped(survey.collectionCount)) collections")
    }
    return table
  }

  package static func queries(of inside: ClientInside) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "QUERY", isFlexible: true), Column(title: "OF DOCS", isNumber: true),
      Column(title: "RUNS", isNumber: true, rank: 1), Column(title: "P50", isNumber: true),
      Column(title: "P99", isNumber: true), Column(title: "LOOKED AT", isNumber: true, rank: 2),
      Column(title: "FOUND", isNumber: true, rank: 3),
    ])
    for times in inside.queries {
      for (index, part) in times.classes.enumerated() {
        let isLast = index == times.classes.count - 1
        table.rows.append(
          Row(
            cells: [
              index == 0 ? QueryText.line(times.query) : "", part.limit.map { "to \(grouped($0))" } ?? "not asked",
              grouped(part.runs), TimeText.fine(part.median), TimeText.fine(part.p99),
              isLast ? grouped(times.scanned) : "", isLast ? grouped(times.found) : "",
            ],
            subject: times.query.collectionGroup == nil && !times.query.isDocumentQuery
              ? .collection(times.query.path) : nil,
            detail: "\(QueryText.line(times.query)): last answered by \(times.plan); \(grouped(times.runs)) "
              + "run\(times.runs == 1 ? "" : "s")"))
      }
    }
    table.empty = "the cache has answered no query yet"
    table.notes = [
      "by the number of documents there were to look at; the 99th percentile of fewer than 100 runs is the slowest"
    ]
    return table
  }
}

extension CacheSurvey {
  /// The size of the cache, and its limit.
  fileprivate var size: String {
    let empty = freeBytes > 0 ? ", \(ByteText.short(Int(clamping: freeBytes))) of it empty" : ""
    let limit = limit.map { "; collected above \(ByteText.short(Int(clamping: $0)))" } ?? ""
    return "\(ByteText.short(Int(clamping: bytes)))\(empty)\(limit)"
  }

  /// The work of a garbage collection at this moment, and whether there will be one.
  fileprivate var collection: String {
    switch policy {
    case .eager: return "a document goes as soon as nothing refers to it"
    case .never: return "never collected: \(grouped(targets)) results are kept"
    case .leastRecentlyUsed:
      let documents = shares.reduce(0) { $0 + $1.leavingDocuments }
      let bytes = shares.reduce(Int64(0)) { $0 &+ $1.leavingBytes }
      if documents == 0, leavingTargets == 0 { return "a garbage collection now would take nothing" }
      return "a garbage collection now would take \(grouped(leavingTargets)) of \(grouped(targets)) results and "
        + "\(grouped(documents)) documents, \(ByteText.short(Int(clamping: bytes)))"
    }
  }
}

extension TimeText {
  /// A duration such as `0.312 ms`, `12.4 ms` or `1.2 s`: three digits, since only the order of magnitude matters.
  package static func fine(_ duration: Duration) -> String {
    let microseconds = Int(clamping: max(0, duration.wholeMicroseconds))
    switch microseconds {
    case ..<10_000: return decimal(microseconds, places: 3) + " ms"
    case ..<1_000_000: return decimal(microseconds / 100, places: 1) + " ms"
    default: return decimal(microseconds / 100_000, places: 1) + " s"
    }
  }

  private static func decimal(_ number: Int, places: Int) -> String {
    let unit = places == 1 ? 10 : 1000
    return "\(number / unit)." + String(unit + number % unit).dropFirst()
  }
}
