// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// A plan for finding a target's documents with those indexes of a collection group that are ready. The plan splits the
/// target's filter into alternatives (`or`, `in`, `array-contains-any`). For each alternative, it has index ranges that
/// contain all matching documents.
struct IndexPlan {
  /// The maximum number of alternatives. With more alternatives, a scan is cheaper. The backend allows only 30.
  static let maximumAlternatives = 200

  /// The possible index uses for each alternative, at least one per alternative.
  let alternatives: [[IndexCandidate]]

  /// - Returns: `nil` if no index is usable for one of the alternatives.
  init?(_ target: Target, _ indexes: [IndexTable.Index]) {
    let ready = indexes.filter(\.isReady)
    if ready.isEmpty { return nil }
    let disjunctions = Filter.and(target.filters).disjunctions
    guard (1...Self.maximumAlternatives).contains(disjunctions.count) else { return nil }
    // Omits a field from the order only if all alternatives fix it to the same value, because the alternatives are
    // merged in this order.
    let fixed = Set(target.filters.flatMap(\.commonConditions).filter { $0.op == .equal }.map(\.path))
    let order = target.orderBy.prefix { !$0.path.isDocumentID }.filter { !fixed.contains($0.path) }
    var alternatives: [[IndexCandidate]] = []
    for conditions in disjunctions {
      let candidates = ready.compactMap { IndexCandidate($0, conditions, order, target) }
      if candidates.isEmpty { return nil }
      alternatives.append(candidates)
    }
    self.alternatives = alternatives
  }

  /// One index use for each alternative, with entries in the query's order; `nil` if an alternative has no such index
  /// use. Several alternatives may share a range.
  var ordered: [IndexCandidate]? {
    var chosen: [IndexCandidate] = []
    var ranges: Set<IndexRange> = []
    for candidates in alternatives {
      let best = candidates.filter(\.isOrdered).max {
        ($0.fixedCount, $0.served.count) < ($1.fixedCount, $1.served.count)
      }
      guard let best else { return nil }
      if ranges.insert(best.range).inserted { chosen.append(best) }
    }
    return chosen
  }
}

extension Filter {
  /// The conditions that hold for every document that matches the filter.
  fileprivate var commonConditions: [FieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let filters): filters.flatMap(\.commonConditions)
    case .or(let filters): filters.count == 1 ? filters[0].commonConditions : []
    }
  }
}

/// The entries of one index whose keys are between two bounds.
struct IndexRange: Hashable {
  let index: IndexNumber
  let lower: [UInt8]
  /// The first key after the range.
  let upper: [UInt8]

  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
}

/// One end of a range of keys. If `isInside` is true, keys with the prefix `code` belong to the range.
///
/// A truncated key contains only the beginning of a value. If `code` is truncated, the range therefore includes all
/// keys with this prefix. The query still checks each document.
struct IndexEdge {
  let code: [UInt8]
  let isInside: Bool

  init(_ code: [UInt8], isInside: Bool) {
    self.code = Array(code.prefix(FieldIndex.keyLimit))
    self.isInside = isInside || code.count > FieldIndex.keyLimit
  }

  /// The first key inside the range, if this is the lower end.
  var lower: [UInt8] { isInside ? code : Self.successor(code) }
  /// The first key outside the range, if this is the upper end.
  var upper: [UInt8] { isInside ? Self.successor(code) : code }

  /// The lowest key that is greater than all keys with this prefix. Such a key exists, because no key begins with 0xFF.
  private static func successor(_ code: [UInt8]) -> [UInt8] {
    var code = code
    while code.last == 0xff { code.removeLast() }
    guard let last = code.popLast() else { return [0xff] }
    code.append(last + 1)
    return code
  }
}

/// The use of one index for a query, or for one of its alternatives. It is a range of entries that contains an entry
/// for each matching document.
///
/// Conditions fix each of the index's leading fields to one value; these values form a prefix of the keys. The next
/// field may have bounds. All following fields must exist in every matching document. The range may contain other
/// documents, because each document is checked later.
struct IndexCandidate {
  let index: IndexTable.Index
  let range: IndexRange
  /// The conditions that restrict the range. The operators `!=` and `not-in` never restrict it.
  let served: [FieldFilter]
  /// The number of leading fields that are fixed to a value.
  let fixedCount: Int
  /// Whether the entries are in the query's order, so that the query's first documents come first. Documents with equal
  /// keys must still be sorted, and so must documents whose order depends on fields outside of the index.
  let isOrdered: Bool
  /// Whether the entries must be read backward to obtain the query's order.
  let isReversed: Bool
  /// Whether the range is narrower than the whole index.
  let isBounded: Bool
  /// Whether the range contains exactly the documents that match the whole target, so that no document has to be
  /// checked.
  let isExact: Bool

