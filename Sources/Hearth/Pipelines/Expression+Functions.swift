// SPDX-License-Identifier: Apache-2.0

// Functions that have a method. All others are there by name: `FunctionExpression(functionName:args:)`.

extension Expression {
  private func function(_ name: String, _ arguments: Any...) -> FunctionExpression {
    FunctionExpression(functionName: name, args: [self] + arguments)
  }

  private func condition(_ name: String, _ arguments: Any...) -> BooleanExpression {
    BooleanExpression(functionName: name, args: [self] + arguments)
  }

  // MARK: Comparison

  /// Whether the values are equal; 1 and 1.0 are. What is absent equals nothing.
  public func equal(_ other: Any) -> BooleanExpression { condition("equal", other) }
  /// The contrary of `equal(_:)`.
  public func notEqual(_ other: Any) -> BooleanExpression { condition("not_equal", other) }
  /// Compares values of one type.
  public func greaterThan(_ other: Any) -> BooleanExpression { condition("greater_than", other) }
  /// Compares values of one type.
  public func greaterThanOrEqual(_ other: Any) -> BooleanExpression { condition("greater_than_or_equal", other) }
  /// Compares values of one type.
  public func lessThan(_ other: Any) -> BooleanExpression { condition("less_than", other) }
  /// Compares values of one type.
  public func lessThanOrEqual(_ other: Any) -> BooleanExpression { condition("less_than_or_equal", other) }
  /// Whether it equals one of the values.
  public func equalAny(_ others: [Any]) -> BooleanExpression { condition("equal_any", others) }
  /// Whether it equals none of the values.
  public func notEqualAny(_ others: [Any]) -> BooleanExpression { condition("not_equal_any", others) }
  /// Whether there is a value, null included.
  public func exists() -> BooleanExpression { condition("exists") }
  /// Whether there is none.
  public func isAbsent() -> BooleanExpression { condition("is_absent") }
  /// Whether it cannot be worked out.
  public func isError() -> BooleanExpression { condition("is_error") }
  /// Another value where there is none.
  public func ifAbsent(_ other: Any) -> FunctionExpression { function("if_absent", other) }
  /// Another value where it cannot be worked out.
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
  /// What division leaves.
  public func mod(_ other: Any) -> FunctionExpression { function("mod", other) }
  /// Without its sign.
  public func abs() -> FunctionExpression { function("abs") }
  /// To so many decimal places.
  public func round(_ places: Int = 0) -> FunctionExpression {
    places == 0 ? function("round") : function("round", places)
  }

  // MARK: Strings

  /// The strings one behind the other.
  public func stringConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "string_concat", args: [self] + others)
  }
  /// In capital letters.
  public func toUpper() -> FunctionExpression { function("to_upper") }
  /// In small letters.
  public func toLower() -> FunctionExpression { function("to_lower") }
  /// Without white space at both ends.
  public func trim() -> FunctionExpression { function("trim") }
  /// How many characters there are.
  public func charLength() -> FunctionExpression { function("char_length") }
  /// Whether it begins so.
  public func startsWith(_ prefix: Any) -> BooleanExpression { condition("starts_with", prefix) }
  /// Whether it ends so.
  public func endsWith(_ suffix: Any) -> BooleanExpression { condition("ends_with", suffix) }
  /// Whether it has that in it.
  public func stringContains(_ part: Any) -> BooleanExpression { condition("string_contains", part) }
  /// Whether it matches a pattern in which `%` stands for any text and `_` for any character.
  public func like(_ pattern: Any) -> BooleanExpression { condition("like", pattern) }
  /// Whether a part of it matches a regular expression.
  public func regexContains(_ pattern: Any) -> BooleanExpression { condition("regex_contains", pattern) }
  /// Whether all of it matches a regular expression.
  public func regexMatch(_ pattern: Any) -> BooleanExpression { condition("regex_match", pattern) }

  // MARK: Arrays, maps, vectors

  /// Whether the array has the value.
  public func arrayContains(_ element: Any) -> BooleanExpression { condition("array_contains", element) }
  /// Whether the array has all of the values.
  public func arrayContainsAll(_ elements: [Any]) -> BooleanExpression { condition("array_contains_all", elements) }
  /// Whether the array has one of the values.
  public func arrayContainsAny(_ elements: [Any]) -> BooleanExpression { condition("array_contains_any", elements) }
  /// How many elements the array has.
  public func arrayLength() -> FunctionExpression { function("array_length") }
  /// The element at a place, from the end if that is negative.
  public func arrayGet(_ place: Any) -> FunctionExpression { function("array_get", place) }
  /// The arrays one behind the other.
  public func arrayConcat(_ others: [Any]) -> FunctionExpression {
    FunctionExpression(functionName: "array_concat", args: [self] + others)
  }
  /// The map's value of that name.
  public func mapGet(_ name: String) -> FunctionExpression { function("map_get", name) }
  /// How far a vector is from another one of the same length.
  public func euclideanDistance(_ other: Any) -> FunctionExpression { function("euclidean_distance", other) }
  /// 1 less the cosine of the angle between two vectors.
  public func cosineDistance(_ other: Any) -> FunctionExpression { function("cosine_distance", other) }
  /// The dot product of two vectors.
  public func dotProduct(_ other: Any) -> FunctionExpression { function("dot_product", other) }

  // MARK: Documents and times

  /// The last segment of a document's name.
  public func documentId() -> FunctionExpression { function("document_id") }
  /// The time, so much later.
  /// - Parameter unit: `microsecond`, `millisecond`, `second`, `minute`, `hour` or `day`.
  public func timestampAdd(amount: Any, unit: String) -> FunctionExpression { function("timestamp_add", unit, amount) }
  /// The time cut down, in UTC.
  /// - Parameter granularity: such as `hour`, `day`, `isoweek`, `month`.
  public func timestampTruncate(granularity: String) -> FunctionExpression { function("timestamp_trunc", granularity) }
}
