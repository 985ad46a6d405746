// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreModel
package import FirestoreQuery

extension SyncCore {
  /// Between two slices, so that at least half of the time is left for other events.
  private static let pauseBetweenSlices = Duration.milliseconds(10)
  /// Nothing depends on an index, so that a store that fails is not bothered again soon.
  private static let pauseAfterFailure = Duration.seconds(60)

  /// Wakes the core for the next slice of the backfill if there is one; to be called after each transition, since
  /// queries make indexes too.
  package mutating func scheduleIndexBackfill(_ effects: inout [SyncEffect]) {
    guard !isIndexBackfillScheduled, (try? store.needsIndexBackfill) ?? false else { return }
    isIndexBackfillScheduled = true
    statusRevision += 1
    effects.append(.schedule(.indexBackfill, after: Self.pauseBetweenSlices))
  }

  /// Does one slice.
  mutating func backfillIndexes(_ effects: inout [SyncEffect]) {
    isIndexBackfillScheduled = false
    statusRevision += 1
    do throws(LocalStoreError) {
      _ = try store.backfillIndexes()
    } catch {
      isIndexBackfillScheduled = true
      effects.append(.schedule(.indexBackfill, after: Self.pauseAfterFailure))
    }
  }

  /// Answers a query from the cache, for the sake of how that is done.
  package mutating func explain(_ query: Query) throws(LocalStoreError) -> QueryExplanation {
    let result = try store.execute(query, usingPreviousResults: true)
    let documents = documents(of: query, in: result)
    let existing = try store.indexes()
    let isBuilding = existing.contains { $0.backfill != nil }
    // One that is there already has been considered: it would read no less, or is still being filled.
    let missing = FieldIndex.answering(query).filter { wanted in
      !existing.contains { $0.definition.isEquivalent(to: wanted) }
    }
    return QueryExplanation(
      query: query, plan: result.plan, indexes: result.indexes, documentsScanned: result.documentsScanned,
      entriesRead: result.entriesRead, documentsReturned: documents.count, duration: .zero,
      suggestedIndexes: result.plan == .scan ? missing : [], isBuildingIndexes: isBuilding)
  }
}

/// How the cache answered a query.
package struct QueryExplanation: Hashable, Sendable {
  package var query: Query
  package var plan: QueryPlan
  /// With the plan `index`.
  package var indexes: [IndexUse]
  /// Stored documents that were compared with the query.
  package var documentsScanned: Int
  package var entriesRead: Int
  package var documentsReturned: Int
  package var duration: Duration
  /// With the plan `scan`: what would spare it and is not there yet.
  package var suggestedIndexes: [FieldIndex]
  /// Whether some index is not complete, and therefore not used yet.
  package var isBuildingIndexes: Bool
}
