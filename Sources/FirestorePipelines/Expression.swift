// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// What is worked out for a document.
package indirect enum Expression: Sendable {
  case constant(Value)
  case field(FieldPath)
  case metadata(Metadata)
  case variable(String)
  case array([Expression])
  case map([NamedExpression])
  /// A function whose arguments are worked out first.
  case call(Function, [Expression])
  /// A function that decides which of its arguments are.
  case form(LazyForm, [Expression])
  case arrayWalk(ArrayWalk)
  case subquery(Subquery)
  /// All fields of the document.
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

/// A function whose name and number of arguments are known.
package struct Function: Sendable {
  typealias OfValues = @Sendable ([Value], EvaluationContext) throws(EvaluationError) -> Value?
  typealias OfAnything = @Sendable ([Value?], EvaluationContext) throws(EvaluationError) -> Value?

  enum Body: Sendable {
    /// Null where any of the arguments is null or absent.
    case values(OfValues)
    /// Absent arguments are `nil`.
    case anything(OfAnything)
    /// The score of the text search that found the document.
    case score
    /// Whether the document's texts have the words; also scores it.
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

  /// More arguments than a request has room for.
  static let many = 10_000
}

/// Functions for which it matters whether an argument is absent or an error, or which leave arguments aside.
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

/// `array_filter` and `array_transform`: an expression for each element of an array.
package struct ArrayWalk: Sendable {
  enum Kind: String, Sendable {
    case filter = "array_filter"
    case transform = "array_transform"
  }

  let kind: Kind
  let array: Expression
  /// The variables that stand for the element and for its place.
  let element: String
  let index: String?
  let body: Expression
}

/// A pipeline that is executed for a document of another.
package struct Subquery: Sendable {
  enum Kind: Sendable {
    /// All results as an array.
    case array
    /// The one result; null if there is none.
    case scalar
  }

  let id: Int
  let kind: Kind
  let pipeline: Pipeline
}