  /// - Parameters:
  ///   - conditions: the conditions that all documents of the alternative satisfy.
  ///   - order: the orderings of the target, ending with `__name__`, without the orderings in which all of the target's
  ///     documents are equal.
  /// - Returns: `nil` if some matching documents might have no entry in the index.
  init?(_ index: IndexTable.Index, _ conditions: [FieldFilter], _ order: [OrderBy], _ target: Target) {
    let fields = index.definition.fields
    var prefix = OrderedCode()
    var served: [FieldFilter] = []
    var position = 0
    while position < fields.count, let filter = conditions.first(where: { fields[position].isFixed(by: $0) }) {
      prefix.isDescending = fields[position].kind == .descending
      prefix.append(filter.value)
      served.append(filter)
      position += 1
    }
    let rest = fields[position...]
    for field in rest {
      let isPresent = order.contains { $0.path == field.path } || conditions.contains { $0.path == field.path }
      if field.kind == .contains || !isPresent { return nil }
    }

    let directions = zip(rest, order).map { ($0.kind == .descending) == ($1.direction == .descending) }
    isOrdered =
      !rest.isEmpty && rest.count <= order.count && zip(rest, order).allSatisfy { $0.path == $1.path }
      && directions.allSatisfy { $0 == directions.first }
    isReversed = isOrdered && directions.first == false

    var bounds = KeyBounds(prefix.bytes)
    if let field = rest.first {
      for filter in conditions where filter.path == field.path && bounds.narrow(to: filter, field.kind) {
        served.append(filter)
      }
    }
    if isOrdered {
      // The values of a cursor begin with the first ordering of the query, even if its field is fixed.
      let aligned = zip(rest, target.orderBy).prefix { $0.path == $1.path }.map(\.0)
      bounds.narrow(to: target.start, aligned, isUpper: isReversed)
      bounds.narrow(to: target.end, aligned, isUpper: !isReversed)
    }
    self.index = index
    self.served = served
    fixedCount = position
    isBounded = bounds.isNarrowed || position > 0
    // Exact because different values have different keys unless the keys are truncated.
    isExact =
      rest.isEmpty && served.allSatisfy { $0.op == .equal }
      && Set(target.filters) == Set(served.map { Filter.field($0) })
      && target.start == nil && target.end == nil && target.orderBy.allSatisfy(\.path.isDocumentID)
      && prefix.bytes.count < FieldIndex.keyLimit
    range = IndexRange(index: index.number, lower: bounds.lower, upper: bounds.upper)
  }
}

extension FieldIndex.Field {
  /// Whether the condition fixes this field's part of the key to one value.
  fileprivate func isFixed(by filter: FieldFilter) -> Bool {
    filter.path == path && filter.op == (kind == .contains ? .arrayContains : .equal)
  }
}

/// The two ends of a range of keys with a common prefix.
private struct KeyBounds {
  private(set) var lower: [UInt8]
  private(set) var upper: [UInt8]
  private(set) var isNarrowed = false
  private let prefix: [UInt8]

  init(_ prefix: [UInt8]) {
    self.prefix = prefix
    if prefix.isEmpty {
      // Contains all keys, because the first byte of a key is the rank of a type.
      (lower, upper) = ([0x00], [0xff])
    } else {
      let edge = IndexEdge(prefix, isInside: true)
      (lower, upper) = (edge.lower, edge.upper)
    }
  }

  /// - Returns: whether every key in the range now satisfies the condition. Truncated keys may not.
  mutating func narrow(to filter: FieldFilter, _ kind: FieldIndex.Kind) -> Bool {
    let isDescending = kind == .descending
    let (above, below): (Bool, Bool)
    switch filter.op {
    case .greaterThan, .greaterThanOrEqual: (above, below) = (true, false)
    case .lessThan, .lessThanOrEqual: (above, below) = (false, true)
    case .equal, .notEqual, .notIn, .in, .arrayContains, .arrayContainsAny: return false
    }
    var value = OrderedCode(isDescending: isDescending)
    value.append(filter.value)
    let isInside = filter.op == .greaterThanOrEqual || filter.op == .lessThanOrEqual
    let edge = IndexEdge(prefix + value.bytes, isInside: isInside)
    // The other end is the first or last value of the same type, because comparisons only match values of one type.
    let rank = OrderedCode.rank(of: filter.value)
    let end = IndexEdge(prefix + [isDescending ? ~rank : rank], isInside: true)
    narrow(lower: above != isDescending ? edge : end, upper: below != isDescending ? edge : end)
    return true
  }

  /// - Parameter fields: the index's fields after the prefix, which are the query's leading orderings.
  mutating func narrow(to bound: Bound?, _ fields: [FieldIndex.Field], isUpper: Bool) {
    guard let bound, !bound.values.isEmpty, !fields.isEmpty else { return }
    var code = OrderedCode()
    for (field, value) in zip(fields, bound.values) {
      code.isDescending = field.kind == .descending
      code.append(value)
    }
    // Includes documents with equal values in the index's fields, because the cursor's further values may include them.
    let isInside = bound.isInclusive || bound.values.count > fields.count
    let edge = IndexEdge(prefix + code.bytes, isInside: isInside)
    if isUpper { narrow(lower: nil, upper: edge) } else { narrow(lower: edge, upper: nil) }
  }

  private mutating func narrow(lower: IndexEdge?, upper: IndexEdge?) {
    isNarrowed = true
    if let bytes = lower?.lower, self.lower.lexicographicallyPrecedes(bytes) { self.lower = bytes }
    if let bytes = upper?.upper, bytes.lexicographicallyPrecedes(self.upper) { self.upper = bytes }
  }
}
