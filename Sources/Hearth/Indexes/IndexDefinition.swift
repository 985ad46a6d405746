// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel

/// A local index to be kept: the typed form of one entry of `firestore.indexes.json`.
///
/// An index serves a query whose conditions fix its leading fields (`==`, `in`, `array-contains`), bound or order the
/// next one, and whose orderings are the rest; other queries use as much of it as they can.
public struct IndexDefinition: Hashable, Sendable {
  /// Which queries an index is meant for. The cache's indexes serve both kinds, whatever is said here.
  public enum QueryScope: String, Hashable, Sendable, CaseIterable {
    /// Queries on one collection.
    case collection = "COLLECTION"
    /// Queries on all collections with the id.
    case collectionGroup = "COLLECTION_GROUP"
  }

  /// The id of the collections, such as `cities`.
  public let collectionGroup: String
  /// Which queries it is meant for.
  public let queryScope: QueryScope
  /// The fields, the first one leading.
  public let fields: [IndexField]

  /// - Parameters:
  ///   - collectionGroup: the id of the collections, such as `cities`.
  ///   - fields: at least one, each once, at most one of them an array. What breaks this is reported by
  ///     `setIndexConfiguration`.
  public init(collectionGroup: String, queryScope: QueryScope = .collection, fields: [IndexField]) {
    self.collectionGroup = collectionGroup
    self.queryScope = queryScope
    self.fields = fields
  }
}

/// One field of an index: ordered, or an array whose elements are searched.
public struct IndexField: Hashable, Sendable {
  /// The order of the entries.
  public enum Order: String, Hashable, Sendable, CaseIterable {
    /// From the smallest value.
    case ascending = "ASCENDING"
    /// From the largest value.
    case descending = "DESCENDING"
  }

  /// What is searched in an array.
  public enum ArrayConfig: String, Hashable, Sendable, CaseIterable {
    /// Its elements.
    case contains = "CONTAINS"
  }

  /// Dotted.
  public let fieldPath: String
  /// `nil` for an array.
  public let order: Order?
  /// `nil` for an ordered field.
  public let arrayConfig: ArrayConfig?

  /// An ordered field.
  public init(fieldPath: String, order: Order = .ascending) {
    self.fieldPath = fieldPath
    self.order = order
    arrayConfig = nil
  }

  /// An array whose elements are searched.
  public init(fieldPath: String, arrayConfig: ArrayConfig) {
    self.fieldPath = fieldPath
    order = nil
    self.arrayConfig = arrayConfig
  }
}

extension IndexDefinition: CustomStringConvertible {
  /// As `cities(state ascending, population descending)`.
  public var description: String {
    let list = fields.map { field in
      "\(field.fieldPath) \(field.order.map { "\($0)" } ?? "contains")"
    }
    return "\(collectionGroup)(\(list.joined(separator: ", ")))"
  }
}

extension IndexDefinition {
  init(_ index: FieldIndex) {
    self.init(
      collectionGroup: index.collectionGroup,
      fields: index.fields.map { field in
        let path = field.path.canonicalText
        return switch field.kind {
        case .ascending: IndexField(fieldPath: path, order: .ascending)
        case .descending: IndexField(fieldPath: path, order: .descending)
        case .contains: IndexField(fieldPath: path, arrayConfig: .contains)
        }
      })
  }

  func fieldIndex() throws(ModelError) -> FieldIndex {
    var list: [FieldIndex.Field] = []
    for field in fields { list.append(FieldIndex.Field(try .init(validating: field.fieldPath), field.kind)) }
    return try FieldIndex(collectionGroup: collectionGroup, fields: list)
  }
}

extension IndexField {
  fileprivate var kind: FieldIndex.Kind {
    switch order {
    case .ascending: .ascending
    case .descending: .descending
    case nil: .contains
    }
  }
}
