// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A value that a pipeline computes for each document: a field, a constant, or a function of other expressions.
///
/// `Pipeline.execute()` reports an invalid field name or value.
public protocol Expression: Sendable {
  /// The expression in the backend's form.
  var term: ExpressionTerm { get }
}

/// An expression in the backend's form, or its error.
public struct ExpressionTerm: Sendable {
  let message: Result<ExpressionMessage, FirestoreError>

  init(_ message: ExpressionMessage) { self.message = .success(message) }

  init(_ body: () throws(FirestoreError) -> ExpressionMessage) { message = Result(catching: body) }

  /// Uses an expression unchanged, or a value as a constant; arrays and maps may contain expressions.
  init(_ value: Any) {
    if let expression = value as? any Expression {
      self = expression.term
    } else {
      self.init { () throws(FirestoreError) in try Self.message(value) }
    }
  }

  init(function name: String, _ arguments: [Any]) {
    self.init { () throws(FirestoreError) in .function(name, try Self.messages(arguments)) }
  }

  static func messages(_ values: [Any]) throws(FirestoreError) -> [ExpressionMessage] {
    var messages: [ExpressionMessage] = []
    for value in values { messages.append(try ExpressionTerm(value).message.get()) }
    return messages
  }

  private static func message(_ value: Any) throws(FirestoreError) -> ExpressionMessage {
    if let array = value as? [Any], array.contains(where: holdsExpression) {
      return .function("array", try messages(array))
    }
    if let map = value as? [String: Any], map.values.contains(where: holdsExpression) {
      let entries = map.sorted { $0.key < $1.key }.flatMap { [$0.key as Any, $0.value] }
      return .function("map", try messages(entries))
    }
    return .constant(try ValueEncoder.plain(value))
  }

  private static func holdsExpression(_ value: Any) -> Bool {
    switch value {
    case is any Expression: true
    case let array as [Any]: array.contains(where: holdsExpression)
    case let map as [String: Any]: map.values.contains(where: holdsExpression)
    default: false
    }
  }
}

/// A field of the documents. For a document without the field, the expression is absent, which differs from null.
public struct Field: Expression, Selectable {
  private let name: Result<FieldPath, FirestoreError>

  /// Creates a field expression.
  /// - Parameter name: a path with dots, or a `FieldPath`.
  public init(_ name: some FieldName) { self.name = name.fieldPath }

  /// The document's name; its value is a `DocumentReference`.
  public static var documentID: Field { Field(FieldPath.documentID()) }

  /// The expression in the backend's form.
  public var term: ExpressionTerm {
    ExpressionTerm { () throws(FirestoreError) in .field(try path()) }
  }

  /// The field under its own name.
  public var selection: Selection { Selection { () throws(FirestoreError) in (try path(), .field(try path())) } }

  func path() throws(FirestoreError) -> String { try name.get().modelPath().canonicalText }
}

/// A value that is the same for every document.
public struct Constant: Expression {
  /// The expression in the backend's form.
  public let term: ExpressionTerm

  /// Creates a constant.
  /// - Parameter value: a value of a writable type; `NSNull()` for null.
  public init(_ value: Any) {
    term = ExpressionTerm { () throws(FirestoreError) in .constant(try ValueEncoder.plain(value)) }
  }
}

/// A function of other expressions, by the backend's name for it. Also for functions that have no method here.
public struct FunctionExpression: Expression {
  /// The expression in the backend's form.
  public let term: ExpressionTerm

  /// Creates a function by its name.
  /// - Parameters:
  ///   - functionName: the backend's name of the function, such as `string_concat`.
  ///   - args: expressions, or values as constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }
}

/// A condition: an expression that is true, false, or neither.
public struct BooleanExpression: Expression {
  /// The expression in the backend's form.
  public let term: ExpressionTerm

  /// Creates a condition by its name.
  /// - Parameters:
  ///   - functionName: the backend's name of the function, such as `string_concat`.
  ///   - args: expressions, or values as constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }

