// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel

/// The definition of a local index: the typed form of one entry of `firestore.indexes.json`.
///
/// An index serves a query whose conditions fix its leading fields (`==`, `in`, `array-contains`), bound or order the
/// next one, and whose orderings are the rest; other queries use as much of it as they can.
public struct IndexDefinition: Hashable, Sendable {
  /// The queries that an index is meant for. The cache's indexes serve both kinds, whatever is given here.
  public enum QueryScope: String, Hashable, Sendable, CaseIterable {
    /// Queries on one collection.
    case collection = "COLLECTION"
    /// Queries on all collections with the id.
    case collectionGroup = "COLLECTION_GROUP"
  }

  /// The id of the collections, such as `cities`.
  public let collectionGroup: String
  /// The queries that the index is meant for.
  public let queryScope: QueryScope
  /// The fields, the first one leading.
  public let fields: [IndexField]

  /// Makes a definition.
  /// - Parameters:
  ///   - collectionGroup: the id of the collections, such as `cities`.
  ///   - fields: at least one, each once, at most one of them an array. `setIndexConfiguration` reports fields that
  ///     break this.
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
    /// Ascending, from the smallest value on.
    case ascending = "ASCENDING"
    /// Descending, from the largest value on.
    case descending = "DESCENDING"
  }

  /// The way in which an array is searched.
  public enum ArrayConfig: String, Hashable, Sendable, CaseIterable {
    /// The array is searched for an element.
    case contains = "CONTAINS"
  }

  /// The path of the field, with dots.
  public let fieldPath: String
  /// The order of an ordered field; `nil` for an array.
  public let order: Order?
  /// The way in which an array is searched; `nil` for an ordered field.
  public let arrayConfig: ArrayConfig?

  /// Makes an ordered field of an index.
  public init(fieldPath: String, order: Order = .ascending) {
    self.fieldPath = fieldPath
    self.order = order
    arrayConfig = nil
  }

  /// Makes a field of an index for an array whose elements are searched.
  public init(fieldPath: String, arrayConfig: ArrayConfig) {
    self.fieldPath = fieldPath
    order = nil
    self.arrayConfig = arrayConfig
  }
}

extension IndexDefinition: CustomStringConvertible {
  /// The definition as text, such as `cities(state ascending, population descending)`.
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
