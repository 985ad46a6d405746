// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Evaluates expressions for one document. Absent values are `nil`, which differs from a null value.
struct Evaluation {
  let row: Row
  let context: EvaluationContext
  /// The variables of the enclosing array functions.
  private var locals: [String: Value] = [:]

  init(_ row: Row, _ context: EvaluationContext) {
    self.row = row
    self.context = context
  }

  /// Evaluates an expression. The value is limited to `PipelineLimits.valueBytes`.
  func value(_ expression: Expression) throws(EvaluationError) -> Value? {
    let value = try evaluate(expression)
    switch expression {
    case .constant, .field, .metadata: break
    default: try Self.check(value)
    }
    return value
  }

  /// Whether a condition is true; false if its evaluation fails.
  func holds(_ condition: Expression) -> Bool {
    guard let value = try? evaluate(condition), case .boolean(true) = value else { return false }
    return true
  }

  static func check(_ value: Value?) throws(EvaluationError) {
    if let value, value.memorySize > PipelineLimits.valueBytes { throw tooLarge }
  }

  static let tooLarge = EvaluationError(
    "A value became larger than \(PipelineLimits.valueBytes >> 20) MiB. Select less data, or split the query.")

  static let cancelled = EvaluationError(RPCStatus.cancelled)

  private var exhausted: EvaluationError {
    EvaluationError(
      RPCStatus(
        .resourceExhausted,
        "The values in an expression need more than \(context.work.limit >> 20) MiB of memory in total. Select less "
          + "data, or split the query."))
  }

  func evaluate(_ expression: Expression) throws(EvaluationError) -> Value? {
    switch expression {
    case .constant(let value): return value
    case .field(let path): return row.data[path]
    case .metadata(let metadata): return value(of: metadata)
    case .variable(let name): return try variable(name)
    case .array(let elements): return try array(elements)
    case .map(let entries): return try map(entries)
    case .call(let function, let arguments): return try call(function, arguments)
    case .form(let form, let arguments): return try apply(form, to: arguments)
    case .arrayWalk(let walk): return try self.walk(walk)
    case .subquery(let subquery): return try row.answers[subquery.id]?.get()
    case .currentDocument: return .map(row.data.fields)
    }
  }

  private func value(of metadata: Expression.Metadata) -> Value? {
    switch metadata {
    case .name: row.key.map { .reference(context.database, $0) }
    case .createTime: row.createTime.map { .timestamp($0.timestamp) }
    case .updateTime: row.updateTime.map { .timestamp($0.timestamp) }
    }
  }

  private func variable(_ name: String) throws(EvaluationError) -> Value? {
    if let local = locals[name] { return local }
    guard let value = row.variables[name] else { throw EvaluationError("Unknown variable '\(name)'.") }
    return value
  }

  private func map(_ entries: [NamedExpression]) throws(EvaluationError) -> Value {
    let (values, held) = try arguments(entries.lazy.map(\.value))
    defer { context.work.release(held) }
    var fields: [Fields.Entry] = []
    for (entry, value) in zip(entries, values) {
      if let value { fields.append((entry.name, value)) }
    }
    return Value(map: Fields(unsorted: fields))
  }

  private func array(_ elements: [Expression]) throws(EvaluationError) -> Value {
    let (values, held) = try arguments(elements)
    defer { context.work.release(held) }
    return .array(values.map { $0 ?? .null })
  }

  /// Evaluates several expressions. The values together must not exceed the maximum size of one value.
  /// - Returns: the values, and the bytes that are counted for them, which the caller must release.
  private func arguments(
    _ expressions: some Collection<Expression>
  ) throws(EvaluationError) -> (values: [Value?], held: Int) {
    var (values, held) = ([Value?](), 0)
    values.reserveCapacity(expressions.count)
    do throws(EvaluationError) {
      for expression in expressions {
        let value = try evaluate(expression)
        if let value, isMade(by: expression) {
          let bytes = value.memorySize
          if held + bytes > PipelineLimits.valueBytes { throw Self.tooLarge }
          guard context.work.hold(bytes) else { throw exhausted }
          held += bytes
        }
        values.append(value)
      }
    } catch {
      context.work.release(held)
      throw error
    }
    return (values, held)
  }

  /// Whether evaluating an expression allocates memory for its value.
  private func isMade(by expression: Expression) -> Bool {
    switch expression {
    case .constant, .variable, .metadata: return false
    case .field, .currentDocument: if case .decoded = row.data.storage { return false }
    default: break
    }
    return true
  }

  private func call(_ function: Function, _ expressions: [Expression]) throws(EvaluationError) -> Value? {
    let (arguments, held) = try arguments(expressions)
    defer { context.work.release(held) }
    guard context.work.goesOn(held) else { throw Self.cancelled }
    switch function.body {
    case .anything(let body): return try body(arguments, context)
    case .values(let body):
      var values: [Value] = []
      values.reserveCapacity(arguments.count)
      for argument in arguments {
        guard let argument else { return .null }
        if case .null = argument { return .null }
        values.append(argument)
      }
      return try body(values, context)
    case .score:
      guard let score = row.score else { throw EvaluationError("score() has a value only in a search stage.") }
      return .double(score)
    case .matchesText:
      guard case .string(let text)? = arguments[0] else {
        throw EvaluationError("document_matches() takes a string.")
      }
      return .boolean(SearchQuery(text).score(row.data.fields, context.work) != nil)
    }
  }

  private func walk(_ walk: ArrayWalk) throws(EvaluationError) -> Value? {
    guard let array = try evaluate(walk.array) else { return .null }
    if case .null = array { return .null }
    guard case .array(let elements) = array else { throw .type(walk.kind.rawValue, "an array", array) }
    var (inner, result, held) = (self, [Value](), 0)
    defer { context.work.release(held) }
    for (place, element) in elements.enumerated() {
      guard context.work.goesOn() else { throw Self.cancelled }
      inner.locals[walk.element] = element
      if let index = walk.index { inner.locals[index] = .integer(Int64(place)) }
      let value = try inner.evaluate(walk.body)
      switch walk.kind {
      case .filter:
        if case .boolean(true)? = value { result.append(element) }
      case .transform:
        let value = value ?? .null
        let bytes = value.memorySize
        if held + bytes > PipelineLimits.valueBytes { throw Self.tooLarge }
        guard context.work.hold(bytes) else { throw exhausted }
        held += bytes
        result.append(value)
      }
    }
    return .array(result)
  }
}

extension EvaluationError {
  /// The error for an argument whose type the function does not accept.
  static func type(_ function: String, _ wanted: String, _ value: Value) -> EvaluationError {
    EvaluationError("\(function)() takes \(wanted), not a value of type \(value.pipelineType).")
  }
}

extension Evaluation {
  /// Evaluates functions that distinguish absent arguments and errors from values, or that do not evaluate all
  /// arguments.
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

  /// The Boolean value of an argument; `nil` if it is null or absent.
  private func truth(_ expression: Expression, in form: LazyForm) throws(EvaluationError) -> Bool? {
    switch try evaluate(expression) {
    case .boolean(let value)?: return value
    case .null?, nil: return nil
    case let other?: throw .type(form.rawValue, "booleans", other)
    }
  }

  /// Whether all arguments have the value `wanted`. Returns false as soon as an argument has the other value. Otherwise
  /// throws an error if an argument fails, or returns `nil` if an argument is null or absent.
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

  /// The first argument that is neither null nor absent. If there is no such argument, returns null if an argument is
  /// null, otherwise absent.
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

  /// Returns the result of the first condition that is true. The arguments alternate between conditions and results; a
  /// single result at the end is the default.
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