  /// The first value if the condition is true, otherwise the second. Both may be expressions.
  public func then(_ thenExpression: Any, else elseExpression: Any) -> FunctionExpression {
    FunctionExpression(functionName: "conditional", args: [self, thenExpression, elseExpression])
  }

  /// Counts the documents that satisfy the condition.
  public func countIf() -> AggregateFunction { AggregateFunction(functionName: "count_if", args: [self]) }

  /// Tests whether both conditions are true.
  public static func && (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "and", args: [left, right])
  }

  /// Tests whether at least one of the conditions is true.
  public static func || (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "or", args: [left, right])
  }

  /// Tests whether exactly one of the conditions is true.
  public static func ^ (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "xor", args: [left, right])
  }

  /// Tests whether the condition is false.
  public static prefix func ! (condition: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "not", args: [condition])
  }
}

/// A variable of `Pipeline.define(_:)`.
public struct Variable: Expression {
  private let name: String

  /// Creates a reference to a variable.
  /// - Parameter name: the variable's name in `Pipeline.define(_:)`.
  public init(_ name: String) { self.name = name }

  /// The expression in the backend's form.
  public var term: ExpressionTerm { ExpressionTerm(.variable(name)) }
}

// Functions that have methods. All others are available by name: `FunctionExpression(functionName:args:)`.

extension Expression {
  private func function(_ name: String, _ arguments: Any...) -> FunctionExpression {
    FunctionExpression(functionName: name, args: [self] + arguments)
  }

  private func condition(_ name: String, _ arguments: Any...) -> BooleanExpression {
    BooleanExpression(functionName: name, args: [self] + arguments)
  }

  // MARK: Comparison

  /// Tests whether the values are equal. 1 equals 1.0. An absent value is not equal to any value.
  public func equal(_ other: Any) -> BooleanExpression { condition("equal", other) }
  /// The negation of `equal(_:)`.
  public func notEqual(_ other: Any) -> BooleanExpression { condition("not_equal", other) }
  /// Compares values of one type.
  public func greaterThan(_ other: Any) -> BooleanExpression { condition("greater_than", other) }
  /// Compares values of one type.
  public func greaterThanOrEqual(_ other: Any) -> BooleanExpression { condition("greater_than_or_equal", other) }
  /// Compares values of one type.
  public func lessThan(_ other: Any) -> BooleanExpression { condition("less_than", other) }
  /// Compares values of one type.
  public func lessThanOrEqual(_ other: Any) -> BooleanExpression { condition("less_than_or_equal", other) }
  /// Tests whether the value equals at least one of the others.
  public func equalAny(_ others: [Any]) -> BooleanExpression { condition("equal_any", others) }
  /// Tests whether the value equals none of the others.
  public func notEqualAny(_ others: [Any]) -> BooleanExpression { condition("not_equal_any", others) }
  /// Tests whether the expression has a value, including null.
  public func exists() -> BooleanExpression { condition("exists") }
  /// Tests whether the expression has no value.
  public func isAbsent() -> BooleanExpression { condition("is_absent") }
  /// Tests whether the expression fails.
  public func isError() -> BooleanExpression { condition("is_error") }
  /// The value, or another one if it is absent.
  public func ifAbsent(_ other: Any) -> FunctionExpression { function("if_absent", other) }
  /// The value, or another one if the expression fails.
  public func ifError(_ other: Any) -> FunctionExpression { function("if_error", other) }

  // MARK: Numbers

  /// The sum.
  public func add(_ other: Any) -> FunctionExpression { function("add", other) }
  /// The difference.
  public func subtract(_ other: Any) -> FunctionExpression { function("subtract", other) }
  /// The product.
  public func multiply(_ other: Any) -> FunctionExpression { function("multiply", other) }
  /// The quotient; an integer for two integers.
  public func divide(_ other: Any) -> FunctionExpression { function("divide", other) }
  /// The remainder of the division.
  public func mod(_ other: Any) -> FunctionExpression { function("mod", other) }
  /// The absolute value.
  public func abs() -> FunctionExpression { function("abs") }
  /// The number rounded to `places` decimal places.
  public func round(_ places: Int = 0) -> FunctionExpression {
    places == 0 ? function("round") : function("round", places)
  }

