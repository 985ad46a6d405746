// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The use of a collection group's ready indexes for a target: for each of its alternatives (`or`, `in`,
/// `array-contains-any`) the ranges that hold all of its documents.
struct IndexPlan {
  /// The bound of alternatives: more are cheaper to check one document after the other. The backend allows 30.
  static let maximumAlternatives = 200

  /// The candidates for each alternative, at least one.
  let alternatives: [[IndexCandidate]]

  /// - Returns: `nil` if some alternative has no index.
  init?(_ target: Target, _ indexes: [IndexTable.Index]) {
    let ready = indexes.filter(\.isReady)
    if ready.isEmpty { return nil }
    let disjunctions = Filter.and(target.filters).disjunctions
    guard (1...Self.maximumAlternatives).contains(disjunctions.count) else { return nil }
    // Only what all alternatives fix to the same value may be left out of the order: they are merged in it.
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

  /// One candidate for each alternative whose entries come in the query's order; `nil` if one has none. Alternatives
  /// may share a range.
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
  /// The conditions that every document satisfies that the filter lets through.
  fileprivate var commonConditions: [FieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let filters): filters.flatMap(\.commonConditions)
    case .or(let filters): filters.count == 1 ? filters[0].commonConditions : []
    }
  }
}

/// The entries of one index whose keys lie between two bounds.
struct IndexRange: Hashable {
  let index: IndexNumber
  let lower: [UInt8]
  /// The first key that is not in the range.
  let upper: [UInt8]

  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
}

/// One end of a range of keys: the keys that begin with `code` are inside, or outside.
///
/// Keys that were cut may differ from the values they stand for, so that an end that would be cut takes in all keys
/// that begin with the part that is left; documents are compared with the query in any case.
struct IndexEdge {
  let code: [UInt8]
  let isInside: Bool

  init(_ code: [UInt8], isInside: Bool) {
    self.code = Array(code.prefix(FieldIndex.keyLimit))
    self.isInside = isInside || code.count > FieldIndex.keyLimit
  }

  /// The first key inside, if this is a lower end.
  var lower: [UInt8] { isInside ? code : Self.successor(code) }
  /// The first key outside, if this is an upper end.
  var upper: [UInt8] { isInside ? Self.successor(code) : code }

  /// The least key that is greater than all that begin with this code. No key begins with 0xFF.
  private static func successor(_ code: [UInt8]) -> [UInt8] {
    var code = code
    while code.last == 0xff { code.removeLast() }
    guard let last = code.popLast() else { return [0xff] }
    code.append(last + 1)
    return code
  }
}
