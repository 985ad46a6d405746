// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
package import FirestoreQuery
import FirestoreSQLite

/// Decides from the cost of a scan whether indexes should answer the query from now on (SDK: index auto-creation).
struct AutomaticIndexes {
  /// The least number of documents of a scan that deserves an index (SDK: INDEX_AUTO_CREATION_MIN_COLLECTION_SIZE).
  static let minimumScan = 100
  /// The number of scanned documents that cost as much as one that an index finds (SDKs: 2 to 8). Measured with
  /// hearth-bench, about 0.4 µs against 1.5 µs, without the work that both do with a document that matches.
  private static let relativeCost = 4
  /// The bound of automatic indexes. Every index slows down writing, so that queries of ever new shapes must not make
  /// ever more of them.
  private static let maximumCount = 32

  let database: CacheDatabase
  let minimumScan: Int

  /// Makes the indexes that the query lacks, if its scan cost more than they would have.
  func consider(_ query: Query, _ result: QueryResult) throws(StoreError) {
    guard result.plan == .scan, result.documentsScanned >= minimumScan else { return }
    let returned = min(result.matches.count, query.limit ?? .max)
    guard result.documentsScanned > Self.relativeCost * returned else { return }
    let known = try database.indexes.indexes
    let wanted = Self.definitions(for: query.target).filter { definition in
      !known.contains { $0.definition.isEquivalent(to: definition) }
    }
    let automatic = known.filter { $0.origin == .automatic }.count
    guard !wanted.isEmpty, automatic + wanted.count <= Self.maximumCount else { return }
    let database = database
    try database.transaction { () throws(StoreError) in
      for definition in wanted { try database.indexes.add(definition, .automatic) }
    }
  }

  /// The indexes that answer the target by themselves; none if some alternative would read a whole index.
  static func definitions(for target: Target) -> [FieldIndex] {
    guard let group = target.collectionGroup ?? (target.path.isRoot ? nil : target.path.last) else { return [] }
    var definitions: [FieldIndex] = []
    for conditions in Filter.and(target.filters).disjunctions {
      guard let definition = definition(for: conditions, target, group) else { return [] }
      if !definitions.contains(definition) { definitions.append(definition) }
    }
    return definitions.count > 4 ? [] : definitions
  }

  /// Orders the index's fields: the array first, then the fields that conditions fix, then the orderings, which include
  /// the fields of inequalities.
  private static func definition(
    for conditions: [FieldFilter], _ target: Target, _ group: String
  ) -> FieldIndex? {
    var fields: [FieldIndex.Field] = []
    var paths: Set<FieldPath> = []
    if let array = conditions.first(where: { $0.op == .arrayContains }), paths.insert(array.path).inserted {
      fields.append(FieldIndex.Field(array.path, .contains))
    }
    let fixed = conditions.filter { $0.op == .equal && !$0.path.isDocumentID }
    for path in fixed.map(\.path).sorted() where paths.insert(path).inserted {
      fields.append(FieldIndex.Field(path))
    }
    let order = target.orderBy.filter { !$0.path.isDocumentID && paths.insert($0.path).inserted }
    let isBounded = conditions.contains { condition in
      switch condition.op {
      case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: !condition.path.isDocumentID
      default: false
      }
    }
    if fields.isEmpty, !isBounded, target.limit == nil || order.isEmpty { return nil }
    fields += order.map { FieldIndex.Field($0.path, $0.direction == .descending ? .descending : .ascending) }
    // Queries for which no valid index exists go on without one.
    return try? FieldIndex(collectionGroup: group, fields: fields)
  }
}

extension FieldIndex {
  /// The indexes that together answer a query by themselves; none if an index would not help.
  package static func answering(_ query: Query) -> [FieldIndex] { AutomaticIndexes.definitions(for: query.target) }
}
