// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// The conditions that a query implies for a field of all its possible results. They do not determine the field's
/// value.
struct QueryConstraint {
  /// The conditions; all of them are true.
  private let conditions: [Condition]

  init(_ filters: [FieldFilter]) { conditions = filters.map { Condition($0) } }

  /// Whether nothing is known about the field.
  var isEmpty: Bool { conditions.isEmpty }

  /// Proves that a comparison with a value is true for all possible values of the field.
  /// - Returns: true.
  /// - Throws: `notKnown` if no single condition implies the comparison. Does not try to prove that the comparison is
  ///   never true.
  func proves(_ sign: BinaryOperator, _ value: RuleValue) throws(RuleFailure) -> Bool {
    if conditions.contains(where: { $0.implies(sign, value) }) { return true }
    throw .notKnown
  }

  /// Whether a value is an element of the field in all possible results.
  func provesContaining(_ value: RuleValue) -> Bool { conditions.contains { $0.impliesContaining(value) } }
}

extension QueryConstraint {
  private struct Condition {
    private let op: FieldFilter.Operator
    /// The value of the filter; `nil` if the matching values cannot be determined.
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
      // A field that matches a filter exists. It is null only if the filter compares with null. For range filters, the
      // emulator concludes this only from values that rules can compare.
      if sign == .notEqual, case .null = wanted {
        if op == .equal, case .null? = value { return false }
        return !op.isRange || value.map { BinaryOperator.less.holds($0, $0) != nil } ?? false
      }
      guard wanted.isKnown, let value else { return false }
      if op == .equal { return value.candidates.allSatisfy { Self.isCertain($0, sign, wanted) } }
      return wanted.isComparedExactly && isCertain(of: value, sign, wanted)
    }

    /// Whether the comparison is certainly true for a value that the query finds.
    private static func isCertain(_ found: RuleValue, _ sign: BinaryOperator, _ wanted: RuleValue) -> Bool {
      func holds(_ sign: BinaryOperator) -> Bool { sign.holds(found, wanted) ?? false }
      switch sign {
      case .equal: return found.isKnown && found.isEqual(to: wanted)
      case .notEqual: return holds(.less) || holds(.greater)
      default: return holds(sign)
      }
    }

    /// Whether the comparison is certainly true for all values that match a range filter, `!=` or `not-in`.
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
  /// A value about which nothing is known. In a list of names, it means any number of further names.
  static var openEnd: RuleValue { .constraint(QueryConstraint([])) }

  var isOpenEnd: Bool { if case .constraint(let constraint) = self { constraint.isEmpty } else { false } }

  /// Whether rules and queries compare all numbers with this one in the same way. Rules compare an integer and a float
  /// as floats, which cannot represent every integer from 2⁵³ on.
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

/// The facts that a query implies about its possible results.
struct QueryFacts {
  /// One alternative of the query's conditions.
  struct Alternative {
    /// The entries of `resource.data` with known values or constraints.
    var data: RuleEntries
    /// The key of the only possible result.
    var key: DocumentKey?
  }

  let alternatives: [Alternative]

