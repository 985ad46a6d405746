// SPDX-License-Identifier: Apache-2.0

/// The reason why an expression has no value. The statement with the expression then does not allow the request, but
/// other statements may.
enum RuleFailure: Error, Hashable {
  /// The expression depends on facts about a query's results that are not known.
  case notKnown
  case nullValue
  case undefinedProperty(String)
  case type(received: String, expected: String)
  case operation(received: String, expected: [String])
  case argumentCount(Int, expected: [String])
  case unknownFunction(String)
  case index(Int64, size: Int)
  case range(Int64, Int64)
  case divisionByZero
  case integerRange
  case conversion(String, from: String, to: String)
  /// A read of a missing document or of an invalid document path.
  case access(String, path: String, reason: String)
  case tooManyAccesses
  case tooManyExpressions
  case callsTooDeep
  case tooMuchWork
  case invalid(String)

  /// The text of the failure; the emulator's text if there is one.
  var message: String {
    switch self {
    case .notKnown: "evaluation error"
    case .nullValue: "Null value error."
    case .undefinedProperty(let name): "Property \(name) is undefined on object."
    case .type(let received, let expected): "Type error. Received: [\(received)] Expected: [\(expected)]."
    case .operation(let received, let expected):
      "Unsupported operation error. Received: \(received). Expected: \(expected.joined(separator: ", "))."
    case .argumentCount(let count, let expected):
      "Incorrect number of arguments. Received: \(count). Expected: \(expected.joined(separator: ", "))."
    case .unknownFunction(let name): "Function not found error: Name: [\(name)]."
    case .index(let index, let size): "Index out of bound error. Index: [\(index)] , size: [\(size)]."
    case .range(let from, let to): "Illegal range error. From index: [\(from)] , To index: [\(to)]."
    case .divisionByZero: "Divide by zero error."
    case .integerRange:
      "Integer value is out of the [-9223372036854775808, 9223372036854775807] range."
    case .conversion(let text, let from, let to):
      "Type conversion error. Argument: [\(text)], From type: [\(from)], To type: [\(to)]."
    case .access(let function, let path, let reason):
      "Service call error. Function: [\(function)], Argument: [\(path)]: \(reason)."
    case .tooManyAccesses:
      "Service call error. At most \(RulesLimits.accesses) documents can be read with get and exists for one "
        + "document or query, and \(RulesLimits.accessesInAll) for a request about several documents."
    case .tooManyExpressions:
      "Unable to evaluate the expression as the maximum of \(RulesLimits.expressions) expressions to evaluate has been "
        + "reached."
    case .callsTooDeep: "Maximum call depth of \(RulesLimits.callDepth) has been reached."
    case .tooMuchWork: "The evaluation took too much work: the values that it handles are too large."
    case .invalid(let text): text
    }
  }
}
