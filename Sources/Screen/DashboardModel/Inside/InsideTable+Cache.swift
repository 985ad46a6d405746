// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The sections about the cache's contents and the times of queries.
extension InsideTable {
  package static func cache(_ survey: CacheSurvey, _ context: InsideContext) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "collection", isFlexible: true), Column(title: "docs", isNumber: true),
      Column(title: "server", isNumber: true, rank: 2), Column(title: "offline"),
      Column(title: "pending", isNumber: true, rank: 2), Column(title: "names", isNumber: true, rank: 4),
      Column(title: "size", isNumber: true),
      Column(title: "leave next", isNumber: true, rank: 1), Column(title: "size", isNumber: true, rank: 3),
    ])
    table.rows = survey.shares.map { share in
      let leaves = share.leavingDocuments > 0
      return Row(
        cells: [
          share.path.text, grouped(share.documents), context.known[share.path].flatMap(\.self).map(grouped) ?? "?",
          share.coverage.text(at: context.now), grouped(share.overlays), grouped(share.names),
          ByteText.short(Int(clamping: share.bytes)), leaves ? grouped(share.leavingDocuments) : "",
          leaves ? ByteText.short(Int(clamping: share.leavingBytes)) : "",
        ],
        isNotable: leaves || share.overlays > 0, subject: .collection(share.path), detail: detail(of: share))
    }
    let here = Set(survey.shares.map(\.path))
    let absent = context.known.filter { !here.contains($0.key) }.sorted { $0.key < $1.key }
    if survey.collectionCount <= survey.shares.count {
      table.rows += absent.map { path, count in
        Row(
          cells: [path.text, "0", count.map(grouped) ?? "?", "nothing", "0", "0", "", "", ""], isNotable: true,
          subject: .collection(path), detail: "the cache has none of its documents: offline it is empty")
      }
    }
    table.empty = "the cache has no document"
    table.notes = [
      survey.size, survey.collection,
      "counted \(TimeText.elapsed(seconds: context.now.wholeSeconds(since: survey.time))) ago",
    ]
    if survey.collectionCount > survey.shares.count {
      table.notes.append("the \(survey.shares.count) largest of \(grouped(survey.collectionCount)) collections")
    }
    return table
  }

  private static func detail(of share: CacheSurvey.Share) -> String {
    var words: [String] = []
    switch (share.coverage.wholeAsOf, share.coverage.results) {
    case (.some, _): words.append("offline all documents are available, as of that time")
    case (nil, 0): words.append("offline only single documents are available: no query result is complete")
    case (nil, let results):
      let queries = "\(grouped(results)) quer\(results == 1 ? "y" : "ies")"
      words.append("offline only the results of \(queries) are available")
    }
    if share.overlays > 0 {
      words.append(
        "\(grouped(share.overlays)) with pending writes, stored as overlays on the server's version")
    }
    if share.names > 0 {
      words.append("\(grouped(share.names)) without content here: known not to exist, or known only by name")
    }
    return words.joined(separator: "; ")
  }

  /// The entries that a garbage collection would evict now, least recently used first.
  package static func leaving(_ survey: CacheSurvey, _ context: InsideContext) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "#", isNumber: true), Column(title: "result or document", isFlexible: true), Column(title: "is a"),
      Column(title: "last use", isNumber: true, rank: 2), Column(title: "in sync", isNumber: true, rank: 1),
      Column(title: "docs", isNumber: true, rank: 3), Column(title: "size", isNumber: true),
    ])
    for (index, victim) in survey.victims.enumerated() {
      let age = victim.confirmed.map { TimeText.elapsed(seconds: context.now.wholeSeconds(since: $0)) } ?? "never"
      let use = "\(victim.lastUse)"
      switch victim.subject {
      case .result(let target, let documents):
        table.rows.append(
          Row(
            cells: ["\(index + 1)", QueryText.line(target), "result", use, age, grouped(documents), ""],
            subject: target.collectionGroup == nil && !target.isDocumentTarget ? .collection(target.path) : nil,
            detail: "if it is evicted, a listener requests all of it again; documents of other results stay "
              + "in the cache"))
      case .document(let key, let bytes):
        table.rows.append(
          Row(
            cells: ["\(index + 1)", key.path.text, "document", use, age, "", ByteText.short(Int(clamping: bytes))],
            subject: .document(key), detail: "in no result, not shown, and without a pending write"))
      }
    }
    table.empty = survey.collection
    table.notes = [
      survey.collection,
      "least recently used first; pinned data stays",
    ]
    let documents = survey.shares.reduce(0) { $0 + $1.leavingDocuments }
    if survey.leavingTargets + documents > table.rows.count {
      table.notes.append("the first \(ClientInside.listed) of each kind")
    }
    return table
  }

  /// The times for opening the cache and for queries, compared with the user's limits.
  package static func queries(of inside: ClientInside, _ budget: LatencyBudget) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "query", isFlexible: true), Column(title: "docs", isNumber: true, rank: 1),
      Column(title: "runs", isNumber: true, rank: 2), Column(title: "p50", isNumber: true),
      Column(title: "p99", isNumber: true), Column(title: "budget", isNumber: true),
      Column(title: "scanned", isNumber: true, rank: 3), Column(title: "found", isNumber: true, rank: 4),
    ])
    table.rows = beginning(inside.beginning, budget)
    for times in inside.queries {
      for (index, part) in times.classes.enumerated() {
        let isLast = index == times.classes.count - 1
        let breach = breach(of: part, budget)
        table.rows.append(
          Row(
            cells: [
              index == 0 ? QueryText.line(times.query) : "", part.limit.map { "to \(grouped($0))" } ?? "not run",
              grouped(part.runs), TimeText.fine(part.median), TimeText.fine(part.p99), breach ?? "kept",
              isLast ? grouped(times.scanned) : "", isLast ? grouped(times.found) : "",
            ],
            isNotable: breach != nil,
            subject: times.query.collectionGroup == nil && !times.query.isDocumentQuery
              ? .collection(times.query.path) : nil,
            detail: "\(QueryText.line(times.query)): last answered by \(times.plan); \(grouped(times.runs)) "
              + "run\(times.runs == 1 ? "" : "s")"))
      }
    }
    table.empty = "the cache has answered no query yet"
    table.notes = [
      "by the number of documents to scan; with fewer than 100 runs the 99th percentile is the slowest run",
      "budget: p50 \(TimeText.fine(budget.median)), p99 \(TimeText.fine(budget.p99)); [budget] in config.toml",
    ]
    return table
  }

  private static func beginning(_ beginning: ClientInside.Beginning, _ budget: LatencyBudget) -> [Row] {
    func row(_ title: String, _ time: Duration?, _ limit: Duration, _ detail: String) -> Row {
      let isOver = time.map { $0 > limit } ?? false
      let figure = time.map(TimeText.fine) ?? "not yet"
      return Row(
        cells: [title, "", "", "", figure, isOver ? "over \(TimeText.fine(limit))" : TimeText.fine(limit), "", ""],
        isNotable: isOver, detail: detail)
    }
    return [
      row("(opening the cache)", beginning.opening, budget.opening, "the cache and its queue of writes, once"),
      row(
        "(first snapshot)", beginning.firstSnapshot, budget.firstSnapshot,
        "from the first listener on; in sync with the server after "
          + (beginning.firstInSync.map(TimeText.fine) ?? "more than that: not yet")),
    ]
  }

  /// The limit that was exceeded, as text; `nil` if the times are within all limits.
  private static func breach(of part: QueryTimes.Class, _ budget: LatencyBudget) -> String? {
    if part.p99 > budget.p99 { return "over \(TimeText.fine(budget.p99))" }
    return part.median > budget.median ? "over \(TimeText.fine(budget.median))" : nil
  }
}

