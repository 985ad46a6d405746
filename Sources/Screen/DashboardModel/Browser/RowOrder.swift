// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The order of a collection's documents in the tree.
package struct RowOrder: Hashable, Sendable {
  package enum Key: Hashable, Sendable {
    case id
    case field(FieldPath)
    /// The time of the last change, and that of the creation; no query asks for these.
    case changed, created
  }

  package var key: Key
  package var isDescending: Bool

  package static let id = RowOrder(.id)
  /// The newest changes first.
  package static let newest = RowOrder(.changed, isDescending: true)

  package init(_ key: Key, isDescending: Bool = false) {
    (self.key, self.isDescending) = (key, isDescending)
  }

  /// The largest collection that is read as a whole to be put in order here; of a larger one a query asks for its
  /// order, or only as many documents are known.
  package static let mostSortedHere = 1000

  /// Whether a query in this order leaves out the documents without the field.
  package var isField: Bool { if case .field = key { true } else { false } }
  /// Whether no query can ask for this order.
  package var isTime: Bool { key == .changed || key == .created }
  package var direction: OrderBy.Direction { isDescending ? .descending : .ascending }
  package var reversed: RowOrder { RowOrder(key, isDescending: !isDescending) }

  package var words: String {
    switch key {
    case .id: "id"
    case .field(let path): path.segments.joined(separator: ".")
    case .changed: "last changed"
    case .created: "created"
    }
  }

  /// The orderings of a query for this order; by ids where no query can ask for it.
  package var orderBy: [OrderBy] {
    switch key {
    case .id: [OrderBy(.documentID, direction)]
    case .field(let path): [OrderBy(path, direction), OrderBy(.documentID, direction)]
    case .changed, .created: [OrderBy(.documentID)]
    }
  }

  /// Whether one document comes before another; those that are equal follow their ids.
  package func isBefore(_ left: Document, _ right: Document) -> Bool {
    switch key {
    case .id, .field: return orderBy.compare(left, right) == .ascending
    case .changed: return isBefore(left.changeTime, right.changeTime, left, right)
    case .created: return isBefore(left.creationTime, right.creationTime, left, right)
    }
  }

  private func isBefore(_ left: Int64, _ right: Int64, _ leftDocument: Document, _ rightDocument: Document) -> Bool {
    if left == right { return leftDocument.key < rightDocument.key }
    return isDescending ? left > right : left < right
  }
}

extension Document {
  /// The time of the last change; a change that waits is newer than all that the server knows.
  fileprivate var changeTime: Int64 { hasPendingWrites ? .max : version?.timestamp.microseconds ?? .min }
  fileprivate var creationTime: Int64 {
    createTime?.timestamp.microseconds ?? (hasPendingWrites ? .max : .min)
  }
}

extension DocumentKey {
  private static let automaticLength = 20

  /// Whether the id has the form of those that SDKs make: 20 letters and digits.
  package var hasAutomaticID: Bool {
    let id = documentID.utf8
    return id.count == Self.automaticLength
      && id.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }
}
