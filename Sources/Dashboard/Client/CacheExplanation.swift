// SPDX-License-Identifier: Apache-2.0

/// How the cache answered a query, in the words of the screen.
package struct CacheExplanation: Hashable, Sendable {
  /// Where the documents came from: `all documents of the collection`.
  package var plan: String
  /// The indexes that took part, each with what it answered.
  package var indexes: [String]
  package var documentsScanned: Int
  package var entriesRead: Int
  package var documentsReturned: Int
  package var duration: Duration
  /// Indexes that would spare reading the whole collection.
  package var suggestions: [String]
  /// Whether some index is being filled, and not used yet.
  package var isBuildingIndexes: Bool

  package init(
    plan: String, indexes: [String] = [], documentsScanned: Int, entriesRead: Int = 0, documentsReturned: Int,
    duration: Duration, suggestions: [String] = [], isBuildingIndexes: Bool = false
  ) {
    self.plan = plan
    self.indexes = indexes
    self.documentsScanned = documentsScanned
    self.entriesRead = entriesRead
    self.documentsReturned = documentsReturned
    self.duration = duration
    self.suggestions = suggestions
    self.isBuildingIndexes = isBuildingIndexes
  }
}

/// One index of the cache.
package struct LocalIndexRow: Hashable, Sendable {
  /// How much of what was cached before the index is in it.
  package struct Progress: Hashable, Sendable {
    package var done: Int
    package var total: Int

    package init(done: Int, total: Int) {
      self.done = done
      self.total = total
    }
  }

  /// As `cities(state ascending)`.
  package var definition: String
  /// Made by the client because queries needed it.
  package var isAutomatic: Bool
  /// `nil` when queries use it.
  package var progress: Progress?

  package init(_ definition: String, isAutomatic: Bool = false, progress: Progress? = nil) {
    self.definition = definition
    self.isAutomatic = isAutomatic
    self.progress = progress
  }

  var state: String { progress.map { "\(grouped($0.done)) of \(grouped($0.total))" } ?? "ready" }
}