extension CacheSurvey.Coverage {
  /// Describes which data is available offline: `all, 0:12 ago`, `3 results`, `parts`.
  fileprivate func text(at now: Timestamp) -> String {
    if let wholeAsOf { return "all, \(TimeText.elapsed(seconds: now.wholeSeconds(since: wholeAsOf))) ago" }
    return results > 0 ? "\(grouped(results)) result\(results == 1 ? "" : "s")" : "parts"
  }
}

extension CacheSurvey {
  /// The size of the cache, and its limit.
  fileprivate var size: String {
    let empty = freeBytes > 0 ? ", \(ByteText.short(Int(clamping: freeBytes))) of it empty" : ""
    let limit = limit.map { "; collected above \(ByteText.short(Int(clamping: $0)))" } ?? ""
    return "\(ByteText.short(Int(clamping: bytes)))\(empty)\(limit)"
  }

  /// Describes what a garbage collection would evict now, and whether a garbage collection will run.
  fileprivate var collection: String {
    switch policy {
    case .eager: return "a document is evicted as soon as nothing refers to it"
    case .never: return "never collected: \(grouped(targets)) results are kept"
    case .leastRecentlyUsed:
      let documents = shares.reduce(0) { $0 + $1.leavingDocuments }
      let bytes = shares.reduce(Int64(0)) { $0 &+ $1.leavingBytes }
      if documents == 0, leavingTargets == 0 { return "a garbage collection now would evict nothing" }
      return "a garbage collection now would evict \(grouped(leavingTargets)) of \(grouped(targets)) results and "
        + "\(grouped(documents)) documents, \(ByteText.short(Int(clamping: bytes)))"
    }
  }
}

