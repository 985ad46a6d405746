// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync
public import Foundation
import Synchronization

/// The place where figures are worked out.
public enum AggregateSource: Hashable, Sendable {
  /// The backend, over its own documents: local writes that it has not seen do not count. Needs the network.
  case server
  /// The cache, over its documents that match, local writes included. May be incomplete.
  case cache
  /// The backend, or the cache if the client is offline.
  case `default`
}

/// A query that asks for figures instead of documents.
///
/// The official SDKs answer it from the backend only.
public struct AggregateQuery: Sendable {
  /// The query whose documents count.
  public let query: any Query
  private let fields: [AggregateField]

  init(query: any Query, fields: [AggregateField]) {
    self.query = query
    self.fields = fields
  }

  /// Reads the figures once.
  /// - Throws: `unavailable` with source `server` while offline; `invalidArgument` for no field, for more than five, or
  ///   for a wrong one.
  public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
    try await read(source)
  }

  /// Starts `getAggregation(source:)` and returns at once.
  /// - Parameter completion: called with the figures or with the error, on `FirestoreSettings.dispatchQueue`.
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

  /// The aggregations to ask for. Their aliases are numbers, since a field's name may be long; a field that is asked
  /// for twice is worked out once.
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
  /// Compares queries and fields; the order of the fields matters.
  public static func == (left: AggregateQuery, right: AggregateQuery) -> Bool {
    left.query == right.query && left.fields == right.fields
  }
}

extension Query {
  /// An aggregation that counts the query's documents.
  public var count: AggregateQuery { aggregate([.count()]) }

  /// An aggregation of up to five figures over the query's documents.
  public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
    AggregateQuery(query: self, fields: aggregateFields)
  }
}

// Figures that follow their query, which no SDK offers. They are worked out here, over the documents of a listener of
// the query, which are read from the backend once and kept in the cache. For a single look at a large query
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

/// Finds the figures that a listener of an aggregation is told: figures that differ from the last ones.
private final class FigureChanges: Sendable {
  private let includeMetadataChanges: Bool
  private let last = Mutex<AggregateQuerySnapshot?>(nil)

  init(_ options: SnapshotListenOptions) { includeMetadataChanges = options.includeMetadataChanges }

  /// Whether the figures differ from the last ones. The next figures are then compared with these.
  func contain(_ figures: AggregateQuerySnapshot) -> Bool {
    last.withLock { last in
      defer { last = figures }
      guard let last else { return true }
      return last != figures || (includeMetadataChanges && last.metadata != figures.metadata)
    }
  }
}

/// A figure that a query's documents are reduced to.
public struct AggregateField: Hashable, Sendable {
  private enum Kind: Hashable {
    case count
    case sum(Result<FieldPath, FirestoreError>)
    case average(Result<FieldPath, FirestoreError>)
  }

  private let kind: Kind

  /// The number of documents.
  public static func count() -> AggregateField { AggregateField(kind: .count) }

  /// The sum of the field's numbers; 0 if there are none. An integer unless one of them is a double or the sum is too
  /// large for 64 bits. Leaves documents out that lack the field.
  public static func sum(_ field: some FieldName) -> AggregateField { AggregateField(kind: .sum(field.fieldPath)) }

  /// The mean of the field's numbers as a double; `NSNull` if there are none. Leaves documents out that lack the field.
  public static func average(_ field: some FieldName) -> AggregateField {
    AggregateField(kind: .average(field.fieldPath))
  }

  /// The function that the backend is asked for.
  /// - Throws: `invalidArgument` for a wrong field name, or for `FieldPath.documentID()`.
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
      throw .invalidArgument("FieldPath.documentID() cannot be summed or averaged; name a field with numbers.")
    }
    return path
  }
}

/// The figures of a query at one moment.
public struct AggregateQuerySnapshot: Sendable {
  /// The query that the figures answer.
  public let query: AggregateQuery
  /// The origin of the figures: the backend or the cache, and for the cache whether local writes are in them.
  public let metadata: SnapshotMetadata
  private let figures: [AggregateField: Value]

  init(query: AggregateQuery, metadata: SnapshotMetadata, figures: [AggregateField: Value]) {
    self.query = query
    self.metadata = metadata
    self.figures = figures
  }

  /// The number of documents; 0 also if `AggregateField.count()` was not asked for, which `get` can tell apart.
  public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

  /// The value of one figure: an `NSNumber`, `NSNull` for the average of no numbers, `nil` if it was not asked for.
  public func get(_ aggregateField: AggregateField) -> Any? {
    figures[aggregateField].map { ValueDecoder(firestore: query.query.firestore, behavior: .none).any($0) }
  }
}

extension AggregateQuerySnapshot: Equatable {
  /// Compares queries and figures; metadata does not matter.
  public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
    left.query == right.query && left.figures == right.figures
  }
}
