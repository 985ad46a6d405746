// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
package import FirestoreQuery

/// The way in which the cache answered a query, and its cost.
package struct QueryExplanation: Hashable, Sendable {
  package var query: Query
  package var plan: QueryPlan
  /// The indexes that were used, with the plan `index`.
  package var indexes: [IndexUse]
  /// The number of stored documents that were compared with the query, without those that have pending writes.
  package var documentsScanned: Int
  package var entriesRead: Int
  package var documentsReturned: Int
  package var duration: Duration
  /// The indexes that would spare a scan and are not there yet, with the plan `scan`.
  package var suggestedIndexes: [FieldIndex]
  /// Whether an index is not complete, and therefore not used yet.
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
  /// The explanation in several lines: the plan, the indexes, the cost, and indexes that would help.
  package var description: String {
    var lines = ["From the cache: \(plan)."]
    lines += indexes.map { "Index \($0)." }
    let microseconds = max(0, duration.wholeMicroseconds)
    lines.append(
      "Scanned \(documentsScanned) documents and \(entriesRead) index entries, returned \(documentsReturned), "
        + "in \(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms.")
    if !suggestedIndexes.isEmpty {
      let list = suggestedIndexes.map(\.description).joined(separator: ", ")
      lines.append("An index would read fewer: \(list).")
    }
    if isBuildingIndexes { lines.append("Indexes that are still being filled were not used.") }
    return lines.joined(separator: "\n")
  }
}

/// The source of a query's documents; the raw value is the word for programs.
package enum QueryPlan: String, Hashable, Sendable, CaseIterable {
  /// The query names its one document.
  case document
  /// The documents of the synced target, and those that changed since.
  case syncedResult = "synced-result"
  /// The documents that indexes named.
  case index
  /// All documents of the collection or group.
  case scan
}

extension QueryPlan: CustomStringConvertible {
  package var description: String {
    switch self {
    case .document: "the one document, by its key"
    case .syncedResult: "the result that was last in sync, and what changed since"
    case .index: "the documents that an index names"
    case .scan: "all documents of the collection"
    }
  }
}

/// The documents that a query would find in the cache, shown while the query is being written.
package struct QueryPreview: Hashable, Sendable {
  package var query: Query
  /// The number of documents within the query's limit; `nil` if the collection is too large to be scanned for it.
  package var count: Int?
  /// The indexes that would spare a scan of the whole collection and are not there yet.
  package var suggestedIndexes: [FieldIndex]
  /// The number of cached documents to be compared with the query; if the documents are not counted, an upper bound.
  package var documentsToScan: Int

  package init(query: Query, count: Int?, suggestedIndexes: [FieldIndex] = [], documentsToScan: Int = 0) {
    self.query = query
    self.count = count
    self.suggestedIndexes = suggestedIndexes
    self.documentsToScan = documentsToScan
  }
}

/// The part that an index had in answering a query.
package struct IndexUse: Hashable, Sendable {
  package var index: FieldIndex
  /// The conditions that the index's entries answered; the others were checked on the documents that it named.
  package var servedFilters: [FieldFilter]
  /// Whether documents were read in the query's order, and only until its limit was reached.
  package var servesOrder: Bool

  package init(index: FieldIndex, servedFilters: [FieldFilter], servesOrder: Bool) {
    self.index = index
    self.servedFilters = servedFilters
    self.servesOrder = servesOrder
  }

  /// The conditions as text, such as `state == "CA"`, one for each of `servedFilters`.
  package var filterTexts: [String] {
    servedFilters.map { "\($0.path.canonicalText) \($0.op.rawValue) \(DocumentJSON.line(of: $0.value))" }
  }
}

extension IndexUse: CustomStringConvertible {
  /// The use as text, such as `cities(state ascending) for state == "CA"`.
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
  /// Whether the store made the index because queries needed it.
  package var isAutomatic: Bool
  /// The progress of filling the index; `nil` when it is complete, and until then no query uses it.
  package var backfill: IndexProgress?

  package init(definition: FieldIndex, isAutomatic: Bool = false, backfill: IndexProgress? = nil) {
    self.definition = definition
    self.isAutomatic = isAutomatic
    self.backfill = backfill
  }
}

/// The progress of a backfill in documents; documents that the cache has dropped may count as long as their numbers are
/// not used again.
package struct IndexProgress: Hashable, Sendable {
  package var documentsIndexed: Int
  package var documentsTotal: Int

  package init(documentsIndexed: Int, documentsTotal: Int) {
    self.documentsIndexed = documentsIndexed
    self.documentsTotal = documentsTotal
  }
}

/// The times that the cache took to answer a query, by the number of documents that there were to look at.
package struct QueryTimes: Sendable {
  /// The runs over collections of about one size: up to ten times as large as the smallest.
  package struct Class: Hashable, Sendable {
    /// The number of documents that no run of the class had more of: 1, 10, 100 and so on. Runs from before the
    /// times were first read have none: the size was not asked for then.
    package var limit: Int?
    package var runs: Int
    package var median: Duration
    /// The time that 99 of 100 runs did not exceed: of fewer runs, the longest.
    package var p99: Duration

    package init(limit: Int?, runs: Int, median: Duration, p99: Duration) {
      self.limit = limit
      self.runs = runs
      self.median = median
      self.p99 = p99
    }
  }

  package var query: Query
  /// The runs by size, ascending; those of the last 256.
  package var classes: [Class]
  /// The number of all runs since the client was opened, or since the query was forgotten.
  package var runs: Int
  /// The way of the last answer.
  package var plan: QueryPlan
  /// The numbers of documents that the last run compared with the query, and that it found.
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
