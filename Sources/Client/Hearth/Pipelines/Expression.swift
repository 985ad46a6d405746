// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A value that a pipeline computes for each document: a field, a constant, or a function of other expressions.
///
/// If a field name or value is invalid, `Pipeline.execute()` reports the error.
public protocol Expression: Sendable {
  /// The expression in the form that the backend expects.
  var term: ExpressionTerm { get }
}

/// An expression in the form that the backend expects, or the error that makes it invalid.
public struct ExpressionTerm: Sendable {
  let message: Result<ExpressionMessage, FirestoreError>

  init(_ message: ExpressionMessage) { self.message = .success(message) }

  init(_ body: () throws(FirestoreError) -> ExpressionMessage) { message = Result(catching: body) }

  /// Creates the term for a value. An expression is used unchanged; any other value becomes a constant. Arrays and maps
  /// may contain expressions.
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

/// A field of the documents. If a document does not have the field, the expression is absent, which is not the same as
/// null.
public struct Field: Expression, Selectable {
  private let name: Result<FieldPath, FirestoreError>

  /// Creates a field expression.
  /// - Parameter name: a string with dots between nested field names, or a `FieldPath`.
  public init(_ name: some FieldName) { self.name = name.fieldPath }

  /// The name of the document. Its value is a `DocumentReference`.
  public static var documentID: Field { Field(FieldPath.documentID()) }

  /// The expression in the form that the backend expects.
  public var term: ExpressionTerm {
    ExpressionTerm { () throws(FirestoreError) in .field(try path()) }
  }

  /// Selects the field under its own name.
  public var selection: Selection { Selection { () throws(FirestoreError) in (try path(), .field(try path())) } }

  func path() throws(FirestoreError) -> String { try name.get().modelPath().canonicalText }
}

/// A value that is the same for every document.
public struct Constant: Expression {
  /// The expression in the form that the backend expects.
  public let term: ExpressionTerm

  /// Creates a constant.
  /// - Parameter value: a value that a document can store; `NSNull()` for null.
  public init(_ value: Any) {
    term = ExpressionTerm { () throws(FirestoreError) in .constant(try ValueEncoder.plain(value)) }
  }
}

/// A function of other expressions, identified by the name that the backend uses. You can also use functions for which
/// this module has no method.
public struct FunctionExpression: Expression {
  /// The expression in the form that the backend expects.
  public let term: ExpressionTerm

  /// Creates a function call by the function's name.
  /// - Parameters:
  ///   - functionName: the name that the backend uses for the function, such as `string_concat`.
  ///   - args: the arguments: expressions, or values, which become constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }
}

/// A condition: an expression whose value is true, false, or neither (for example null).
public struct BooleanExpression: Expression {
  /// The expression in the form that the backend expects.
  public let term: ExpressionTerm

  /// Creates a condition by the name of its function.
  /// - Parameters:
  ///   - functionName: the name that the backend uses for the function, such as `starts_with`.
  ///   - args: the arguments: expressions, or values, which become constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }

  /// Evaluates to the first value if the condition is true, and otherwise to the second. Both may be expressions.
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

  /// Negates the condition.
  public static prefix func ! (condition: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "not", args: [condition])
  }
}

/// A variable that `Pipeline.define(_:)` defines.
public struct Variable: Expression {
  private let name: String

  /// Creates a reference to a variable.
  /// - Parameter name: the name that the variable has in `Pipeline.define(_:)`.
  public init(_ name: String) { self.name = name }

  /// The expression in the form that the backend expects.
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

  /// Tests whether the values are equal. The integer 1 and the double 1.0 are equal. An absent value is not equal to
  /// any value.
  public func equal(_ other: Any) -> BooleanExpression { condition("equal", other) }
  /// The negation of `equal(_:)`.
  public func notEqual(_ other: Any) -> BooleanExpression { condition("not_equal", other) }
  /// Tests whether this value is greater than the other one. False if the values have different types.
  public func greaterThan(_ other: Any) -> BooleanExpression { condition("greater_than", other) }
  /// Tests whether this value is greater than or equal to the other one. False if the values have different types.
  public func greaterThanOrEqual(_ other: Any) -> BooleanExpression { condition("greater_than_or_equal", other) }
  /// Tests whether this value is less than the other one. False if the values have different types.
  public func lessThan(_ other: Any) -> BooleanExpression { condition("less_than", other) }
  /// Tests whether this value is less than or equal to the other one. False if the values have different types.
  public func lessThanOrEqual(_ other: Any) -> BooleanExpression { condition("less_than_or_equal", other) }
  /// Tests whether the value equals at least one of the given values.
  public func equalAny(_ others: [Any]) -> BooleanExpression { condition("equal_any", others) }
  /// Tests whether the value equals none of the given values.
  public func notEqualAny(_ others: [Any]) -> BooleanExpression { condition("not_equal_any", others) }
  /// Tests whether the expression has a value. Null counts as a value.
  public func exists() -> BooleanExpression { condition("exists") }
  /// Tests whether the expression has no value.
  public func isAbsent() -> BooleanExpression { condition("is_absent") }
  /// Tests whether evaluating the expression causes an error.
  public func isError() -> BooleanExpression { condition("is_error") }
  /// The value, or `other` if the value is absent.
  public func ifAbsent(_ other: Any) -> FunctionExpression { function("if_absent", other) }
  /// The value, or `other` if evaluating the expression causes an error.
  public func ifError(_ other: Any) -> FunctionExpression { function("if_error", other) }

