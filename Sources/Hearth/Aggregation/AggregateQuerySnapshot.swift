// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
public import Foundation

/// The figures of a query at one moment.
public struct AggregateQuerySnapshot: Sendable {
  /// The query that the figures answer.
  public let query: AggregateQuery
  /// Whether the figures come from the cache, and then whether local writes are in them.
  public let metadata: SnapshotMetadata
  private let figures: [AggregateField: Value]

  init(query: AggregateQuery, metadata: SnapshotMetadata, figures: [AggregateField: Value]) {
    self.query = query
    self.metadata = metadata
    self.figures = figures
  }

  /// The number of documents; 0 also where `AggregateField.count()` was not asked for, which `get` can tell apart.
  public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

  /// An `NSNumber`, `NSNull` for the average of no numbers, `nil` for a field that was not asked for.
  public func get(_ aggregateField: AggregateField) -> Any? {
    figures[aggregateField].map { ValueDecoder(firestore: query.query.firestore, behavior: .none).any($0) }
  }
}

extension AggregateQuerySnapshot: Equatable {
  /// Same query, same figures; metadata does not matter.
  public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
    left.query == right.query && left.figures == right.figures
  }
}
