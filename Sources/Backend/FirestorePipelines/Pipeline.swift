// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// An executable pipeline: the source of its documents, and its stages.
package struct Pipeline: Sendable {
  package indirect enum Input: Sendable {
    case collection(ResourcePath)
    case collectionGroup(String)
    /// All documents of the database.
    case database
    case documents([DocumentKey])
    /// A collection below a subquery's document.
    case subcollection(String)
    case literals([Expression])
  }

  let input: Input
  let stages: [Stage]
  /// The write at the end of the pipeline; `nil` for a read-only pipeline.
  package let write: Write?

  /// The write of the last stage.
  package enum Write: Sendable {
    case delete
    /// An update that replaces the documents with the results, with these fields set.
    case update([Assignment])
  }

  /// Whether the pipeline itself reads documents of the database, apart from its subqueries.
  package var readsDocuments: Bool { if case .literals = input { false } else { true } }
}

/// One step of a pipeline.
enum Stage: Sendable {
  case filter(Expression)
  case select([Assignment])
  case addFields([Assignment])
  case removeFields([FieldPath])
  case sort([SortOrder])
  case limit(Int)
  case offset(Int)
  case aggregate([Accumulation], groups: [Assignment])
  case distinct([Assignment])
  case nearest(NearestSearch)
  case replace(Expression, ReplaceMode)
  case sample(Sample)
  case union(Pipeline)
  case unnest(Unnesting)
  case define([Definition])
  case search(TextSearch)
}

/// A field and the expression to set it to.
package struct Assignment: Sendable {
  let path: FieldPath
  let value: Expression
}

/// A variable for later stages and for subqueries.
struct Definition: Sendable {
  let name: String
  let value: Expression
}

struct SortOrder: Sendable {
  let value: Expression
  let isDescending: Bool
}

struct Accumulation: Sendable {
  let path: FieldPath
  let function: AggregateFunction
  /// The aggregated expression; `nil` for a document count.
  let value: Expression?
}

struct NearestSearch: Sendable {
  let field: Expression
  let vector: [Double]
  let measure: VectorDistance
  let limit: Int?
  let distanceField: FieldPath?
  /// The maximum distance of a result; for the dot product, the minimum product.
  let threshold: Double?
}

enum ReplaceMode: String, Sendable, CaseIterable {
  case full = "full_replace"
  /// The fields of the map, and the document's fields that are not in the map.
  case mergePreferNew = "merge_overwrite_existing"
  case mergePreferOld = "merge_keep_existing"
}

enum Sample: Sendable {
  case documents(Int)
  /// A share of the documents, 0 to 1.
  case share(Double)
}

struct Unnesting: Sendable {
  let value: Expression
  let path: FieldPath
  /// The field that receives the index in the array.
  let indexPath: FieldPath?
}

struct TextSearch: Sendable {
  let query: Expression
  let order: [SortOrder]
  let added: [Assignment]
  let offset: Int
  let limit: Int?
}

extension Pipeline {
  /// The conditions that all documents meet after the pipeline's first stages, as far as a query can express them:
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

  /// The conditions that are true whenever the expression is true.
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
