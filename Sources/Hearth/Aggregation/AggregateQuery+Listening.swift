// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import Synchronization

// Figures that follow their query, which no SDK offers. They are worked out here, over the documents that a listener of
// the query gets: these are read from the backend once and kept in the cache. For a single look at a large query
// `getAggregation(source:)` costs far less.

extension AggregateQuery {
  /// Calls back with the figures at once and after each change of them, on `FirestoreSettings.dispatchQueue`. Exactly
  /// one argument is non-nil. An error is the last callback.
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions = SnapshotListenOptions(),
    listener: @escaping @Sendable (AggregateQuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    let aggregation = aggregation
    let changes = FigureChanges(options)
    return query.firestore.listen(to: aggregation.map(\.query), options: options) { [self] result in
      do throws(FirestoreError) {
        let figures = snapshot(of: try result.get(), try aggregation.get())
        if changes.contain(figures) { listener(figures, nil) }
      } catch {
        listener(nil, error)
      }
    }
  }

  /// The figures now and after each change of them; a consumer that falls behind gets the newest.
  public func snapshots(
    options: SnapshotListenOptions = SnapshotListenOptions()
  ) -> AsyncThrowingStream<AggregateQuerySnapshot, any Error> {
    let aggregation = aggregation
    let changes = FigureChanges(options)
    return query.firestore.stream(of: aggregation.map(\.query), options: options, bufferingPolicy: .merged) { view in
      let figures = snapshot(of: view, try aggregation.get())
      return changes.contain(figures) ? figures : nil
    }
  }

  private var aggregation: Result<DocumentAggregation, FirestoreError> {
    Result { () throws(FirestoreError) in DocumentAggregation(try query.validated(), try aggregations()) }
  }

  private func snapshot(of view: ViewSnapshot, _ aggregation: DocumentAggregation) -> AggregateQuerySnapshot {
    let counted = aggregation.counted(of: view.documents.documents)
    return snapshot(
      aggregation.values(of: counted),
      SnapshotMetadata(
        hasPendingWrites: counted.contains { view.mutatedKeys.contains($0.key) }, isFromCache: view.isFromCache,
        causes: view.causes.map(SnapshotCause.init)))
  }
}

/// Tells figures that changed from those of a query of which other things changed.
private final class FigureChanges: Sendable {
  private let includeMetadataChanges: Bool
  private let last = Mutex<AggregateQuerySnapshot?>(nil)

  init(_ options: SnapshotListenOptions) { includeMetadataChanges = options.includeMetadataChanges }

  /// Whether the figures are news. They are what the next ones are compared with.
  func contain(_ figures: AggregateQuerySnapshot) -> Bool {
    last.withLock { last in
      defer { last = figures }
      guard let last else { return true }
      return last != figures || (includeMetadataChanges && last.metadata != figures.metadata)
    }
  }
}