  /// - Returns: `nil` if there are too many alternatives.
  init?(_ query: RulesQuery?) {
    guard let query else {
      alternatives = [Alternative(data: RuleEntries(), key: nil)]
      return
    }
    let filters = query.target.filters
    var disjunctions = Filter.and(filters).disjunctions
    // A condition that is never true would leave no alternative. The facts of the other conditions still hold.
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
    // A filter on a whole map implies more than filters on its parts, so it is applied last.
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
  /// The entries with a value set at a path. Entries on the path become maps whose other entries are unknown.
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

extension RuleEntries {
  /// The entries as Google's emulator assumes them for a query: only the fields that the query names, and numbers only
  /// with the query's type.
  func view(_ absent: AbsentFields) -> RuleEntries {
    RuleEntries(sorted: sorted.map { Entry(name: $0.name, value: $0.value.view(absent)) })
  }
}

extension RuleValue {
  fileprivate func view(_ absent: AbsentFields) -> RuleValue {
    switch self {
    case .oneOf(let candidates): candidates[0]
    case .list(let values): .list(values.map { $0.view(absent) })
    case .map(.known(let entries)): .map(.view(entries.view(absent), absent))
    case .map(.entries(let entries)): .map(.entries(entries.view(absent)))
    default: self
    }
  }

  /// The possible values of a field that equals a value in a query. For queries, an integer and a float of the same
  /// value are equal, and so are both zeros, also inside lists and maps. Rules distinguish them.
  /// - Returns: `nil` if the possible values cannot be determined here.
  static func found(equalTo value: Value) -> RuleValue? {
    if let number = value.orderedNumber { return numbers(equalTo: number) }
    switch value {
    case .geoPoint(let point):
      let points = zeros(point.latitude).flatMap { latitude in
        zeros(point.longitude).map { RuleValue.latlng(GeoPoint(latitude: latitude, longitude: $0)) }
      }
      return points.count == 1 ? points[0] : .oneOf(points)
    case .array(let values):
      let elements = values.compactMap { found(equalTo: $0) }
      return elements.count == values.count ? .list(elements) : nil
    case .map(let fields):
      // Some BSON types compare only a part of their fields.
      if value.bsonType != nil { return nil }
      let entries = fields.entries.compactMap { field in
        found(equalTo: field.value).map { RuleEntries.Entry(name: field.name, value: $0) }
      }
      return entries.count == fields.count ? .map(.entries(RuleEntries(sorted: entries))) : nil
    default: return RuleValue(value)
    }
  }

  private static func numbers(equalTo number: Value) -> RuleValue {
    var numbers = [RuleValue(number)]
    switch number {
    case .integer(let integer): numbers += Double(exactly: integer).map(zeros)?.map { .float($0) } ?? []
    case .double(let float):
      numbers = zeros(float).map { .float($0) }
      if let integer = Int64(exactly: float) { numbers.append(.int(integer)) }
    default: break
    }
    return numbers.count == 1 ? numbers[0] : .oneOf(numbers)
  }

  /// Returns only the number itself; for a zero, both 0.0 and -0.0.
  private static func zeros(_ number: Double) -> [Double] { number == 0 ? [number, -number] : [number] }
}

extension Evaluator {
  /// Evaluates `body` for each candidate of a value, and combines the different results.
  mutating func each(
    _ candidates: [RuleValue], _ body: (inout Evaluator, RuleValue) throws(RuleFailure) -> RuleValue
  ) throws(RuleFailure) -> RuleValue {
    var results: [RuleValue] = []
    for (place, candidate) in candidates.enumerated() {
      do throws(RuleFailure) { results += try body(&self, candidate).candidates } catch {
        // The first candidate is the value in the query. Only its failure has the emulator's text.
        throw place == 0 || error.isFinal ? error : .notKnown
      }
    }
    guard let result = RuleValue.oneOf(different: results) else { throw .notKnown }
    return result
  }
}

extension RuleValue {
  /// The maximum number of candidates for one value.
  private static let mostCandidates = 8

  /// All possible values. For a known value, the list contains only the value itself.
  var candidates: [RuleValue] { if case .oneOf(let candidates) = self { candidates } else { [self] } }

  /// - Returns: `nil` for more than `mostCandidates` different results, or if both true and false occur.
  fileprivate static func oneOf(different results: [RuleValue]) -> RuleValue? {
    var different: [RuleValue] = []
    for result in results where !different.contains(where: { $0.isIdentical(to: result, .strict) }) {
      different.append(result)
    }
    if different.count == 1 { return different[0] }
    if case .bool? = different.first { return nil }
    return (1...mostCandidates).contains(different.count) ? .oneOf(different) : nil
  }
}
