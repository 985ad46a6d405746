// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A local index. It covers the cached documents of a collection group that have all of the index's fields. Each of
/// these documents has an entry, whose key consists of the values of the fields. If a field is indexed as an array, the
/// document has one entry for each element.
///
/// Entries are stored by collection. Therefore both queries of a single collection and queries of the whole group can
/// use the index.
package struct FieldIndex: Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case ascending, descending
    /// The field is an array, and each of its elements is indexed.
    case contains
  }

  package struct Field: Hashable, Sendable {
    package let path: FieldPath
    package let kind: Kind

    package init(_ path: FieldPath, _ kind: Kind = .ascending) {
      self.path = path
      self.kind = kind
    }
  }

  package let collectionGroup: String
  package let fields: [Field]

  /// Creates an index.
  /// - Parameter fields: the fields. A trailing `__name__`, which definitions exported from a server contain, is
  ///   dropped, because every index ends with it anyway.
  /// - Throws: `invalid-argument` if the id is invalid, or if there are no fields, a repeated field, several arrays, or
  ///   `__name__` before the end.
  package init(collectionGroup: String, fields: [Field]) throws(ModelError) {
    let place = "The index on collection group \"\(collectionGroup)\""
    guard !collectionGroup.isEmpty, !collectionGroup.utf8.contains(UInt8(ascii: "/")) else {
      throw ModelError(.invalidArgument, "\(place) needs a collection id without slashes.")
    }
    let fields = fields.last?.path.isDocumentID == true ? Array(fields.dropLast()) : fields
    if fields.isEmpty { throw ModelError(.invalidArgument, "\(place) has no field besides __name__.") }
    if fields.contains(where: \.path.isDocumentID) {
      throw ModelError(.invalidArgument, "\(place) names __name__ before its last field.")
    }
    var paths: Set<FieldPath> = []
    if let twice = fields.first(where: { !paths.insert($0.path).inserted }) {
      throw ModelError(.invalidArgument, "\(place) names \(twice.path.canonicalText) twice.")
    }
    if fields.filter({ $0.kind == .contains }).count > 1 {
      throw ModelError(.invalidArgument, "\(place) has more than one array field.")
    }
    self.init(unchecked: collectionGroup, fields)
  }

  init(unchecked collectionGroup: String, _ fields: [Field]) {
    self.collectionGroup = collectionGroup
    self.fields = fields
  }

  /// Whether every query that can use the other index can also use this one. This is also true if all directions are
  /// reversed, because entries can be read backward.
  package func isEquivalent(to other: FieldIndex) -> Bool { self == other || reversed == other }

  private var reversed: FieldIndex {
    FieldIndex(
      unchecked: collectionGroup,
      fields.map { field in
        switch field.kind {
        case .ascending: Field(field.path, .descending)
        case .descending: Field(field.path, .ascending)
        case .contains: field
        }
      })
  }
}

extension FieldIndex: Hashable {
  package static func == (left: FieldIndex, right: FieldIndex) -> Bool {
    left.collectionGroup.equalsUTF8(right.collectionGroup) && left.fields == right.fields
  }

  package func hash(into hasher: inout Hasher) {
    collectionGroup.hashUTF8(into: &hasher)
    hasher.combine(fields)
  }
}

extension FieldIndex: CustomStringConvertible {
  /// The index as text, such as `cities(state ascending, population descending)`.
  package var description: String {
    let list = fields.map { "\($0.path.canonicalText) \($0.kind.rawValue)" }
    return "\(collectionGroup)(\(list.joined(separator: ", ")))"
  }
}