  // MARK: Numbers

  /// The sum of this number and the other one.
  public func add(_ other: Any) -> FunctionExpression { function("add", other) }
  /// The difference between this number and the other one.
  public func subtract(_ other: Any) -> FunctionExpression { function("subtract", other) }
  /// The product of this number and the other one.
  public func multiply(_ other: Any) -> FunctionExpression { function("multiply", other) }
  /// The quotient of this number and the other one. If both are integers, the result is an integer.
  public func divide(_ other: Any) -> FunctionExpression { function("divide", other) }
  /// The remainder after dividing this number by the other one.
  public func mod(_ other: Any) -> FunctionExpression { function("mod", other) }
  /// The absolute value of the number.
  public func abs() -> FunctionExpression { function("abs") }
  /// The number rounded to `places` decimal places.
  public func round(_ places: Int = 0) -> FunctionExpression {
    places == 0 ? function("round") : function("round", places)
  }

  // MARK: Strings

  /// This string followed by the given strings.
  public func stringConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "string_concat", args: [self] + others)
  }
  /// The string in uppercase.
  public func toUpper() -> FunctionExpression { function("to_upper") }
  /// The string in lowercase.
  public func toLower() -> FunctionExpression { function("to_lower") }
  /// The string without the white space at both ends.
  public func trim() -> FunctionExpression { function("trim") }
  /// The number of characters in the string.
  public func charLength() -> FunctionExpression { function("char_length") }
  /// Tests whether the string begins with a prefix.
  public func startsWith(_ prefix: Any) -> BooleanExpression { condition("starts_with", prefix) }
  /// Tests whether the string ends with a suffix.
  public func endsWith(_ suffix: Any) -> BooleanExpression { condition("ends_with", suffix) }
  /// Tests whether the string contains `part`.
  public func stringContains(_ part: Any) -> BooleanExpression { condition("string_contains", part) }
  /// Tests whether the string matches a pattern in which `%` matches any text and `_` matches any character.
  public func like(_ pattern: Any) -> BooleanExpression { condition("like", pattern) }
  /// Tests whether a part of the string matches a regular expression.
  public func regexContains(_ pattern: Any) -> BooleanExpression { condition("regex_contains", pattern) }
  /// Tests whether the whole string matches a regular expression.
  public func regexMatch(_ pattern: Any) -> BooleanExpression { condition("regex_match", pattern) }

  // MARK: Arrays, maps, vectors

  /// Tests whether the array contains the value.
  public func arrayContains(_ element: Any) -> BooleanExpression { condition("array_contains", element) }
  /// Tests whether the array contains all of the given values.
  public func arrayContainsAll(_ elements: [Any]) -> BooleanExpression { condition("array_contains_all", elements) }
  /// Tests whether the array contains at least one of the given values.
  public func arrayContainsAny(_ elements: [Any]) -> BooleanExpression { condition("array_contains_any", elements) }
  /// The number of elements in the array.
  public func arrayLength() -> FunctionExpression { function("array_length") }
  /// The element at an index. Indexes count from 0; negative indexes count from the end.
  public func arrayGet(_ place: Any) -> FunctionExpression { function("array_get", place) }
  /// This array followed by the elements of the given arrays.
  public func arrayConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "array_concat", args: [self] + others)
  }
  /// The map's value for this key.
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
  /// The time plus an amount in the given unit.
  /// - Parameter unit: `microsecond`, `millisecond`, `second`, `minute`, `hour` or `day`.
  public func timestampAdd(amount: Any, unit: String) -> FunctionExpression { function("timestamp_add", unit, amount) }
  /// The time truncated to a unit of time, in UTC.
  /// - Parameter granularity: the unit, such as `hour`, `day`, `isoweek` or `month`.
  public func timestampTruncate(granularity: String) -> FunctionExpression { function("timestamp_trunc", granularity) }
}
