// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync
public import Foundation
import Synchronization

/// The source of the documents to aggregate.
public enum AggregateSource: Hashable, Sendable {
  /// The documents on the backend, without pending local writes. Needs the network.
  case server
  /// The matching documents in the cache, including local writes. They may be incomplete.
  case cache
  /// The backend, or the cache if the client is offline.
  case `default`
}

/// A query for aggregates instead of documents.
///
/// The official SDKs support only the backend as the source.
public struct AggregateQuery: Sendable {
  /// The query for the documents to aggregate.
  public let query: any Query
  private let fields: [AggregateField]

  init(query: any Query, fields: [AggregateField]) {
    self.query = query
    self.fields = fields
  }

  /// Reads the aggregates once.
  /// - Throws: `unavailable` if the source is `server` and the client is offline; `invalidArgument` if an aggregate is
  ///   invalid, or if there are none or more than five.
  public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
    try await read(source)
  }

  /// Starts `getAggregation(source:)` and returns immediately.
  /// - Parameter completion: called with the aggregates or with the error, on `FirestoreSettings.dispatchQueue`.
  public func getAggregation(
    source: AggregateSource, completion: @escaping @Sendable (AggregateQuerySnapshot?, (any Error)?) -> Void
  ) {
    query.firestore.complete(completion) { () throws(FirestoreError) in try await read(source) }
  }

  private func read(_ source: AggregateSource) async throws(FirestoreError) -> AggregateQuerySnapshot {
    let (model, aggregations) = (try query.validated(), try aggregations())
    let engine = try query.firestore.client().engine
    do {
      if source == .cache { return snapshot(try await engine.cachedAggregate(model, aggregations)) }
      do {
        return snapshot(try await engine.aggregate(model, aggregations))
      } catch  where error.code == .unavailable && source == .default {
        return snapshot(try await engine.cachedAggregate(model, aggregations))
      }
    } catch {
      throw FirestoreError(error)
    }
  }

  /// The aggregations to request. Their aliases are numbers, because field names can be too long for aliases.
  /// Duplicates are computed only once.
  func aggregations() throws(FirestoreError) -> [Aggregation] {
    let distinct = distinctFields
    guard (1...Aggregation.maximumCount).contains(distinct.count) else {
      throw .invalidArgument(
        "An aggregation has one to \(Aggregation.maximumCount) different fields, not \(distinct.count).")
    }
    var aggregations: [Aggregation] = []
    for (number, field) in distinct.enumerated() {
      aggregations.append(Aggregation(alias: Self.alias(number), function: try field.function()))
    }
    return aggregations
  }

  private var distinctFields: [AggregateField] {
    var seen: Set<AggregateField> = []
    return fields.filter { seen.insert($0).inserted }
  }

  private static func alias(_ number: Int) -> String { "aggregate_\(number)" }

  private func snapshot(_ values: [String: Value]) -> AggregateQuerySnapshot {
    snapshot(values, SnapshotMetadata(hasPendingWrites: false, isFromCache: false, causes: []))
  }

  private func snapshot(_ cached: CachedAggregate) -> AggregateQuerySnapshot {
    snapshot(
      cached.values, SnapshotMetadata(hasPendingWrites: cached.hasPendingWrites, isFromCache: true, causes: []))
  }

  func snapshot(_ values: [String: Value], _ metadata: SnapshotMetadata) -> AggregateQuerySnapshot {
    var figures: [AggregateField: Value] = [:]
    for (number, field) in distinctFields.enumerated() { figures[field] = values[Self.alias(number)] }
    return AggregateQuerySnapshot(query: self, metadata: metadata, figures: figures)
  }
}

extension AggregateQuery: Equatable {
  /// Whether both queries have the same underlying query and the same aggregates in the same order.
  public static func == (left: AggregateQuery, right: AggregateQuery) -> Bool {
    left.query == right.query && left.fields == right.fields
  }
}

extension Query {
  /// A query that counts the documents of this query.
  public var count: AggregateQuery { aggregate([.count()]) }

  /// A query for up to five aggregates over this query's documents.
  public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
    AggregateQuery(query: self, fields: aggregateFields)
  }
}

