// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What a query says of one field of all documents that it finds, where that is not one value.
struct QueryConstraint {
  /// All of them hold.
  private let conditions: [Condition]

  init(_ filters: [FieldFilter]) { conditions = filters.map { Condition($0) } }

  /// Whether it says nothing.
  var isEmpty: Bool { conditions.isEmpty }

  /// Whether a comparison with a value holds for all of them.
  /// - Returns: true.
  /// - Throws: `notKnown` where it does not follow from any one condition; that it never holds is not looked for.
  func proves(_ sign: BinaryOperator, _ value: RuleValue) throws(RuleFailure) -> Bool {
    if conditions.contains(where: { $0.implies(sign, value) }) { return true }
    throw .notKnown
  }

  /// Whether a value is in all of the lists.
  func provesContaining(_ value: RuleValue) -> Bool { conditions.contains { $0.impliesContaining(value) } }
}

extension QueryConstraint {
  private struct Condition {
    private let op: FieldFilter.Operator
    /// What is looked for; `nil` where that cannot be told.
    private let value: RuleValue?

    init(_ filter: FieldFilter) {
      op = filter.op
      switch op {
      case .equal, .arrayContains: value = .found(equalTo: filter.value)
      default: value = RuleValue(filter.value)
      }
    }

    func impliesContaining(_ wanted: RuleValue) -> Bool {
      guard op == .arrayContains, let value, value.isKnown else { return false }
      return value.isIdentical(to: wanted, .strict)
    }

    func implies(_ sign: BinaryOperator, _ wanted: RuleValue) -> Bool {
      // Whatever is found by a value that it has, or must not have, is there and is not null; of ranges the emulator
      // knows it of values that rules can compare.
      if sign == .notEqual, case .null = wanted {
        if op == .equal, case .null? = value { return false }
        return !op.isRange || value.map { BinaryOperator.less.holds($0, $0) != nil } ?? false
      }
      guard wanted.isKnown, let value else { return false }
      if op == .equal { return value.candidates.allSatisfy { Self.isCertain($0, sign, wanted) } }
      return wanted.isComparedExactly && isCertain(of: value, sign, wanted)
    }

    /// Whether a value that is found compares so.
    private static func isCertain(_ found: RuleValue, _ sign: BinaryOperator, _ wanted: RuleValue) -> Bool {
      func holds(_ sign: BinaryOperator) -> Bool { sign.holds(found, wanted) ?? false }
      switch sign {
      case .equal: return found.isKnown && found.isEqual(to: wanted)
      case .notEqual: return holds(.less) || holds(.greater)
      default: return holds(sign)
      }
    }

    /// Whether whatever is found compares so, where it is in a range or is not one of some values.
    private func isCertain(of known: RuleValue, _ sign: BinaryOperator, _ wanted: RuleValue) -> Bool {
      func holds(_ sign: BinaryOperator) -> Bool { sign.holds(known, wanted) ?? false }
      switch (op, sign) {
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
}

extension RuleValue {
  /// A value of which nothing is known; in a list of names, any number of them.
  static var openEnd: RuleValue { .constraint(QueryConstraint([])) }

  var isOpenEnd: Bool { if case .constraint(let constraint) = self { constraint.isEmpty } else { false } }

  /// Whether rules compare every number with it as queries do. An integer and a float are compared as floats, which do not
  /// hold every integer from 2⁵³ on.
  fileprivate var isComparedExactly: Bool {
    switch self {
    case .int(let integer): Double(exactly: integer) != nil
    case .float(let float): float.magnitude < 0x1p53 || float.isInfinite
    default: true
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
    let filters = query.target.filters
    var disjunctions = Filter.and(filters).disjunctions
    // What can never hold has no alternative; what else is asked for is still known.
    if disjunctions.isEmpty { disjunctions = Filter.and(filters.filter { !$0.disjunctions.isEmpty }).disjunctions }
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
          .found(equalTo: filters[0].value) ?? .openEnd
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
