// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// An index that Cloud Firestore has to be given before it answers a query. Every field has indexes of its own there,
/// and equalities of several fields are answered from those; emulators and the embedded backend need none.
package struct CompositeIndex: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var path: FieldPath
    package var kind: FieldIndex.Kind
  }

  package var collectionID: String
  /// Whether it holds the collections of that id at any depth.
  package var isGroup: Bool
  package var fields: [Field]

  /// - Returns: `nil` for a query that needs none.
  package static func needed(for query: Query) -> CompositeIndex? {
    let target = query.target
    if query.isDocumentQuery { return nil }
    guard let id = target.collectionGroup ?? (target.path.isRoot ? nil : target.path.last) else { return nil }
    let isGroup = target.collectionGroup != nil
    for conditions in Filter.and(target.filters).disjunctions {
      let fields = fields(for: conditions, target.orderBy, isGroup: isGroup)
      if !fields.isEmpty { return CompositeIndex(collectionID: id, isGroup: isGroup, fields: fields) }
    }
    return nil
  }

  /// The array first, then what is fixed, then the order; none where the fields' own indexes do.
  private static func fields(for conditions: [FieldFilter], _ orderBy: [OrderBy], isGroup: Bool) -> [Field] {
    var taken: Set<FieldPath> = []
    func new(_ path: FieldPath) -> Bool { !path.isDocumentID && taken.insert(path).inserted }
    let arrays = conditions.filter { $0.op == .arrayContains || $0.op == .arrayContainsAny }.map(\.path).filter(new)
    let fixed = conditions.filter { $0.op == .equal || $0.op == .in }.map(\.path).filter(new)
    let order = orderBy.filter { new($0.path) }
    var fields = arrays.map { Field(path: $0, kind: .contains) } + fixed.map { Field(path: $0, kind: .ascending) }
    let isMerged = order.isEmpty || fields.isEmpty && order.count == 1
    // The fields' own indexes are of single collections.
    if isMerged, !isGroup { return [] }
    fields += order.map { Field(path: $0.path, kind: $0.direction == .descending ? .descending : .ascending) }
    return fields
  }
}

extension CompositeIndex: CustomStringConvertible {
  /// As `orders: status ASC, total DESC`.
  package var description: String {
    let list = fields.map { field in
      let word =
        switch field.kind {
        case .ascending: "ASC"
        case .descending: "DESC"
        case .contains: "CONTAINS"
        }
      return "\(field.path.canonicalText) \(word)"
    }
    return (isGroup ? "collection group " : "") + collectionID + ": " + list.joined(separator: ", ")
  }
}
