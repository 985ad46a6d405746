// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A value that a pipeline works out for each document: a field, a constant, or a function of others.
///
/// A wrong field name or value is reported by `Pipeline.execute()`.
public protocol Expression: Sendable {
  /// The form in which the backend is asked for the expression.
  var term: ExpressionTerm { get }
}

/// The form in which the backend is asked for an expression, or the error in the expression.
public struct ExpressionTerm: Sendable {
  let message: Result<ExpressionMessage, FirestoreError>

  init(_ message: ExpressionMessage) { self.message = .success(message) }

  init(_ body: () throws(FirestoreError) -> ExpressionMessage) { message = Result(catching: body) }

  /// Takes an expression as it is, or a value as a constant; arrays and maps may hold expressions.
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

/// A field of the documents; for a document without it the expression has no value, which is not the same as null.
public struct Field: Expression, Selectable {
  private let name: Result<FieldPath, FirestoreError>

  /// Names a field.
  /// - Parameter name: a path with dots, or a `FieldPath`.
  public init(_ name: some FieldName) { self.name = name.fieldPath }

  /// The document's name; its value is a `DocumentReference`.
  public static var documentID: Field { Field(FieldPath.documentID()) }

  /// The form in which the backend is asked for the expression.
  public var term: ExpressionTerm {
    ExpressionTerm { () throws(FirestoreError) in .field(try path()) }
  }

  /// The field under its own name.
  public var selection: Selection { Selection { () throws(FirestoreError) in (try path(), .field(try path())) } }

  func path() throws(FirestoreError) -> String { try name.get().modelPath().canonicalText }
}

/// A value that is the same for every document.
public struct Constant: Expression {
  /// The form in which the backend is asked for the expression.
  public let term: ExpressionTerm

  /// Makes a constant.
  /// - Parameter value: of a type that can be written; `NSNull()` for null.
  public init(_ value: Any) {
    term = ExpressionTerm { () throws(FirestoreError) in .constant(try ValueEncoder.plain(value)) }
  }
}

/// A function of other expressions, by the name that the backend knows, also one that has no method here.
public struct FunctionExpression: Expression {
  /// The form in which the backend is asked for the expression.
  public let term: ExpressionTerm

  /// Makes a function by its name.
  /// - Parameters:
  ///   - functionName: the backend's name of the function, such as `string_concat`.
  ///   - args: expressions, or values as constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }
}

/// A condition: an expression that is true, false, or neither.
public struct BooleanExpression: Expression {
  /// The form in which the backend is asked for the expression.
  public let term: ExpressionTerm

  /// Makes a condition by its name.
  /// - Parameters:
  ///   - functionName: the backend's name of the function, such as `string_concat`.
  ///   - args: expressions, or values as constants.
  public init(functionName: String, args: [Any]) { term = ExpressionTerm(function: functionName, args) }

  /// The first value if the condition holds, the second if not. Either may be an expression.
  public func then(_ thenExpression: Any, else elseExpression: Any) -> FunctionExpression {
    FunctionExpression(functionName: "conditional", args: [self, thenExpression, elseExpression])
  }

  /// Counts the documents for which the condition holds.
  public func countIf() -> AggregateFunction { AggregateFunction(functionName: "count_if", args: [self]) }

  /// Tests whether both conditions hold.
  public static func && (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "and", args: [left, right])
  }

  /// Tests whether one or both conditions hold.
  public static func || (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "or", args: [left, right])
  }

  /// Tests whether exactly one of the conditions holds.
  public static func ^ (left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "xor", args: [left, right])
  }

  /// Tests whether the condition does not hold.
  public static prefix func ! (condition: BooleanExpression) -> BooleanExpression {
    BooleanExpression(functionName: "not", args: [condition])
  }
}

/// A variable of `Pipeline.define(_:)`.
public struct Variable: Expression {
  private let name: String

  /// Names a variable.
  /// - Parameter name: the name that `Pipeline.define(_:)` gave it.
  public init(_ name: String) { self.name = name }

  /// The form in which the backend is asked for the expression.
  public var term: ExpressionTerm { ExpressionTerm(.variable(name)) }
}
