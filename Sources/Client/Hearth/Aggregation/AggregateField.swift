// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
public import Foundation

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
