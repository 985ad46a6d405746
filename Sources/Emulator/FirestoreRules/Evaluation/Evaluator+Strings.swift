// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import LinearPatterns

extension Evaluator {
  mutating func call(_ method: Method, on text: String, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    try work(text.utf8.count / 8)
    switch method {
    case .size, .lower, .upper, .trim, .toUtf8:
      _ = try arguments(ids, 0, of: method)
      switch method {
      case .size: return .int(Int64(text.utf16.count))
      case .lower: return .string(Self.mapped(text, UInt8(ascii: "A")...UInt8(ascii: "Z")))
      case .upper: return .string(Self.mapped(text, UInt8(ascii: "a")...UInt8(ascii: "z")))
      case .trim: return .string(Self.trimmed(text))
      default: return .bytes(Array(text.utf8))
      }
    case .matches, .split:
      let arguments = try arguments(ids, 1, of: method)
      guard case .string(let source) = arguments[0] else { throw wrongTypes("string", method, arguments) }
      let pattern = try pattern(source, at: ids[0])
      if method == .matches {
        try work(text.utf8.count * pattern.stepCount)
        return .bool(pattern.matchesWhole(text))
      }
      do throws(Pattern.EditFailure) {
        let parts = try pattern.split(text, work: &remainingWork)
        // A split whose parts are all empty gives one empty string.
        return .list((parts.isEmpty ? [""] : parts).map { .string($0) })
      } catch { throw .tooMuchWork }
    case .replace:
      let arguments = try arguments(ids, 2, of: method)
      guard case .string(let source) = arguments[0], case .string(let replacement) = arguments[1] else {
        throw wrongTypes("string", method, arguments)
      }
      let pattern = try pattern(source, at: ids[0])
      try work(text.utf8.count * (replacement.utf8.count + 1))
      do throws(Pattern.EditFailure) {
        return try .string(pattern.replacing(in: text, with: replacement, work: &remainingWork))
      } catch {
        if error == .tooMuchWork { throw .tooMuchWork }
        throw .invalid("Invalid replacement: the pattern has no such group.")
      }
    default: throw .unknownFunction(method.rawValue)
    }
  }

  /// The compiled pattern: of a literal, the one compiled with the rules; any other is compiled now.
  private mutating func pattern(_ source: String, at id: Expression.ID) throws(RuleFailure) -> Pattern {
    if let pattern = program.patterns[id] { return pattern }
    try work(source.utf8.count * 100)
    do throws(PatternError) { return try Pattern(re2: source) } catch {
      throw .invalid("Invalid regular expression pattern. Pattern: \(source). \(error.text)")
    }
  }

  /// Changes the case of ASCII letters only.
  private static func mapped(_ text: String, _ letters: ClosedRange<UInt8>) -> String {
    String(decoding: text.utf8.map { letters.contains($0) ? $0 ^ 0x20 : $0 }, as: UTF8.self)
  }

  /// The text without ASCII control characters and blanks at both ends.
  private static func trimmed(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 }) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// The result of the function `string()` for a value.
  func text(of value: RuleValue) throws(RuleFailure) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return String(value)
    case .int(let value): return String(value)
    case .float(let value): return FloatText.text(value)
    case .string(let text): return text
    case .path(let path): return path.text
    default: throw .operation(received: "string(\(value.typeName))", expected: Builtin.string.signatures)
    }
  }
}
