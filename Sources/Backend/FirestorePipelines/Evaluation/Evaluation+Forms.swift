// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Evaluation {
  /// Evaluates functions that tell absent arguments and errors from values, or do not evaluate all arguments.
  func apply(_ form: LazyForm, to arguments: [Expression]) throws(EvaluationError) -> Value? {
    switch form {
    case .and: return Self.value(try all(arguments, are: true, in: form))
    case .or: return Self.value(try all(arguments, are: false, in: form).map(!))
    case .nor: return Self.value(try all(arguments, are: false, in: form))
    case .not: return Self.value(try truth(arguments[0], in: form).map(!))
    case .xor: return try xor(arguments)
    case .conditional:
      return try evaluate(try truth(arguments[0], in: form) == true ? arguments[1] : arguments[2])
    case .exists: return .boolean(try evaluate(arguments[0]) != nil)
    case .isAbsent: return .boolean(try evaluate(arguments[0]) == nil)
    case .ifAbsent:
      if let value = try evaluate(arguments[0]) { return value }
      return try evaluate(arguments[1])
    case .isError:
      do throws(EvaluationError) { _ = try value(arguments[0]) } catch { return .boolean(true) }
      return .boolean(false)
    case .ifError:
      do throws(EvaluationError) { return try value(arguments[0]) } catch { return try evaluate(arguments[1]) }
    case .ifNull, .coalesce: return try firstValue(arguments)
    case .switchOn: return try switched(arguments)
    }
  }

  private static func value(_ truth: Bool?) -> Value { truth.map { .boolean($0) } ?? .null }

  /// The truth value of an argument; `nil` if it is null or absent.
  private func truth(_ expression: Expression, in form: LazyForm) throws(EvaluationError) -> Bool? {
    switch try evaluate(expression) {
    case .boolean(let value)?: return value
    case .null?, nil: return nil
    case let other?: throw .type(form.rawValue, "booleans", other)
    }
  }

  /// Whether all arguments are `wanted`: false as soon as one is not, whatever the others are; an error if one has no
  /// value; `nil` if one is null.
  private func all(
    _ arguments: [Expression], are wanted: Bool, in form: LazyForm
  ) throws(EvaluationError) -> Bool? {
    var (failure, hasNull) = (EvaluationError?.none, false)
    for argument in arguments {
      do throws(EvaluationError) {
        switch try truth(argument, in: form) {
        case nil: hasNull = true
        case let value?: if value != wanted { return false }
        }
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
    return hasNull ? nil : true
  }

  private func xor(_ arguments: [Expression]) throws(EvaluationError) -> Value {
    var result: Bool? = false
    for argument in arguments {
      let truth = try truth(argument, in: .xor)
      if let value = result, let truth { result = value != truth } else { result = nil }
    }
    return Self.value(result)
  }

  /// The first argument that is neither null nor absent; else null if one was null.
  private func firstValue(_ arguments: [Expression]) throws(EvaluationError) -> Value? {
    var result: Value?
    for argument in arguments {
      switch try evaluate(argument) {
      case nil: break
      case .null?: result = .null
      case let value?: return value
      }
    }
    return result
  }

  /// Evaluates conditions and results in turn; a single result at the end is for the case that no condition holds.
  private func switched(_ arguments: [Expression]) throws(EvaluationError) -> Value? {
    var rest = arguments[...]
    while rest.count > 1 {
      let (condition, result) = (rest.removeFirst(), rest.removeFirst())
      if try truth(condition, in: .switchOn) == true { return try evaluate(result) }
    }
    if let otherwise = rest.first { return try evaluate(otherwise) }
    throw EvaluationError("switch_on(): all switch cases evaluate to false, and no default provided.")
  }
}
