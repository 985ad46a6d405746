// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Bound {
  /// Whether the document comes at or after the bound, which is a start.
  func admitsFollowing(_ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy]) -> Bool {
    let ordering = compare(fields, of: key, orderBy)
    return isInclusive ? ordering != .descending : ordering == .ascending
  }

  /// Whether the document comes at or before the bound, which is an end.
  func admitsPreceding(_ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy]) -> Bool {
    let ordering = compare(fields, of: key, orderBy)
    return isInclusive ? ordering != .ascending : ordering == .descending
  }

  /// The bound's order relative to the document, by the leading orderings that it has values for.
  private func compare(_ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy]) -> Ordering {
    for (value, order) in zip(values, orderBy) {
      var ordering = Ordering.equal
      if order.path.isDocumentID {
        if let bound = value.referencedKey { ordering = bound.path.compare(key.path) }
      } else if let stored = fields.find(order.path)?.compare(value) {
        ordering = stored.reversed
      }
      if order.direction == .descending { ordering = ordering.reversed }
      if ordering != .equal { return ordering }
    }
    return .equal
  }
}
