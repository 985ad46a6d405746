// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// An expression with a name: a `Field`, or any expression with `as(_:)`.
public protocol Selectable: Sendable {
  /// The name and its expression.
  var selection: Selection { get }
}

/// A name and an expression, or their error.
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
  /// The field with this name, under the same name.
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
  ///   - functionName: the backend's name of the function, such as `array_agg`.
  ///   - args: expressions, or values as constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }

  /// The aggregate with a name.
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

/// An order of `Pipeline.sort(_:)`.
public struct Ordering: Sendable {
  let term: ExpressionTerm

  init(_ expression: some Expression, _ direction: String) {
    term = ExpressionTerm { () throws(FirestoreError) in
      .named([("expression", try expression.term.message.get()), ("direction", .constant(.string(direction)))])
    }
  }
}

extension Expression {
  /// The expression with a name; dots in the name create maps.
  public func `as`(_ name: String) -> AliasedExpression { AliasedExpression(self, name) }

  /// Orders from the smallest to the largest value; documents without a value come first.
  public func ascending() -> Ordering { Ordering(self, "ascending") }
  /// Orders from the largest to the smallest value.
  public func descending() -> Ordering { Ordering(self, "descending") }

  /// Counts the documents whose value of the expression is neither absent nor null.
  public func count() -> AggregateFunction { figure("count") }
  /// Counts the distinct values.
  public func countDistinct() -> AggregateFunction { figure("count_distinct") }
  /// The sum of the numbers.
  public func sum() -> AggregateFunction { figure("sum") }
  /// The mean of the numbers; null without numbers.
  public func average() -> AggregateFunction { figure("average") }
  /// The smallest value that is not null.
  public func minimum() -> AggregateFunction { figure("minimum") }
  /// The largest value.
  public func maximum() -> AggregateFunction { figure("maximum") }
  /// All values, in the order of the documents.
  public func arrayAgg() -> AggregateFunction { figure("array_agg") }

  private func figure(_ name: String) -> AggregateFunction { AggregateFunction(functionName: name, args: [self]) }
}
