// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The values by which a document is ordered, read once to be compared with many other documents.
struct SortKey {
  private let orderBy: [OrderBy]
  private let first: Value?
  private let rest: [Value?]
  private let key: DocumentKey

  init(_ document: Document, _ orderBy: [OrderBy]) {
    self.orderBy = orderBy
    first = orderBy.first.flatMap { document[$0.path] }
    // Two orderings are mostly a field and the key, which needs no value.
    let needsMore = orderBy.dropFirst().contains { !$0.path.isDocumentID }
    rest = needsMore ? orderBy.dropFirst().map { document[$0.path] } : []
    key = document.key
  }

  /// Compares another document, whose fields are not decoded for it, with this one.
  @inline(__always)
  func compare(_ other: UnsafePointer<Document>) -> Ordering {
    for (index, order) in orderBy.enumerated() {
      let ordering: Ordering
      if order.path.isDocumentID {
        ordering = other.pointee.key.path.compare(key.path)
      } else {
        ordering = Self.compare(other, order.path, index == 0 ? first : rest[index - 1])
      }
      if ordering != .equal { return order.direction == .descending ? ordering.reversed : ordering }
    }
    return .equal
  }

  /// Compares a field with a value; what is missing comes first.
  private static func compare(_ document: UnsafePointer<Document>, _ path: FieldPath, _ value: Value?) -> Ordering {
    guard let value else { return document.pointee[path] == nil ? .equal : .descending }
    return document.pointee.data?.compare(path, with: value) ?? .ascending
  }
}
