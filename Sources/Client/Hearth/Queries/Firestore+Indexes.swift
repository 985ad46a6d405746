// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync
public import Foundation

extension Firestore {
  /// Sets the local indexes from JSON in the format of `firestore.indexes.json`.
  ///
  /// The new list replaces the previous one. Indexes that are in both lists keep their entries; indexes that are only
  /// in the previous list are dropped. New indexes are built in the background, and queries use them when they are
  /// complete. Query results are the same with and without indexes. Indexes are stored with the cache, in memory or on
  /// disk. Unknown JSON members are ignored with a warning in the log.
  /// - Parameter completion: called with `nil`, or with `invalidArgument` and the line and column of the error in the
  ///   JSON.
  public func setIndexConfiguration(_ json: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { try await self.setIndexConfiguration(json) }
  }

  /// Sets the local indexes from JSON, like `setIndexConfiguration(_:completion:)`.
  /// - Throws: `invalidArgument` with the line and column of the error in the JSON.
  public func setIndexConfiguration(_ json: String) async throws {
    _ = try client()
    let configuration = try IndexConfiguration(parsing: json)
    try await set(configuration.fieldIndexes)
    for warning in configuration.warnings { ClientLog.warn("index configuration, \(warning)", database) }
  }

  /// Sets the local indexes from definitions. The effects are the same as with JSON.
  public func setIndexConfiguration(
    _ indexes: [IndexDefinition], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    complete(completion) { try await self.setIndexConfiguration(indexes) }
  }

  /// Sets the local indexes from definitions. The effects are the same as with JSON.
  /// - Throws: `invalidArgument` if a definition is invalid.
  public func setIndexConfiguration(_ indexes: [IndexDefinition]) async throws {
    _ = try client()
    var definitions: [FieldIndex] = []
    do throws(ModelError) {
      for index in indexes { definitions.append(try index.fieldIndex()) }
    } catch {
      throw FirestoreError(error)
    }
    try await set(definitions)
  }

  private func set(_ definitions: [FieldIndex]) async throws(FirestoreError) {
    try await ask { engine throws(RPCStatus) in try await engine.setIndexes(definitions) }
  }

  /// The local indexes, including automatic ones, and how far each has been built.
  public func localIndexes() async throws -> [LocalIndex] {
    try await ask { engine throws(RPCStatus) in try await engine.indexes().map { LocalIndex($0) } }
  }

  /// The local indexes, now and after each change, including the progress of building an index. A slow consumer
  /// receives the newest state. The sequence ends with the client, or immediately if the client cannot be used.
  public var localIndexUpdates: StatusUpdates<[LocalIndex]> { statusUpdates { $0.indexes.map(LocalIndex.init) } }

  /// Creates and drops indexes of the persistent cache. As in the SDK, this is `nil` with a memory cache, including a
  /// memory cache that replaces an unusable durable cache.
  public var persistentCacheIndexManager: PersistentCacheIndexManager? {
    settings.isPersistenceEnabled ? PersistentCacheIndexManager(firestore: self) : nil
  }
}

/// A local index and its state.
public struct LocalIndex: Hashable, Sendable {
  /// The definition of the index: its collections and fields.
  public let definition: IndexDefinition
  /// Whether the client created the index automatically for a query.
  public let isAutomatic: Bool
  /// Whether the index is complete, so that queries use it.
  public let isReady: Bool
  /// The number of cached documents that have been added to the index while it is being built. 0 when the index is
  /// ready.
  public let documentsIndexed: Int
  /// The number of cached documents to add to the index while it is being built. 0 when the index is ready.
  public let documentsTotal: Int

  init(_ state: IndexState) {
    definition = IndexDefinition(state.definition)
    isAutomatic = state.isAutomatic
    isReady = state.backfill == nil
    documentsIndexed = state.backfill?.documentsIndexed ?? 0
    documentsTotal = state.backfill?.documentsTotal ?? 0
  }
}