extension TimeText {
  /// A duration such as `0.312 ms`, `12.4 ms` or `1.2 s`, rounded to three digits.
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

/// The sections about the cache apart from its documents: pins and lifetimes, indexes, and the tables of its database.
extension InsideTable {
  /// - Parameter now: the time to which ages are relative.
  package static func kept(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "documents of", isFlexible: true), Column(title: "in the cache"),
      Column(title: "since", isNumber: true, rank: 1),
    ])
    table.rows = inside.retentions.map { retention in
      let rule: String
      let detail: String
      switch retention.kind {
      case .pinned:
        rule = "pinned"
        detail = "stay in the cache at any size: neither collected nor evicted"
      case .lifetime(let time):
        rule = "\(DurationText.text(time)) after sync"
        detail = "evicted \(DurationText.text(time)) after the server last confirmed them, while you are online"
      }
      let limit = retention.target.limit == nil ? "" : "; all matches, not only up to the limit"
      return Row(
        cells: [
          QueryText.line(retention.target), rule, TimeText.elapsed(seconds: now.wholeSeconds(since: retention.since)),
        ],
        subject: .retention(retention), detail: detail + limit)
    }
    table.empty = "no pins and no lifetimes: add one with pin orders, or lifetime orders 2h"
    table.notes = [
      inside.isDurable
        ? "stored in the cache: they also apply after a restart, and to all programs that share the cache"
        : "the cache is in memory: pins and lifetimes end with the program"
    ]
    return table
  }

  /// The local indexes, with the progress of indexes that are being built.
  /// - Parameter counted: the statistics of the cache's contents; `nil` before they are first computed.
  package static func indexes(of inside: ClientInside, _ counted: CacheContents?) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "index", isFlexible: true), Column(title: "made", rank: 2), Column(title: "state"),
      Column(title: "entries", isNumber: true), Column(title: "size", isNumber: true, rank: 1),
    ])
    table.rows = inside.indexes.map { index in
      let amount = counted?.indexes.first { $0.state.definition == index.definition }
      return Row(
        cells: [
          "\(index.definition)", index.isAutomatic ? "automatic" : "manual", index.backfill?.words ?? "ready",
          amount.map { grouped($0.entries) } ?? "?", amount.map { ByteText.short(Int(clamping: $0.bytes)) } ?? "?",
        ],
        isNotable: index.backfill != nil,
        detail: index.backfill.map {
          "\(grouped($0.documentsIndexed)) of \(grouped($0.documentsTotal)) documents are indexed; until all are, no "
            + "query uses it"
        } ?? "updated with every change of a document; the newest documents get their entries in batches")
    }
    table.empty = "the cache has no index: i on a query makes one"
    if let counted {
      table.notes.append(
        "entries and sizes from the last count of the cache; sizes are approximate")
      if counted.droppedEntries > 0 {
        table.notes.append("\(grouped(counted.droppedEntries)) entries of dropped indexes are still to be removed")
      }
    }
    return table
  }

  /// The tables of the cache's database, and its file size.
  package static func tables(of survey: CacheSurvey) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "table", isFlexible: true), Column(title: "rows", isNumber: true),
      Column(title: "size", isNumber: true), Column(title: "holds", rank: 1),
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
      "sizes of the rows' contents, without SQLite's own indexes and free space in pages",
    ]
    return table
  }

  private static let holdings = [
    "documents": "documents as the server had them", "pending_documents": "writes by document, overlays",
    "target_documents": "which result has which document", "index_entries": "entries of local indexes",
    "mutation_batches": "pending writes", "rejected_writes": "rejected writes", "targets": "results and their tokens",
    "collection_parents": "collections", "index_configuration": "indexes", "retentions": "pins and lifetimes",
    "bundles": "loaded bundles", "named_queries": "queries of bundles", "users": "users with writes",
    "globals": "counters", "index_tails": "documents without entries yet", "sharing_clients": "programs that share it",
    "sharing_targets": "their listeners", "sharing_target_states": "results that are complete",
    "sharing_notices": "their notices",
  ]
}

extension IndexProgress {
  /// The progress as a percentage: `47 %`.
  fileprivate var words: String { "\(min(99, documentsIndexed * 100 / max(1, documentsTotal))) %" }
}

extension CacheContents.Checksums {
  fileprivate var words: String {
    switch self {
    case .intact: "every page has a checksum, which each read compares"
    case .damaged: "damage found: the next start checks every page"
    case .unneeded: "in memory, without checksums"
    }
  }
}
