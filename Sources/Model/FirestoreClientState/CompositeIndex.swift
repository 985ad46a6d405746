// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A composite index that Cloud Firestore requires to answer a query. Cloud Firestore automatically indexes every
/// single field, and merges these indexes for queries that test several fields for equality. Emulators and the embedded
/// backend need no composite indexes.
package struct CompositeIndex: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var path: FieldPath
    package var kind: FieldIndex.Kind

    package init(path: FieldPath, kind: FieldIndex.Kind) {
      self.path = path
      self.kind = kind
    }
  }

  package var collectionID: String
  /// Whether the index covers all collections with the same id, at any depth.
  package var isGroup: Bool
  package var fields: [Field]

  package init(collectionID: String, isGroup: Bool, fields: [Field]) {
    self.collectionID = collectionID
    self.isGroup = isGroup
    self.fields = fields
  }

  /// The first composite index that a query needs.
  /// - Returns: `nil` if the query needs no composite index.
  package static func needed(for query: Query) -> CompositeIndex? { IndexNeed.all(of: query.target).first?.index }
}

extension CompositeIndex: CustomStringConvertible {
  /// The index as text, such as `orders: status ASC, total DESC`.
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

/// The index fields that Cloud Firestore needs to answer one alternative of a query. First come the fields that
/// equality conditions fix, in any order, and then the fields by which the result is ordered.
package struct IndexNeed: Hashable, Sendable {
  package let collectionID: String
  /// Whether the query reads all collections with the same id.
  package let isGroup: Bool
  /// The fields that conditions fix: first the array that is searched, then the fields with equality conditions.
  package let fixed: [CompositeIndex.Field]
  package let order: [CompositeIndex.Field]

  /// A single index that suffices to answer this alternative of the query.
  package var index: CompositeIndex {
    CompositeIndex(collectionID: collectionID, isGroup: isGroup, fields: fixed + order)
  }

  /// The index needs of a query: one for each alternative of an OR that single-field indexes cannot answer.
  package static func all(of target: Target) -> [IndexNeed] {
    if target.isDocumentTarget { return [] }
    guard let id = target.collectionGroup ?? (target.path.isRoot ? nil : target.path.last) else { return [] }
    var needs: [IndexNeed] = []
    for conditions in Filter.and(target.filters).disjunctions {
      let need = IndexNeed(conditions, target.orderBy, of: id, isGroup: target.collectionGroup != nil)
      if let need, !needs.contains(need) { needs.append(need) }
    }
    return needs
  }

  /// Fails if single-field indexes suffice. Such indexes exist only for single collections, not for collection groups.
  private init?(_ conditions: [FieldFilter], _ orderBy: [OrderBy], of id: String, isGroup: Bool) {
    var taken: Set<FieldPath> = []
    func new(_ path: FieldPath) -> Bool { !path.isDocumentID && taken.insert(path).inserted }
    let arrays = conditions.filter { $0.op == .arrayContains || $0.op == .arrayContainsAny }.map(\.path).filter(new)
    let equal = conditions.filter { $0.op == .equal || $0.op == .in }.map(\.path).filter(new)
    fixed =
      arrays.map { CompositeIndex.Field(path: $0, kind: .contains) }
      + equal.map { CompositeIndex.Field(path: $0, kind: .ascending) }
    let ordered = orderBy.filter { new($0.path) }.map {
      CompositeIndex.Field(path: $0.path, kind: $0.direction == .descending ? .descending : .ascending)
    }
    (collectionID, self.isGroup) = (id, isGroup)
    let isBackwards = fixed.isEmpty && ordered.isEmpty && orderBy.last?.direction == .descending
    order = isBackwards ? [CompositeIndex.Field(path: .documentID, kind: .descending)] : ordered
    // A collection is stored in ascending order of names, so reading it in descending order needs an index.
    if isBackwards { return }
    let isMerged = order.isEmpty || fixed.isEmpty && order.count == 1
    if fixed.isEmpty && order.isEmpty || isMerged && !isGroup { return nil }
  }

  /// Whether these indexes together answer the alternative. Each index must begin with some of the fixed fields, in any
  /// order, followed by all fields by which the result is ordered. Every fixed field must be in at least one index.
  ///
  /// Cloud Firestore does not read an index in reverse: Google's page on index types lists one index for each
  /// direction. A `limitToLast` reverses the order, so it fails without a separate index, even if the order is by
  /// `__name__` (firebase.google.com/docs/firestore/query-data/index-overview,
  /// github.com/firebase/flutterfire/issues/4398).
  package func isMet(by indexes: [CompositeIndex]) -> Bool {
    var open = Set(fixed.map(\.path))
    var isOrdered = order.isEmpty
    for index in indexes where index.collectionID == collectionID && index.isGroup == isGroup {
      let (leading, rest) = (index.fields.dropLast(order.count), Array(index.fields.suffix(order.count)))
      guard index.fields.count >= order.count, rest == order,
        leading.allSatisfy({ field in fixed.contains { $0.path == field.path && $0.isArray == field.isArray } })
      else { continue }
      isOrdered = true
      open.subtract(leading.map(\.path))
    }
    return isOrdered && open.isEmpty
  }
}

extension CompositeIndex.Field {
  fileprivate var isArray: Bool { kind == .contains }
}
