// SPDX-License-Identifier: Apache-2.0

extension Evaluator {
  mutating func call(_ method: Method, on values: [RuleValue], _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue
  {
    switch method {
    case .size:
      _ = try arguments(ids, 0, of: method)
      try requireAll(values)
      return .int(Int64(values.count))
    case .toSet:
      _ = try arguments(ids, 0, of: method)
      try requireKnown(.list(values))
      try work(4 * RuleValue.list(values).weight)
      return .set(RuleSet(values))
    case .join:
      let arguments = try arguments(ids, 1, of: method)
      guard case .string(let separator) = arguments[0] else { throw wrongTypes("list", method, arguments) }
      try requireKnown(.list(values))
      var texts: [String] = []
      for value in values {
        let text = try text(of: value)
        try work(text.utf8.count + separator.utf8.count)
        texts.append(text)
      }
      return .string(texts.joined(separator: separator))
    case .concat, .removeAll, .hasAll, .hasAny, .hasOnly:
      let arguments = try arguments(ids, 1, of: method)
      guard case .list(let others) = arguments[0] else { throw wrongTypes("list", method, arguments) }
      return try call(method, values, others)
    default: throw .unknownFunction(method.rawValue)
    }
  }

  private mutating func call(_ method: Method, _ values: [RuleValue], _ others: [RuleValue]) throws(RuleFailure)
    -> RuleValue
  {
    try work(4 * (RuleValue.list(values).weight + RuleValue.list(others).weight))
    if isProof { return try prove(method, values, others) }
    switch method {
    case .concat: return .list(values + others)
    case .removeAll:
      let unwanted = Self.elements(others)
      return .list(values.filter { !unwanted.contains(RuleElement($0, .strict)) })
    case .hasAll:
      let own = Self.elements(values)
      return .bool(others.allSatisfy { own.contains(RuleElement($0, .strict)) })
    case .hasAny:
      let own = Self.elements(values)
      return .bool(others.contains { own.contains(RuleElement($0, .strict)) })
    default:
      let known = Self.elements(others)
      return .bool(values.allSatisfy { known.contains(RuleElement($0, .strict)) })
    }
  }

  private static func elements(_ values: [RuleValue]) -> Set<RuleElement> {
    Set(values.map { RuleElement($0, .strict) })
  }

  /// The result of a list method if a query does not determine all parts of the operands. The result is known only if
  /// the known parts determine it.
  private func prove(_ method: Method, _ values: [RuleValue], _ others: [RuleValue]) throws(RuleFailure) -> RuleValue {
    let own = values.filter(\.isKnown)
    let wanted = others.filter(\.isKnown)
    let isKnown = own.count == values.count && wanted.count == others.count
    if method == .concat { return .list(values + others) }
    let table = Self.elements(own)
    let known = Self.elements(wanted)
    switch method {
    case .hasAny where wanted.contains(where: { table.contains(RuleElement($0, .strict)) }): return .bool(true)
    case .hasAll where wanted.count == others.count && wanted.allSatisfy { table.contains(RuleElement($0, .strict)) }:
      return .bool(true)
    case .hasOnly where wanted.count == others.count && own.contains { !known.contains(RuleElement($0, .strict)) }:
      return .bool(false)
    case .hasAny, .hasAll: if isKnown { return .bool(false) }
    case .hasOnly: if isKnown { return .bool(true) }
    default: if isKnown { return .list(own.filter { !known.contains(RuleElement($0, .strict)) }) }
    }
    throw .notKnown
  }

  mutating func call(_ method: Method, on set: RuleSet, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    switch method {
    case .size:
      _ = try arguments(ids, 0, of: method)
      return .int(Int64(set.elements.count))
    case .union, .intersection, .difference:
      let arguments = try arguments(ids, 1, of: method)
      guard case .set(let other) = arguments[0] else { throw wrongTypes("set", method, arguments) }
      try work(4 * (set.elements.count + other.elements.count))
      switch method {
      case .union: return .set(RuleSet(set.elements.union(other.elements)))
      case .intersection: return .set(RuleSet(set.elements.intersection(other.elements)))
      default: return .set(RuleSet(set.elements.subtracting(other.elements)))
      }
    case .hasAll, .hasAny, .hasOnly:
      let arguments = try arguments(ids, 1, of: method)
      let other: Set<RuleElement>
      switch arguments[0] {
      case .list(let values):
        try requireKnown(arguments[0])
        other = RuleSet(values).elements
      case .set(let set): other = set.elements
      default: throw wrongTypes("set", method, arguments)
      }
      try work(4 * (set.elements.count + other.count))
      switch method {
      case .hasAll: return .bool(other.isSubset(of: set.elements))
      case .hasAny: return .bool(!other.isDisjoint(with: set.elements))
      default: return .bool(set.elements.isSubset(of: other))
      }
    default: throw .unknownFunction(method.rawValue)
    }
  }
}
