// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// An index that Cloud Firestore has to be given before it answers a query. Every field has indexes of its own there,
/// and equalities of several fields are answered from those; emulators and the embedded backend need none.
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
  /// Whether it holds the collections of that id at any depth.
  package var isGroup: Bool
  package var fields: [Field]

  package init(collectionID: String, isGroup: Bool, fields: [Field]) {
    self.collectionID = collectionID
    self.isGroup = isGroup
    self.fields = fields
  }

  /// - Returns: `nil` for a query that needs none.
  package static func needed(for query: Query) -> CompositeIndex? { IndexNeed.all(of: query.target).first?.index }
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
