// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
package import FirestoreQuery

/// How the cache answered a query.
package struct QueryExplanation: Codable, Hashable, Sendable {
  package var query: Query
  package var plan: QueryPlan
  /// With the plan `index`.
  package var indexes: [IndexUse]
  /// Stored documents that were compared with the query; those with pending writes come on top.
  package var documentsScanned: Int
  package var entriesRead: Int
  package var documentsReturned: Int
  package var duration: Duration
  /// With the plan `scan`: what would spare it and is not there yet.
  package var suggestedIndexes: [FieldIndex]
  /// Whether some index is not complete, and therefore not used yet.
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
  /// Several lines: the plan, the indexes, the cost, and what would help.
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

/// How a query was answered; the raw value is the word for programs.
package enum QueryPlan: String, Codable, Hashable, Sendable, CaseIterable {
  /// The query names its one document.
  case document
  /// From the documents of the synced target and what changed since.
  case syncedResult = "synced-result"
  /// From the documents that indexes named.
  case index
  /// From all documents of the collection or group.
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

/// What a query that is being written would find in the cache.
package struct QueryPreview: Codable, Hashable, Sendable {
  package var query: Query
  /// Documents within the query's limit; `nil` where the collection is too large to be looked through for it.
  package var count: Int?
  /// What would spare looking through the whole collection and is not there yet.
  package var suggestedIndexes: [FieldIndex]
  /// How many documents of the cache have to be looked at: at most so many, or more where they are not counted.
  package var documentsToScan: Int

  package init(query: Query, count: Int?, suggestedIndexes: [FieldIndex] = [], documentsToScan: Int = 0) {
    self.query = query
    self.count = count
    self.suggestedIndexes = suggestedIndexes
    self.documentsToScan = documentsToScan
  }
}

/// How an index took part in answering a query.
package struct IndexUse: Codable, Hashable, Sendable {
  package var index: FieldIndex
  /// The conditions that its entries answered; the others were checked on the documents it found.
  package var servedFilters: [FieldFilter]
  /// Whether documents were read in the query's order, and no more than its limit needs.
  package var servesOrder: Bool

  package init(index: FieldIndex, servedFilters: [FieldFilter], servesOrder: Bool) {
    self.index = index
    self.servedFilters = servedFilters
    self.servesOrder = servesOrder
  }

  /// As `state == "CA"`, one for each of `servedFilters`.
  package var filterTexts: [String] {
    servedFilters.map { "\($0.path.canonicalText) \($0.op.rawValue) \(DocumentJSON.line(of: $0.value))" }
  }
}

extension IndexUse: CustomStringConvertible {
  /// As `cities(state ascending) for state == "CA"`.
  package var description: String {
    var text = "\(index)"
    if !servedFilters.isEmpty { text += " for \(filterTexts.joined(separator: ", "))" }
    if servesOrder { text += servedFilters.isEmpty ? " for the order" : " and the order" }
    return text
  }
}

/// A local index as the store has it.
package struct IndexState: Codable, Hashable, Sendable {
  package var definition: FieldIndex
  /// Made by the store because queries needed it, not configured.
  package var isAutomatic: Bool
  /// `nil` when the index is complete; until then no query uses it.
  package var backfill: IndexProgress?

  package init(definition: FieldIndex, isAutomatic: Bool = false, backfill: IndexProgress? = nil) {
    self.definition = definition
    self.isAutomatic = isAutomatic
    self.backfill = backfill
  }
}

/// How far a backfill is, in documents; forgotten documents may count as long as their numbers are not used again.
package struct IndexProgress: Codable, Hashable, Sendable {
  package var documentsIndexed: Int
  package var documentsTotal: Int

  package init(documentsIndexed: Int, documentsTotal: Int) {
    self.documentsIndexed = documentsIndexed
    self.documentsTotal = documentsTotal
  }
}