extension Firestore {
  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Parameter completion: called with `nil`, or with `invalidArgument` and the line and column of the error in the
  ///   JSON.
  public func setIndexConfiguration(
    _ stream: sending InputStream, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    let source = ByteSource(stream)
    complete(completion) { [self] in try await setIndexConfiguration(try await text(of: source)) }
  }

  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Throws: `invalidArgument` with the line and column of the error in the JSON.
  public func setIndexConfiguration(_ stream: sending InputStream) async throws {
    let source = ByteSource(stream)
    _ = try client()
    try await setIndexConfiguration(try await text(of: source))
  }

  private func text(of source: ByteSource) async throws(FirestoreError) -> String {
    try await source.read(on: app.backend.surroundings.loop) { bytes throws(FirestoreError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .invalidArgument("The index configuration is not UTF-8.")
      }
      return text
    }
  }
}

/// Creates and drops indexes of the persistent cache. As in the SDK, its functions do not report errors, because a
/// query without an index returns the same result, only more slowly.
public final class PersistentCacheIndexManager: Sendable {
  private let firestore: Firestore

  init(firestore: Firestore) { self.firestore = firestore }

  /// Enables automatic indexes: if a query reads many cached documents for few results, the client creates an index for
  /// it. Disabled by default. The indexes persist after a restart, but this setting does not.
  public func enableIndexAutoCreation() { setAutoCreation(true) }

  /// Stops creating indexes automatically. Existing automatic indexes remain in use.
  public func disableIndexAutoCreation() { setAutoCreation(false) }

  /// Drops all indexes, including configured ones.
  public func deleteAllIndexes() { try? firestore.client().engine.deleteAllIndexes() }

  private func setAutoCreation(_ isEnabled: Bool) { try? firestore.client().engine.setIndexAutoCreation(isEnabled) }
}

/// The definition of a local index, which corresponds to one entry of `firestore.indexes.json`.
///
/// A query uses the whole index if three conditions are met. It compares the leading fields with `==`, `in` or
/// `array-contains`. It filters the next field by a range, or orders by it. It then orders by the remaining fields.
/// Other queries use as many of the leading fields as they can.
public struct IndexDefinition: Hashable, Sendable {
  /// The kind of queries for which an index is intended. In the cache, queries of both kinds can use every index.
  public enum QueryScope: String, Hashable, Sendable, CaseIterable {
    /// Queries of a single collection.
    case collection = "COLLECTION"
    /// Queries of all collections with the same id.
    case collectionGroup = "COLLECTION_GROUP"
  }

  /// The id of the collections, such as `cities`.
  public let collectionGroup: String
  /// The kind of queries for which the index is intended.
  public let queryScope: QueryScope
  /// The fields, beginning with the leading field.
  public let fields: [IndexField]

  /// Creates a definition.
  /// - Parameters:
  ///   - collectionGroup: the id of the collections, such as `cities`.
  ///   - fields: at least one field, without duplicates, and at most one array field. `setIndexConfiguration` reports
  ///     violations.
  public init(collectionGroup: String, queryScope: QueryScope = .collection, fields: [IndexField]) {
    self.collectionGroup = collectionGroup
    self.queryScope = queryScope
    self.fields = fields
  }
}

/// One field of an index. The field is either ordered, or an array whose elements can be searched.
public struct IndexField: Hashable, Sendable {
  /// The order of an index's entries.
  public enum Order: String, Hashable, Sendable, CaseIterable {
    /// Ascending, from the smallest to the largest value.
    case ascending = "ASCENDING"
    /// Descending, from the largest to the smallest value.
    case descending = "DESCENDING"
  }

  /// The kind of search in an array.
  public enum ArrayConfig: String, Hashable, Sendable, CaseIterable {
    /// A search for an element.
    case contains = "CONTAINS"
  }

  /// The path of the field, with dots between nested field names.
  public let fieldPath: String
  /// The order of an ordered field; `nil` for an array field.
  public let order: Order?
  /// The kind of search in an array field; `nil` for an ordered field.
  public let arrayConfig: ArrayConfig?

  /// Creates an ordered field of an index.
  public init(fieldPath: String, order: Order = .ascending) {
    self.fieldPath = fieldPath
    self.order = order
    arrayConfig = nil
  }

  /// Creates an array field of an index, whose elements can be searched.
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
