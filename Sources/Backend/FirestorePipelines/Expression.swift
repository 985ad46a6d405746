// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// An expression that is evaluated for a document.
package indirect enum Expression: Sendable {
  case constant(Value)
  case field(FieldPath)
  case metadata(Metadata)
  case variable(String)
  case array([Expression])
  case map([NamedExpression])
  /// A function; all its arguments are evaluated first.
  case call(Function, [Expression])
  /// A function that decides which arguments are evaluated.
  case form(LazyForm, [Expression])
  case arrayWalk(ArrayWalk)
  case subquery(Subquery)
  /// A map of all fields of the document.
  case currentDocument

  package enum Metadata: String, Sendable {
    case name = "__name__"
    case createTime = "__create_time__"
    case updateTime = "__update_time__"
  }
}

package struct NamedExpression: Sendable {
  let name: String
  let value: Expression
}

/// A function with a known name and a known number of arguments.
package struct Function: Sendable {
  typealias OfValues = @Sendable ([Value], EvaluationContext) throws(EvaluationError) -> Value?
  typealias OfAnything = @Sendable ([Value?], EvaluationContext) throws(EvaluationError) -> Value?

  enum Body: Sendable {
    /// A function whose result is null if any argument is null or absent.
    case values(OfValues)
    /// A function that accepts absent arguments as `nil`.
    case anything(OfAnything)
    /// The score of the text search that found the document.
    case score
    /// The function that searches the document's texts for words. Also computes the score.
    case matchesText
  }

  let name: String
  let arity: ClosedRange<Int>
  let body: Body

  init(_ name: String, _ arity: ClosedRange<Int>, _ body: @escaping OfValues) {
    (self.name, self.arity, self.body) = (name, arity, .values(body))
  }

  init(_ name: String, _ arity: Int, _ body: @escaping OfValues) { self.init(name, arity...arity, body) }

  init(_ name: String, _ arity: ClosedRange<Int>, anything body: @escaping OfAnything) {
    (self.name, self.arity, self.body) = (name, arity, .anything(body))
  }

  init(_ name: String, _ body: Body, _ arity: Int) { (self.name, self.arity, self.body) = (name, arity...arity, body) }

  /// The upper bound for functions and stages that accept any number of arguments.
  static let many = 10_000
}

/// Functions that distinguish absent arguments and errors from values, or that do not evaluate all arguments.
package enum LazyForm: String, Sendable, CaseIterable {
  case and, or, xor, nor, not, conditional, exists
  case isAbsent = "is_absent"
  case ifAbsent = "if_absent"
  case isError = "is_error"
  case ifError = "if_error"
  case ifNull = "if_null"
  case coalesce
  case switchOn = "switch_on"

  var arity: ClosedRange<Int> {
    switch self {
    case .and, .or, .xor, .nor, .coalesce: 1...Function.many
    case .not, .exists, .isAbsent, .isError: 1...1
    case .ifAbsent, .ifError: 2...2
    case .ifNull: 2...Function.many
    case .conditional: 3...3
    case .switchOn: 2...Function.many
    }
  }
}

/// The functions `array_filter` and `array_transform`, which evaluate an expression for each element of an array.
package struct ArrayWalk: Sendable {
  enum Kind: String, Sendable {
    case filter = "array_filter"
    case transform = "array_transform"
  }

  let kind: Kind
  let array: Expression
  /// The names of the variables for the element and for its index.
  let element: String
  let index: String?
  let body: Expression
}

/// A pipeline that runs for a document of another pipeline.
package struct Subquery: Sendable {
  enum Kind: Sendable {
    /// All results as an array.
    case array
    /// The single result; null if there is none.
    case scalar
  }

  let id: Int
  let kind: Kind
  let pipeline: Pipeline
}

extension Function {
  /// All functions except the lazy ones, by name.
  static let table: [String: Function] = {
    let groups = [
      Arithmetic.functions, Comparison.functions, Strings.functions, RegularExpressions.functions, Arrays.functions,
      Maps.functions, Timestamps.functions, Vectors.functions,
      [Function("score", .score, 0), Function("document_matches", .matchesText, 1)],
    ]
    return Dictionary(uniqueKeysWithValues: groups.joined().map { ($0.name, $0) })
  }()

  /// The names of all functions that a pipeline can call, for the error about any other name.
  static let names: [String] = {
    let forms = LazyForm.allCases.map(\.rawValue)
    return (table.keys + forms + ["array_filter", "array_transform", "current_document", "scalar"]).sorted()
  }()
}
