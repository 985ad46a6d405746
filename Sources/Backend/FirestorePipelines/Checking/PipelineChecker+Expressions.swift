// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension PipelineChecker {
  mutating func expression(_ message: ExpressionMessage) throws(RPCStatus) -> Expression {
    switch message {
    case .constant(let value):
      if let time = value.invalidTimestamp { throw .invalid(time.objection) }
      return .constant(value)
    case .path(let text): throw .invalid("\"\(text)\" is not the name of a document.")
    case .field(let text):
      if let metadata = Expression.Metadata(rawValue: text) { return .metadata(metadata) }
      // Google's clients ask for a document's id by this name too.
      if text == "__path__" { return .metadata(.name) }
      return .field(try Self.path(text, "field"))
    case .variable(let name):
      guard variables.contains(name) else {
        throw .invalid("There is an unknown variable '\(name)'. The stage 'let' before it defines variables.")
      }
      return .variable(name)
    case .array(let elements): return .array(try expressions(elements))
    case .map(let entries): return .map(try named(entries))
    case .function(let name, let arguments, _): return try call(name, arguments)
    case .pipeline:
      throw .invalid("A pipeline is an expression as the argument of array() or scalar() only.")
    }
  }

  private mutating func expressions(_ messages: [ExpressionMessage]) throws(RPCStatus) -> [Expression] {
    var expressions: [Expression] = []
    for message in messages { expressions.append(try expression(message)) }
    return expressions
  }

  private mutating func call(_ name: String, _ arguments: [ExpressionMessage]) throws(RPCStatus) -> Expression {
    if arguments.count == 1, case .pipeline(let pipeline) = arguments[0] {
      switch name {
      case "array": return try subquery(.array, pipeline)
      case "scalar": return try subquery(.scalar, pipeline)
      default: break
      }
    }
    switch name {
    case "current_document":
      try Self.check(arguments.count, 0...0, name)
      return .currentDocument
    case ArrayWalk.Kind.filter.rawValue: return try arrayWalk(.filter, arguments)
    case ArrayWalk.Kind.transform.rawValue: return try arrayWalk(.transform, arguments)
    default: break
    }
    if let form = LazyForm(rawValue: name) {
      try Self.check(arguments.count, form.arity, name)
      return .form(form, try expressions(arguments))
    }
    guard let function = Function.table[name] else {
      if AggregateFunction(rawValue: name) != nil {
        throw .invalid("The function '\(name)' is for the stage 'aggregate' only.")
      }
      throw .invalid(
        "The function '\(name)' does not exist. Functions are: \(Function.names.joined(separator: ", ")).")
    }
    try Self.check(arguments.count, function.arity, name)
    return .call(function, try expressions(arguments))
  }

  private static func check(_ count: Int, _ arity: ClosedRange<Int>, _ name: String) throws(RPCStatus) {
    if arity.contains(count) { return }
    let wanted =
      arity.lowerBound == arity.upperBound
      ? "\(arity.lowerBound)"
      : arity.upperBound == Function.many
        ? "at least \(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
    throw .invalid("The function '\(name)' takes \(wanted) arguments, not \(count).")
  }

  /// Reads the array, the names of the variables for the element and, in a transformation, its index, and the
  /// expression.
  private mutating func arrayWalk(
    _ kind: ArrayWalk.Kind, _ arguments: [ExpressionMessage]
  ) throws(RPCStatus) -> Expression {
    try Self.check(arguments.count, kind == .filter ? 3...3 : 3...4, kind.rawValue)
    var names: [String] = []
    for argument in arguments[1..<(arguments.count - 1)] {
      guard case .constant(.string(let name)) = argument else {
        throw .invalid("The function '\(kind.rawValue)' takes constant strings as names of its variables.")
      }
      names.append(name)
    }
    return .arrayWalk(
      ArrayWalk(
        kind: kind, array: try expression(arguments[0]), element: names[0], index: names.count > 1 ? names[1] : nil,
        body: try elementExpression(arguments[arguments.count - 1], knowing: names)))
  }
}
