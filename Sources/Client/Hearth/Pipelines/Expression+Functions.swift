// SPDX-License-Identifier: Apache-2.0

// Functions that have a method. All others are called by name: `FunctionExpression(functionName:args:)`.

extension Expression {
  private func function(_ name: String, _ arguments: Any...) -> FunctionExpression {
    FunctionExpression(functionName: name, args: [self] + arguments)
  }

  private func condition(_ name: String, _ arguments: Any...) -> BooleanExpression {
    BooleanExpression(functionName: name, args: [self] + arguments)
  }

  // MARK: Comparison

  /// Tests whether the values are equal; 1 and 1.0 are. An absent value equals none.
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
  /// Tests whether the value equals one of the others.
  public func equalAny(_ others: [Any]) -> BooleanExpression { condition("equal_any", others) }
  /// Tests whether the value equals none of the others.
  public func notEqualAny(_ others: [Any]) -> BooleanExpression { condition("not_equal_any", others) }
  /// Tests whether the expression has a value, null included.
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
  /// The quotient; of two integers an integer.
  public func divide(_ other: Any) -> FunctionExpression { function("divide", other) }
  /// The remainder of the division.
  public func mod(_ other: Any) -> FunctionExpression { function("mod", other) }
  /// The absolute value.
  public func abs() -> FunctionExpression { function("abs") }
  /// The number rounded to so many decimal places.
  public func round(_ places: Int = 0) -> FunctionExpression {
    places == 0 ? function("round") : function("round", places)
  }

  // MARK: Strings

  /// The strings joined in this order.
  public func stringConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "string_concat", args: [self] + others)
  }
  /// The string in capital letters.
  public func toUpper() -> FunctionExpression { function("to_upper") }
  /// The string in small letters.
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
  /// Tests whether the string matches a pattern in which `%` stands for any text and `_` for any character.
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
  /// The element at a place, counted from 0, or from the end if the place is negative.
  public func arrayGet(_ place: Any) -> FunctionExpression { function("array_get", place) }
  /// The arrays joined in this order.
  public func arrayConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "array_concat", args: [self] + others)
  }
  /// The map's value of that name.
  public func mapGet(_ name: String) -> FunctionExpression { function("map_get", name) }
  /// The Euclidean distance between two vectors of the same length.
  public func euclideanDistance(_ other: Any) -> FunctionExpression { function("euclidean_distance", other) }
  /// 1 less the cosine of the angle between two vectors.
  public func cosineDistance(_ other: Any) -> FunctionExpression { function("cosine_distance", other) }
  /// The dot product of two vectors.
  public func dotProduct(_ other: Any) -> FunctionExpression { function("dot_product", other) }

  // MARK: Documents and times

  /// The last segment of a document's name.
  public func documentId() -> FunctionExpression { function("document_id") }
  /// The time, later by an amount of a unit.
  /// - Parameter unit: `microsecond`, `millisecond`, `second`, `minute`, `hour` or `day`.
  public func timestampAdd(amount: Any, unit: String) -> FunctionExpression { function("timestamp_add", unit, amount) }
  /// The time truncated to a unit, in UTC.
  /// - Parameter granularity: such as `hour`, `day`, `isoweek`, `month`.
  public func timestampTruncate(granularity: String) -> FunctionExpression { function("timestamp_trunc", granularity) }
}
