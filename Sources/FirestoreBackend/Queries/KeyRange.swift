// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// The part of the key order in which a target's documents can lie, from its filters and cursors on `__name__`. Bounds
/// are inclusive here: the target's own matching excludes what an exclusive bound names.
struct KeyRange {
  private(set) var lower: DocumentKey?
  private(set) var upper: DocumentKey?
  /// Documents named one by one, by `__name__ in`: then only these can match.
  private(set) var keys: [DocumentKey]?

  init(_ target: Target) {
    for case .field(let filter) in target.filters where filter.path.isDocumentID { narrow(filter) }
    guard let order = target.orderBy.first, order.path.isDocumentID else { return }
    let (low, high) = order.direction == .ascending ? (target.start, target.end) : (target.end, target.start)
    if case .reference(_, let key)? = low?.values.first { raise(to: key) }
    if case .reference(_, let key)? = high?.values.first { lower(to: key) }
  }

  private mutating func narrow(_ filter: FieldFilter) {
    switch (filter.op, filter.value) {
    case (.equal, .reference(_, let key)):
      raise(to: key)
      lower(to: key)
    case (.greaterThan, .reference(_, let key)), (.greaterThanOrEqual, .reference(_, let key)): raise(to: key)
    case (.lessThan, .reference(_, let key)), (.lessThanOrEqual, .reference(_, let key)): lower(to: key)
    case (.in, .array(let values)):
      let named = values.compactMap { value -> DocumentKey? in
        if case .reference(_, let key) = value { key } else { nil }
      }
      let earlier = keys.map(Set.init)
      keys = Set(named).filter { earlier?.contains($0) ?? true }.sorted()
    default: break
    }
  }

  private mutating func raise(to key: DocumentKey) { lower = lower.map { max($0, key) } ?? key }
  private mutating func lower(to key: DocumentKey) { upper = upper.map { min($0, key) } ?? key }

  /// The range of names inside one collection; `nil` when nothing of the collection lies in the range.
  func names(in collection: ResourcePath) -> (first: DocumentName, last: DocumentName)? {
    var (first, last) = (DocumentName.first, DocumentName.last)
    if let lower {
      if collection.isPrefix(of: lower.path) {
        first = DocumentName(lower.path.segments[collection.count])
      } else if collection < lower.path {
        return nil
      }
    }
    if let upper {
      if collection.isPrefix(of: upper.path) {
        last = DocumentName(upper.path.segments[collection.count])
      } else if upper.path < collection {
        return nil
      }
    }
    return first <= last ? (first, last) : nil
  }
}
