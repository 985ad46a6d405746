// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Works out expressions for one document. An absent value is `nil`, which is not null.
struct Evaluation {
  let row: Row
  let context: EvaluationContext
  /// The variables of the array functions around the expression.
  private var locals: [String: Value] = [:]

  init(_ row: Row, _ context: EvaluationContext) {
    self.row = row
    self.context = context
  }

  /// The value, of a size that a document could hold several times.
  func value(_ expression: Expression) throws(EvaluationError) -> Value? {
    let value = try evaluate(expression)
    switch expression {
    case .constant, .field, .metadata: break
    default: try Self.check(value)
    }
    return value
  }

  /// Whether a condition holds. One that cannot be worked out does not.
  func holds(_ condition: Expression) -> Bool {
    guard let value = try? evaluate(condition), case .boolean(true) = value else { return false }
    return true
  }

  static func check(_ value: Value?) throws(EvaluationError) {
    if let value, value.isLarger(than: PipelineLimits.valueBytes) { throw tooLarge }
  }

  static let tooLarge = EvaluationError(
    "A value became larger than \(PipelineLimits.valueBytes >> 20) MiB; select less or in parts.")

  func evaluate(_ expression: Expression) throws(EvaluationError) -> Value? {
    switch expression {
    case .constant(let value): return value
    case .field(let path): return row.data[path]
    case .metadata(let metadata): return value(of: metadata)
    case .variable(let name): return try variable(name)
    case .array(let elements): return .array(try arguments(elements).map { $0 ?? .null })
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
    guard let value = row.variables[name] else { throw EvaluationError("The variable '\(name)' is not defined.") }
    return value
  }

  private func map(_ entries: [NamedExpression]) throws(EvaluationError) -> Value {
    let values = try arguments(entries.map(\.value))
    var fields: [Fields.Entry] = []
    for (entry, value) in zip(entries, values) {
      if let value { fields.append((entry.name, value)) }
    }
    return Value(map: Fields(unsorted: fields))
  }

  /// The values of several expressions, which together are not larger than one may be.
  private func arguments(_ expressions: [Expression]) throws(EvaluationError) -> [Value?] {
    var (values, size) = ([Value?](), 0)
    values.reserveCapacity(expressions.count)
    for expression in expressions {
      let value = try evaluate(expression)
      switch expression {
      case .constant, .field, .metadata, .variable: break
      default:
        try Self.check(value)
        size += value?.byteSize ?? 0
        if size > PipelineLimits.valueBytes { throw Self.tooLarge }
      }
      values.append(value)
    }
    return values
  }

  private func call(_ function: Function, _ expressions: [Expression]) throws(EvaluationError) -> Value? {
    let arguments = try arguments(expressions)
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
      guard let score = row.score else { throw EvaluationError("score() has a value in a search stage only.") }
      return .double(score)
    case .matchesText:
      guard case .string(let text)? = arguments[0] else {
        throw EvaluationError("document_matches() takes a string.")
      }
      return .boolean(SearchQuery(text).score(row.data.fields) != nil)
    }
  }

  private func walk(_ walk: ArrayWalk) throws(EvaluationError) -> Value? {
    guard let array = try evaluate(walk.array) else { return .null }
    if case .null = array { return .null }
    guard case .array(let elements) = array else { throw .type(walk.kind.rawValue, "an array", array) }
    var (inner, result, size) = (self, [Value](), 0)
    for (place, element) in elements.enumerated() {
      inner.locals[walk.element] = element
      if let index = walk.index { inner.locals[index] = .integer(Int64(place)) }
      let value = try inner.evaluate(walk.body)
      switch walk.kind {
      case .filter:
        if case .boolean(true)? = value { result.append(element) }
      case .transform:
        let value = value ?? .null
        try Self.check(value)
        size += value.byteSize + 1
        if size > PipelineLimits.valueBytes { throw Self.tooLarge }
        result.append(value)
      }
    }
    return .array(result)
  }
}

extension EvaluationError {
  /// An argument of a type that the function does not take.
  static func type(_ function: String, _ wanted: String, _ value: Value) -> EvaluationError {
    EvaluationError("\(function)() takes \(wanted), not a value of type \(value.pipelineType).")
  }
}