  // MARK: Strings

  /// The strings joined in this order.
  public func stringConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "string_concat", args: [self] + others)
  }
  /// The string in uppercase.
  public func toUpper() -> FunctionExpression { function("to_upper") }
  /// The string in lowercase.
  public func toLower() -> FunctionExpression { function("to_lower") }
  /// The string without white space at both ends.
  public func trim() -> FunctionExpression { function("trim") }
  /// The number of characters.
  public func charLength() -> FunctionExpression { function("char_length") }
  /// Tests whether the string begins with a prefix.
  public func startsWith(_ prefix: Any) -> BooleanExpression { condition("starts_with", prefix) }
  /// Tests whether the string ends with a suffix.
  public func endsWith(_ suffix: Any) -> BooleanExpression { condition("ends_with", suffix) }
  /// Tests whether the string contains `part`.
  public func stringContains(_ part: Any) -> BooleanExpression { condition("string_contains", part) }
  /// Tests whether the string matches a pattern with the wildcards `%` for any text and `_` for any character.
  public func like(_ pattern: Any) -> BooleanExpression { condition("like", pattern) }
  /// Tests whether a part of the string matches a regular expression.
  public func regexContains(_ pattern: Any) -> BooleanExpression { condition("regex_contains", pattern) }
  /// Tests whether the whole string matches a regular expression.
  public func regexMatch(_ pattern: Any) -> BooleanExpression { condition("regex_match", pattern) }

  // MARK: Arrays, maps, vectors

  /// Tests whether the array contains the value.
  public func arrayContains(_ element: Any) -> BooleanExpression { condition("array_contains", element) }
  /// Tests whether the array contains all of the values.
  public func arrayContainsAll(_ elements: [Any]) -> BooleanExpression { condition("array_contains_all", elements) }
  /// Tests whether the array contains at least one of the values.
  public func arrayContainsAny(_ elements: [Any]) -> BooleanExpression { condition("array_contains_any", elements) }
  /// The number of elements of the array.
  public func arrayLength() -> FunctionExpression { function("array_length") }
  /// The element at an index, counted from 0, or from the end if it is negative.
  public func arrayGet(_ place: Any) -> FunctionExpression { function("array_get", place) }
  /// The arrays joined in this order.
  public func arrayConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "array_concat", args: [self] + others)
  }
  /// The map's value for this name.
  public func mapGet(_ name: String) -> FunctionExpression { function("map_get", name) }
  /// The Euclidean distance between two vectors of the same length.
  public func euclideanDistance(_ other: Any) -> FunctionExpression { function("euclidean_distance", other) }
  /// 1 minus the cosine of the angle between two vectors.
  public func cosineDistance(_ other: Any) -> FunctionExpression { function("cosine_distance", other) }
  /// The dot product of two vectors.
  public func dotProduct(_ other: Any) -> FunctionExpression { function("dot_product", other) }

  // MARK: Documents and times

  /// The last segment of a document's name.
  public func documentId() -> FunctionExpression { function("document_id") }
  /// The time plus an amount of a unit.
  /// - Parameter unit: `microsecond`, `millisecond`, `second`, `minute`, `hour` or `day`.
  public func timestampAdd(amount: Any, unit: String) -> FunctionExpression { function("timestamp_add", unit, amount) }
  /// The time truncated to a unit, in UTC.
  /// - Parameter granularity: such as `hour`, `day`, `isoweek`, `month`.
  public func timestampTruncate(granularity: String) -> FunctionExpression { function("timestamp_trunc", granularity) }
}
