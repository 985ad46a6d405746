// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
package import FirestoreQuery

/// The plan and the cost of a query that the cache has executed.
package struct QueryExplanation: Hashable, Sendable {
  package var query: Query
  package var plan: QueryPlan
  /// The indexes that the query used; empty unless the plan is `index`.
  package var indexes: [IndexUse]
  /// The number of stored documents that were compared with the query. Documents with pending writes are not counted.
  package var documentsScanned: Int
  package var entriesRead: Int
  package var documentsReturned: Int
  package var duration: Duration
  /// The indexes that would avoid the scan but do not exist, if the plan is `scan`; otherwise empty.
  package var suggestedIndexes: [FieldIndex]
  /// Whether an index was not used because it is still being built.
  package var isBuildingIndexes: Bool

  package init(
    query: Query, plan: QueryPlan, indexes: [IndexUse] = [], documentsScanned: Int, entriesRead: Int = 0,
    documentsReturned: Int, duration: Duration, suggestedIndexes: [FieldIndex] = [], isBuildingIndexes: Bool = false
  ) {
    self.query = query
    self.plan = plan
    self.indexes = indexes
    self.documentsScanned = documentsScanned
    self.entriesRead = entriesRead
    self.documentsReturned = documentsReturned
    self.duration = duration
    self.suggestedIndexes = suggestedIndexes
    self.isBuildingIndexes = isBuildingIndexes
  }
}

extension QueryExplanation: CustomStringConvertible {
  /// The explanation in several lines: the plan, the indexes used, the cost and suggested indexes.
  package var description: String {
    var lines = ["From the cache: \(plan)."]
    lines += indexes.map { "Index \($0)." }
    let microseconds = max(0, duration.wholeMicroseconds)
    lines.append(
      "Scanned \(documentsScanned) documents and \(entriesRead) index entries, returned \(documentsReturned), "
        + "in \(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms.")
    if !suggestedIndexes.isEmpty {
      let list = suggestedIndexes.map(\.description).joined(separator: ", ")
      lines.append("An index would read fewer documents: \(list).")
    }
    if isBuildingIndexes { lines.append("Indexes that are still being built were not used.") }
    return lines.joined(separator: "\n")
  }
}

/// The source of a query's documents. The raw value is the machine-readable name.
package enum QueryPlan: String, Hashable, Sendable, CaseIterable {
  /// The query is for one document, which is read by its name.
  case document
  /// The query starts with the last result that was in sync with the server, and adds the documents that have changed
  /// since then.
  case syncedResult = "synced-result"
  /// The query finds its documents through indexes.
  case index
  /// The query reads all documents of the collection or collection group.
  case scan
}

extension QueryPlan: CustomStringConvertible {
  package var description: String {
    switch self {
    case .document: "the one document, by its key"
    case .syncedResult: "the last synced result and later changes"
    case .index: "the documents found through an index"
    case .scan: "all documents of the collection"
    }
  }
}

/// The expected result of a query against the cache. The dashboard shows it while the user types the query.
package struct QueryPreview: Hashable, Sendable {
  package var query: Query
  /// The number of matching documents within the query's limit; `nil` if the collection is too large to be scanned for
  /// a preview.
  package var count: Int?
  /// The indexes that would avoid a scan of the whole collection but do not exist.
  package var suggestedIndexes: [FieldIndex]
  /// The number of cached documents that must be compared with the query. If `count` is `nil`, this is an upper bound.
  package var documentsToScan: Int

  package init(query: Query, count: Int?, suggestedIndexes: [FieldIndex] = [], documentsToScan: Int = 0) {
    self.query = query
    self.count = count
    self.suggestedIndexes = suggestedIndexes
    self.documentsToScan = documentsToScan
  }
}

/// The use of one index to answer a query.
package struct IndexUse: Hashable, Sendable {
  package var index: FieldIndex
  /// The conditions that the index evaluated. All other conditions were checked on the documents that the index found.
  package var servedFilters: [FieldFilter]
  /// Whether the index returned documents in the query's order, so that reading stopped at the query's limit.
  package var servesOrder: Bool

  package init(index: FieldIndex, servedFilters: [FieldFilter], servesOrder: Bool) {
    self.index = index
    self.servedFilters = servedFilters
    self.servesOrder = servesOrder
  }

  /// The texts of `servedFilters`, such as `state == "CA"`.
  package var filterTexts: [String] {
    servedFilters.map { "\($0.path.canonicalText) \($0.op.rawValue) \(DocumentJSON.line(of: $0.value))" }
  }
}

extension IndexUse: CustomStringConvertible {
  /// The use of the index as text, such as `cities(state ascending) for state == "CA"`.
  package var description: String {
    var text = "\(index)"
    if !servedFilters.isEmpty { text += " for \(filterTexts.joined(separator: ", "))" }
    if servesOrder { text += servedFilters.isEmpty ? " for the order" : " and the order" }
    return text
  }
}

/// A local index and its state in the store.
package struct IndexState: Hashable, Sendable {
  package var definition: FieldIndex
  /// Whether the store created the index automatically for a query.
  package var isAutomatic: Bool
  /// The progress of building the index; `nil` if the index is complete. Queries use only complete indexes.
  package var backfill: IndexProgress?

  package init(definition: FieldIndex, isAutomatic: Bool = false, backfill: IndexProgress? = nil) {
    self.definition = definition
    self.isAutomatic = isAutomatic
    self.backfill = backfill
  }
}

/// The progress of building an index, in documents. Evicted documents may be counted until their numbers are reused.
package struct IndexProgress: Hashable, Sendable {
  package var documentsIndexed: Int
  package var documentsTotal: Int

  package init(documentsIndexed: Int, documentsTotal: Int) {
    self.documentsIndexed = documentsIndexed
    self.documentsTotal = documentsTotal
  }
}

/// The execution times of one query on the cache, grouped by collection size.
package struct QueryTimes: Sendable {
  /// The runs on collections of similar size. Within a class, the largest size is ten times the smallest.
  package struct Class: Hashable, Sendable {
    /// The maximum document count of the class: 1, 10, 100 and so on. `nil` for runs of unknown size. Sizes are
    /// recorded only after the times were first read.
    package var limit: Int?
    package var runs: Int
    package var median: Duration
    /// The 99th percentile of the times. With fewer than 100 runs, this is the longest time.
    package var p99: Duration

    package init(limit: Int?, runs: Int, median: Duration, p99: Duration) {
      self.limit = limit
      self.runs = runs
      self.median = median
      self.p99 = p99
    }
  }

  package var query: Query
  /// The last 256 runs, grouped by collection size, smallest size first.
  package var classes: [Class]
  /// The number of runs since the client was opened, or since the ledger of query times last dropped the query.
  package var runs: Int
  /// The plan of the last run.
  package var plan: QueryPlan
  /// The number of documents that the last run compared with the query, and the number of documents that it found.
  package var scanned: Int
  package var found: Int

  package init(query: Query, classes: [Class], runs: Int, plan: QueryPlan, scanned: Int, found: Int) {
    self.query = query
    self.classes = classes
    self.runs = runs
    self.plan = plan
    self.scanned = scanned
    self.found = found
  }
}
