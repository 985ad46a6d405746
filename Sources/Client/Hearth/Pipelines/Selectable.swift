// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// An expression with a name: a `Field`, or any expression that `as(_:)` names.
public protocol Selectable: Sendable {
  /// The name and its expression.
  var selection: Selection { get }
}

/// A name and its expression, or the error that makes them invalid.
public struct Selection: Sendable {
  let entry: Result<ExpressionMessage.Entry, FirestoreError>

  init(_ body: () throws(FirestoreError) -> (String, ExpressionMessage)) {
    entry = Result { () throws(FirestoreError) in
      let (name, value) = try body()
      return ExpressionMessage.Entry(name, value)
    }
  }
}

extension String: Selectable {
  /// Selects the field that the string names, under the same name.
  public var selection: Selection { Field(self).selection }
}

/// An expression with a name.
public struct AliasedExpression: Selectable {
  /// The name and its expression.
  public let selection: Selection

  init(_ expression: some Expression, _ name: String) {
    selection = Selection { () throws(FirestoreError) in
      (try name.modelPath().canonicalText, try expression.term.message.get())
    }
  }
}

/// An aggregate over documents, for `Pipeline.aggregate(_:groups:)`.
public struct AggregateFunction: Sendable {
  let term: ExpressionTerm

  /// Creates an aggregate by the name of its function.
  /// - Parameters:
  ///   - functionName: the name that the backend uses for the function, such as `array_agg`.
  ///   - args: the arguments: expressions, or values, which become constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }

  /// Names the aggregate.
  public func `as`(_ name: String) -> AliasedAggregate {
    AliasedAggregate(
      selection: Selection { () throws(FirestoreError) in
        (try name.modelPath().canonicalText, try term.message.get())
      })
  }
}

/// Counts all documents.
public func CountAll() -> AggregateFunction { AggregateFunction(functionName: "count", args: []) }

/// An aggregate with a name.
public struct AliasedAggregate: Sendable {
  let selection: Selection
}

/// An ordering for `Pipeline.sort(_:)`.
public struct Ordering: Sendable {
  let term: ExpressionTerm

  init(_ expression: some Expression, _ direction: String) {
    term = ExpressionTerm { () throws(FirestoreError) in
      .named([("expression", try expression.term.message.get()), ("direction", .constant(.string(direction)))])
    }
  }
}

extension Expression {
  /// Names the expression. Dots in the name create nested maps.
  public func `as`(_ name: String) -> AliasedExpression { AliasedExpression(self, name) }

  /// Orders from the smallest to the largest value. Documents without a value come first.
  public func ascending() -> Ordering { Ordering(self, "ascending") }
  /// Orders from the largest to the smallest value.
  public func descending() -> Ordering { Ordering(self, "descending") }

  /// Counts the documents whose value of the expression is neither absent nor null.
  public func count() -> AggregateFunction { figure("count") }
  /// Counts the distinct values of the expression.
  public func countDistinct() -> AggregateFunction { figure("count_distinct") }
  /// The sum of the expression's numbers.
  public func sum() -> AggregateFunction { figure("sum") }
  /// The mean of the expression's numbers; null if there are none.
  public func average() -> AggregateFunction { figure("average") }
  /// The smallest value of the expression that is not null.
  public func minimum() -> AggregateFunction { figure("minimum") }
  /// The largest value of the expression.
  public func maximum() -> AggregateFunction { figure("maximum") }
  /// An array of all values of the expression, in the order of the documents.
  public func arrayAgg() -> AggregateFunction { figure("array_agg") }

  private func figure(_ name: String) -> AggregateFunction { AggregateFunction(functionName: name, args: [self]) }
}
