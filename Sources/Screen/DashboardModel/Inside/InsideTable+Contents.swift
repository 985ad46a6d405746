// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The parts of the cache besides its documents: pins and lifetimes, indexes, and the tables of its database.
extension InsideTable {
  /// - Parameter now: the time by which ages are told.
  package static func kept(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "DOCUMENTS OF", isFlexible: true), Column(title: "IN THE CACHE"),
      Column(title: "SINCE", isNumber: true, rank: 1),
    ])
    table.rows = inside.retentions.map { retention in
      let rule: String
      let detail: String
      switch retention.kind {
      case .pinned:
        rule = "pinned"
        detail = "stay, whatever the size of the cache: not collected, and not evicted"
      case .lifetime(let time):
        rule = "\(DurationText.text(time)) after confirmed"
        detail = "leave \(DurationText.text(time)) after the server last confirmed them, while you are online"
      }
      let limit = retention.target.limit == nil ? "" : "; all that match, whatever the limit"
      return Row(
        cells: [
          QueryText.line(retention.target), rule, TimeText.elapsed(seconds: now.wholeSeconds(since: retention.since)),
        ],
        subject: .retention(retention), detail: detail + limit)
    }
    table.empty = "nothing is pinned, and nothing leaves by its age: pin orders, or lifetime orders 2h"
    table.notes = [
      inside.isDurable
        ? "stored in the cache: they hold at the next start as well, and for all programs that share it"
        : "the cache is in memory, and ends with its program: they end, too"
    ]
    return table
  }

  /// The local indexes, with the progress of those that are being filled.
  /// - Parameter counted: what a count of the cache found; `nil` before there was one.
  package static func indexes(of inside: ClientInside, _ counted: CacheContents?) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "INDEX", isFlexible: true), Column(title: "MADE", rank: 2), Column(title: "STATE"),
      Column(title: "ENTRIES", isNumber: true), Column(title: "SIZE", isNumber: true, rank: 1),
    ])
    table.rows = inside.indexes.map { index in
      let amount = counted?.indexes.first { $0.state.definition == index.definition }
      return Row(
        cells: [
          "\(index.definition)", index.isAutomatic ? "by itself" : "by hand", index.backfill?.words ?? "ready",
          amount.map { grouped($0.entries) } ?? "?", amount.map { ByteText.short(Int(clamping: $0.bytes)) } ?? "?",
        ],
        isNotable: index.backfill != nil,
        detail: index.backfill.map {
          "\(grouped($0.documentsIndexed)) of \(grouped($0.documentsTotal)) documents have been looked at; until then no "
            + "query uses it"
        } ?? "kept with every change of a document; the newest documents get their entries many at a time")
    }
    table.empty = "the cache has no index: i on a query makes one"
    if let counted {
      table.notes.append(
        "entries and sizes as the cache was counted last; the size is about that of values and numbers")
      if counted.droppedEntries > 0 {
        table.notes.append("\(grouped(counted.droppedEntries)) entries of dropped indexes are still to be removed")
      }
    }
    return table
  }

  /// The tables of the cache's database, and its file.
  package static func tables(of survey: CacheSurvey) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "TABLE", isFlexible: true), Column(title: "ROWS", isNumber: true),
      Column(title: "SIZE", isNumber: true), Column(title: "HOLDS", rank: 1),
    ])
    let contents = survey.contents
    table.rows = contents.tables.map { part in
      Row(
        cells: [
          part.name, grouped(part.rows), part.bytes.map { ByteText.short(Int(clamping: $0)) } ?? "",
          holdings[part.name] ?? "",
        ])
    }
    table.empty = "the cache is empty"
    table.notes = [
      "\(grouped(contents.pageCount)) pages of \(ByteText.short(Int(clamping: contents.pageBytes))), "
        + "\(ByteText.short(Int(clamping: survey.freeBytes))) of them empty; the log has "
        + "\(ByteText.short(Int(clamping: contents.logBytes))); \(contents.checksums.words)",
      "sizes of what the rows hold, without what SQLite adds: its own indexes, and room in pages",
    ]
    return table
  }

  private static let holdings = [
    "documents": "documents as the server had them", "pending_documents": "writes by document, overlays",
    "target_documents": "which result has which document", "index_entries": "entries of local indexes",
    "mutation_batches": "writes that wait", "rejected_writes": "refused writes", "targets": "results and their tokens",
    "collection_parents": "collections", "index_configuration": "indexes", "retentions": "pins and lifetimes",
    "bundles": "loaded bundles", "named_queries": "queries of bundles", "users": "users with writes",
    "globals": "counters", "index_tails": "documents without entries yet", "sharing_clients": "programs that share it",
    "sharing_targets": "what they listen to", "sharing_target_states": "results that are complete",
    "sharing_notices": "what they tell each other",
  ]
}

extension IndexProgress {
  /// `47 %`.
  fileprivate var words: String { "\(min(99, documentsIndexed * 100 / max(1, documentsTotal))) %" }
}

extension CacheContents.Checksums {
  fileprivate var words: String {
    switch self {
    case .intact: "every page has a checksum, which each read compares"
    case .damaged: "damage was met: the next start looks through all of it"
    case .unneeded: "in memory, without checksums"
    }
  }
}
