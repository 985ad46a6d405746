// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What a query says of one field of all documents that it finds, where that is not one value.
struct QueryConstraint {
  /// All of them hold.
  private let conditions: [(op: FieldFilter.Operator, value: RuleValue)]

  init(_ filters: [FieldFilter]) { conditions = filters.map { ($0.op, RuleValue($0.value)) } }

  /// Whether a comparison with a value holds for all of them.
  /// - Returns: true.
  /// - Throws: `notKnown` where it does not follow from any one condition; that it never holds is not looked for.
  func proves(_ sign: BinaryOperator, _ value: RuleValue) throws(RuleFailure) -> Bool {
    if conditions.contains(where: { Self.implies($0.op, $0.value, sign, value) }) { return true }
    throw .notKnown
  }

  /// Whether a value is in all of the lists.
  func provesContaining(_ value: RuleValue) -> Bool {
    conditions.contains { $0.op == .arrayContains && $0.value.isIdentical(to: value, .strict) }
  }

  private static func implies(
    _ op: FieldFilter.Operator, _ known: RuleValue, _ sign: BinaryOperator, _ wanted: RuleValue
  ) -> Bool {
    // Whatever is found by a value that it has, or must not have, is there and is not null; of ranges the emulator knows
    // it of values that rules can compare.
    if sign == .notEqual, case .null = wanted {
      if op == .equal, case .null = known { return false }
      return !op.isRange || BinaryOperator.less.holds(known, known) != nil
    }
    func holds(_ sign: BinaryOperator) -> Bool { sign.holds(known, wanted) ?? false }
    switch (op, sign) {
    case (.equal, .equal): return known.isEqual(to: wanted)
    case (.equal, .notEqual): return holds(.less) || holds(.greater)
    case (.equal, _): return holds(sign)
    case (.greaterThan, .greater), (.greaterThan, .greaterOrEqual), (.greaterThan, .notEqual):
      return holds(.greaterOrEqual)
    case (.greaterThanOrEqual, .greater), (.greaterThanOrEqual, .notEqual): return holds(.greater)
    case (.greaterThanOrEqual, .greaterOrEqual): return holds(.greaterOrEqual)
    case (.lessThan, .less), (.lessThan, .lessOrEqual), (.lessThan, .notEqual): return holds(.lessOrEqual)
    case (.lessThanOrEqual, .less), (.lessThanOrEqual, .notEqual): return holds(.less)
    case (.lessThanOrEqual, .lessOrEqual): return holds(.lessOrEqual)
    case (.notEqual, .notEqual): return known.isEqual(to: wanted)
    case (.notIn, .notEqual):
      guard case .list(let unwanted) = known else { return false }
      return unwanted.contains { $0.isEqual(to: wanted) }
    default: return false
    }
  }
}

extension FieldFilter.Operator {
  fileprivate var isRange: Bool {
    switch self {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: true
    default: false
    }
  }
}

/// What a query says of the documents that it finds.
struct QueryFacts {
  /// One alternative of the query's conditions.
  struct Alternative {
    /// The entries of `resource.data` that are known, or whose values are constrained.
    var data: RuleEntries
    /// The one document that can be found.
    var key: DocumentKey?
  }

  let alternatives: [Alternative]

  /// - Returns: `nil` for more alternatives than a query may have.
  init?(_ query: RulesQuery?) {
    guard let query else {
      alternatives = [Alternative(data: RuleEntries(), key: nil)]
      return
    }
    let disjunctions = Filter.and(query.target.filters).disjunctions
    guard disjunctions.count <= 1000 else { return nil }
    alternatives = disjunctions.map { Self.alternative($0) }
  }

  private static func alternative(_ filters: [FieldFilter]) -> Alternative {
    var byPath: [FieldPath: [FieldFilter]] = [:]
    var key: DocumentKey?
    for filter in filters {
      if !filter.path.isDocumentID {
        byPath[filter.path, default: []].append(filter)
      } else if filter.op == .equal, case .reference(_, let named) = filter.value {
        key = named
      }
    }
    var data = RuleEntries()
    // A map that is known as a whole says more than what is said of its parts.
    for (path, filters) in byPath.sorted(by: { $0.key.segments.count > $1.key.segments.count }) {
      let value: RuleValue =
        if filters.count == 1, filters[0].op == .equal {
          RuleValue(filters[0].value)
        } else {
          .constraint(QueryConstraint(filters))
        }
      data = data.setting(value, at: path.segments[...])
    }
    return Alternative(data: data, key: key)
  }
}

extension RuleEntries {
  /// With a value put at a path, through maps of which no more is known.
  fileprivate func setting(_ value: RuleValue, at path: ArraySlice<String>) -> RuleEntries {
    guard let name = path.first else { return self }
    var copy = self
    if path.count == 1 {
      copy[name] = value
    } else {
      var inner = RuleEntries()
      if case .map(.known(let known))? = self[name] { inner = known }
      copy[name] = .map(.known(inner.setting(value, at: path.dropFirst())))
    }
    return copy
  }
}
