// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension Pipeline {
  /// The conditions that all documents meet that pass the pipeline's first stages, if a query can ask for them:
  /// comparisons of fields with constants.
  var constraints: [Filter] {
    var constraints: [Filter] = []
    for stage in stages {
      guard case .filter(let condition) = stage else { break }
      constraints += condition.constraints
    }
    return constraints
  }
}

extension Expression {
  private static let operators: [String: FieldFilter.Operator] = [
    "equal": .equal, "less_than": .lessThan, "less_than_or_equal": .lessThanOrEqual, "greater_than": .greaterThan,
    "greater_than_or_equal": .greaterThanOrEqual, "equal_any": .in, "array_contains": .arrayContains,
    "array_contains_any": .arrayContainsAny,
  ]

  /// The conditions that hold wherever the expression is true.
  fileprivate var constraints: [Filter] {
    switch self {
    case .form(.and, let arguments): return arguments.flatMap(\.constraints)
    case .form(.or, let arguments):
      let alternatives = arguments.map(\.constraints)
      return alternatives.contains(where: \.isEmpty) ? [] : [.or(alternatives.map { .and($0) })]
    case .call(let function, let arguments):
      guard arguments.count == 2, let op = Self.operators[function.name], let path = arguments[0].constrainedPath,
        let value = arguments[1].constant
      else { return [] }
      return [.field(FieldFilter(path, op, value))]
    default: return []
    }
  }

  private var constrainedPath: FieldPath? {
    switch self {
    case .field(let path): path
    case .metadata(.name): .documentID
    default: nil
    }
  }

  private var constant: Value? {
    switch self {
    case .constant(let value): return value
    case .call(let function, let arguments) where function.name == "array":
      let values = arguments.compactMap(\.constant)
      return values.count == arguments.count ? .array(values) : nil
    default: return nil
    }
  }
}
