// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The arguments of a stage as the message has them, with the checks that stages share.
struct StageArguments {
  let name: String
  let arguments: [ExpressionMessage]
  let options: [String: ExpressionMessage]

  init(_ message: PipelineMessage.Stage) {
    (name, arguments, options) = (message.name, message.arguments, message.options)
  }

  /// Options that advise on indexes and have no effect on the result.
  private static let indexHints: Set = ["index_mode", "force_index"]

  func fail(_ reason: String) -> RPCStatus { .invalid("The stage '\(name)' \(reason)") }

  /// - Throws: if the number of arguments is not in `count`, or the stage does not have one of the options.
  func expect(_ count: ClosedRange<Int>, options known: [String] = []) throws(RPCStatus) {
    guard count.contains(arguments.count) else {
      let wanted =
        count.lowerBound == count.upperBound
        ? "\(count.lowerBound)" : count.upperBound == .max ? "at least \(count.lowerBound)" : "\(count)"
      throw fail("takes \(wanted) arguments, not \(arguments.count).")
    }
    for option in options.keys.sorted() where !known.contains(option) && !Self.indexHints.contains(option) {
      let list = known.isEmpty ? "It has none." : "It has: \(known.joined(separator: ", "))."
      throw fail("has no option '\(option)'. \(list)")
    }
  }

  func text(at index: Int) throws(RPCStatus) -> String {
    guard case .constant(.string(let text)) = arguments[index] else {
      throw fail("takes a constant string as argument \(index + 1).")
    }
    return text
  }

  /// A constant integer that is not negative; one beyond 32 bits counts as the largest of 32 bits, so that sums of a
  /// few cannot overflow.
  func count(_ message: ExpressionMessage) throws(RPCStatus) -> Int {
    guard case .constant(.integer(let count)) = message, count >= 0 else {
      throw fail("takes a constant integer that is not negative.")
    }
    return Int(min(count, Int64(Int32.max)))
  }

  func count(option: String) throws(RPCStatus) -> Int? {
    guard let message = options[option] else { return nil }
    return try count(message)
  }

  func path(option: String) throws(RPCStatus) -> FieldPath? {
    guard let message = options[option] else { return nil }
    return try PipelineChecker.path(of: message, name)
  }

  func number(option: String) throws(RPCStatus) -> Double? {
    guard let message = options[option] else { return nil }
    guard case .constant(let value) = message, let number = Number(value) else {
      throw fail("takes a constant number as option '\(option)'.")
    }
    return number.double
  }
}
