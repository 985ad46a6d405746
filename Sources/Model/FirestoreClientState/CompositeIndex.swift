// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// An index that Cloud Firestore must have before it answers a query. It has indexes of every single field by itself,
/// and answers equalities of several fields from those; emulators and the embedded backend need none.
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
  /// Whether the index holds the collections of that id at any depth.
  package var isGroup: Bool
  package var fields: [Field]

  package init(collectionID: String, isGroup: Bool, fields: [Field]) {
    self.collectionID = collectionID
    self.isGroup = isGroup
    self.fields = fields
  }

  /// The first index that a query needs.
  /// - Returns: `nil` for a query that needs none.
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