// Listeners for aggregates, which the SDKs do not have. The client computes the aggregates from the documents of a
// query listener, which it reads from the backend once and caches. To read aggregates of a large query once,
// `getAggregation(source:)` costs far less.

extension AggregateQuery {
  /// Calls `listener` with the aggregates now and whenever they change, on `FirestoreSettings.dispatchQueue`. In each
  /// call, exactly one argument is non-nil. After an error, no more calls follow.
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

  /// A sequence of aggregates: the current aggregates, and new aggregates after each change. A slow consumer receives
  /// only the newest aggregates.
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

/// Detects whether a listener's aggregates changed.
private final class FigureChanges: Sendable {
  private let includeMetadataChanges: Bool
  private let last = Mutex<AggregateQuerySnapshot?>(nil)

  init(_ options: SnapshotListenOptions) { includeMetadataChanges = options.includeMetadataChanges }

  /// Whether the aggregates differ from those of the previous call. Stores them for the next call.
  func contain(_ figures: AggregateQuerySnapshot) -> Bool {
    last.withLock { last in
      defer { last = figures }
      guard let last else { return true }
      return last != figures || (includeMetadataChanges && last.metadata != figures.metadata)
    }
  }
}

/// An aggregate over a query's documents.
public struct AggregateField: Hashable, Sendable {
  private enum Kind: Hashable {
    case count
    case sum(Result<FieldPath, FirestoreError>)
    case average(Result<FieldPath, FirestoreError>)
  }

  private let kind: Kind

  /// The number of documents.
  public static func count() -> AggregateField { AggregateField(kind: .count) }

  /// The sum of the field's numbers; 0 if there are none. The sum is an integer, unless one of the numbers is a double
  /// or the sum exceeds 64 bits. Documents without the field are ignored.
  public static func sum(_ field: some FieldName) -> AggregateField { AggregateField(kind: .sum(field.fieldPath)) }

  /// The mean of the field's numbers as a double; `NSNull` if there are none. Documents without the field are ignored.
  public static func average(_ field: some FieldName) -> AggregateField {
    AggregateField(kind: .average(field.fieldPath))
  }

  /// The function to request from the backend.
  /// - Throws: `invalidArgument` if the field name is invalid or is `FieldPath.documentID()`.
  func function() throws(FirestoreError) -> Aggregation.Function {
    switch kind {
    case .count: .count
    case .sum(let field): .sum(try Self.path(field))
    case .average(let field): .average(try Self.path(field))
    }
  }

  private static func path(
    _ field: Result<FieldPath, FirestoreError>
  ) throws(FirestoreError) -> FirestoreModel.FieldPath {
    let path = try field.get().modelPath()
    if path.isDocumentID {
      throw .invalidArgument("FieldPath.documentID() cannot be summed or averaged. Use a field with numbers.")
    }
    return path
  }
}

/// The aggregates of a query at one point in time.
public struct AggregateQuerySnapshot: Sendable {
  /// The query that returned the aggregates.
  public let query: AggregateQuery
  /// The origin of the aggregates: the backend or the cache. For the cache, also whether the aggregates include pending
  /// writes.
  public let metadata: SnapshotMetadata
  private let figures: [AggregateField: Value]

  init(query: AggregateQuery, metadata: SnapshotMetadata, figures: [AggregateField: Value]) {
    self.query = query
    self.metadata = metadata
    self.figures = figures
  }

  /// The document count. If `AggregateField.count()` was not requested, this is 0, whereas `get(_:)` returns `nil`.
  public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

  /// The value of one aggregate, as an `NSNumber`. The average of no numbers is `NSNull`. An aggregate that was not
  /// requested is `nil`.
  public func get(_ aggregateField: AggregateField) -> Any? {
    figures[aggregateField].map { ValueDecoder(firestore: query.query.firestore, behavior: .none).any($0) }
  }
}

extension AggregateQuerySnapshot: Equatable {
  /// Whether both snapshots have the same query and values, regardless of metadata.
  public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
    left.query == right.query && left.figures == right.figures
  }
}
