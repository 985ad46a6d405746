// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Functions on strings, most of which also accept bytes.
enum Strings {
  static let functions: [Function] = [
    Function("byte_length", 1) { values, _ throws(EvaluationError) in
      .integer(Int64(try StringOrBytes(values[0], "byte_length").bytes.count))
    },
    Function("char_length", 1) { values, _ throws(EvaluationError) in
      .integer(Int64(try values[0].text(of: "char_length").unicodeScalars.count))
    },
    Function("string_concat", 1...Function.many) { values, _ throws(EvaluationError) in
      try concatenation("string_concat", values)
    },
    Function("starts_with", 2) { values, _ throws(EvaluationError) in
      let (text, part) = try pair("starts_with", values)
      return .boolean(text.bytes.starts(with: part.bytes))
    },
    Function("ends_with", 2) { values, _ throws(EvaluationError) in
      let (text, part) = try pair("ends_with", values)
      return .boolean(text.bytes.reversed().starts(with: part.bytes.reversed()))
    },
    Function("string_contains", 2) { values, _ throws(EvaluationError) in
      let (text, part) = try pair("string_contains", values)
      return .boolean(part.bytes.isEmpty || ByteSearch(part.bytes).first(in: text.bytes) != nil)
    },
    Function("string_index_of", 2) { values, _ throws(EvaluationError) in
      let (text, part) = try pair("string_index_of", values)
      guard !part.bytes.isEmpty else { return .integer(0) }
      guard let index = ByteSearch(part.bytes).first(in: text.bytes) else { return .integer(-1) }
      return .integer(Int64(text.with(text.bytes[..<index]).length))
    },
    Function("to_lower", 1) { values, _ throws(EvaluationError) in
      try mapped("to_lower", values[0], text: { $0.lowercased() }) { (65...90).contains($0) ? $0 + 32 : $0 }
    },
    Function("to_upper", 1) { values, _ throws(EvaluationError) in
      try mapped("to_upper", values[0], text: { $0.uppercased() }) { (97...122).contains($0) ? $0 - 32 : $0 }
    },
    Function("string_reverse", 1) { values, _ throws(EvaluationError) in
      try StringOrBytes(values[0], "string_reverse").reversed
    },
    Function("substring", 2...3) { values, _ throws(EvaluationError) in try substring(values) },
    Function("string_repeat", 2) { values, _ throws(EvaluationError) in try repetition(values) },
    Function("string_replace_all", 3) { values, _ throws(EvaluationError) in
      try replacement("string_replace_all", values, most: .max)
    },
    Function("string_replace_one", 3) { values, _ throws(EvaluationError) in
      try replacement("string_replace_one", values, most: 1)
    },
    Function("trim", 1...2) { values, _ throws(EvaluationError) in try trimmed("trim", values, true, true) },
    Function("ltrim", 1...2) { values, _ throws(EvaluationError) in try trimmed("ltrim", values, true, false) },
    Function("rtrim", 1...2) { values, _ throws(EvaluationError) in try trimmed("rtrim", values, false, true) },
    Function("split", 1...2) { values, _ throws(EvaluationError) in try split(values) },
    Function("like", 2) { values, context throws(EvaluationError) in
      .boolean(try LikePattern(values[1].text(of: "like")).matches(values[0].text(of: "like"), context.work))
    },
  ]

  /// The arguments as two texts, or as two sequences of bytes.
  private static func pair(
    _ function: String, _ values: [Value]
  ) throws(EvaluationError) -> (StringOrBytes, StringOrBytes) {
    let (first, second) = (try StringOrBytes(values[0], function), try StringOrBytes(values[1], function))
    guard first.isText == second.isText else {
      throw EvaluationError("\(function)() takes only strings or only bytes, not both.")
    }
    return (first, second)
  }

  static func concatenation(_ function: String, _ values: [Value]) throws(EvaluationError) -> Value {
    var result = try StringOrBytes(values[0], function)
    for index in values.indices.dropFirst() {
      let (_, next) = try pair(function, [values[0], values[index]])
      result.bytes += next.bytes
      if result.bytes.count > PipelineLimits.valueBytes { throw Evaluation.tooLarge }
    }
    return result.value
  }

  private static func mapped(
    _ function: String, _ value: Value, text: (String) -> String, _ byte: (UInt8) -> UInt8
  ) throws(EvaluationError) -> Value {
    if case .string(let string) = value { return .string(text(string)) }
    var bytes = try StringOrBytes(value, function)
    bytes.bytes = bytes.bytes.map(byte)
    return bytes.value
  }

  /// The part that begins at a position, with a given length or up to the end. Negative positions count from the end.
  private static func substring(_ values: [Value]) throws(EvaluationError) -> Value {
    let text = try StringOrBytes(values[0], "substring")
    let place = try values[1].integer(of: "substring")
    let length = values.count > 2 ? try values[2].integer(of: "substring") : .max
    guard length >= 0 else { throw EvaluationError("substring(): length must be non-negative.") }
    let count = Int64(text.length)
    let start = Int(place < 0 ? max(0, count + max(place, -count)) : min(place, count))
    return text.slice(start, Int(clamping: length))
  }

  private static func repetition(_ values: [Value]) throws(EvaluationError) -> Value {
    let text = try StringOrBytes(values[0], "string_repeat")
    let times = try values[1].integer(of: "string_repeat")
    guard times >= 0 else { throw EvaluationError("string_repeat() does not accept a negative number.") }
    let (size, isTooLarge) = text.bytes.count.multipliedReportingOverflow(by: Int(clamping: times))
    guard !isTooLarge, size <= PipelineLimits.valueBytes else { throw Evaluation.tooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    if size > 0 { for _ in 0..<times { bytes += text.bytes } }
    return text.with(bytes).value
  }

  private static func replacement(
    _ function: String, _ values: [Value], most: Int
  ) throws(EvaluationError) -> Value {
    var (text, part) = try pair(function, values)
    let (_, replacement) = try pair(function, [values[0], values[2]])
    if part.bytes.isEmpty { return text.value }
    let parts = ByteSearch(part.bytes).split(text.bytes, most: most)
    let (added, isTooLarge) = replacement.bytes.count.multipliedReportingOverflow(by: parts.count)
    guard !isTooLarge, added <= PipelineLimits.valueBytes else { throw Evaluation.tooLarge }
    text.bytes = Array(parts.joined(separator: replacement.bytes))
    return text.value
  }

  private static func split(_ values: [Value]) throws(EvaluationError) -> Value {
    let text = try StringOrBytes(values[0], "split")
    let separator = values.count > 1 ? try pair("split", values).1.bytes : [UInt8(ascii: ",")]
    if separator.isEmpty {
      if text.length > PipelineLimits.elements { throw Evaluation.tooLarge }
      return .array(text.units)
    }
    let parts = ByteSearch(separator).split(text.bytes, most: PipelineLimits.elements)
    if parts.count > PipelineLimits.elements { throw Evaluation.tooLarge }
    return .array(parts.map { text.with($0).value })
  }

  /// - Parameter values: the text, and the characters to remove; whitespace by default.
  private static func trimmed(
    _ function: String, _ values: [Value], _ atStart: Bool, _ atEnd: Bool
  ) throws(EvaluationError) -> Value {
    let text = try StringOrBytes(values[0], function)
    let characters = values.count > 1 ? try pair(function, values).1 : nil
    if case .string(let string) = text.value {
      let set = characters.map { Set($0.text.unicodeScalars) }
      let (first, last) = bounds(Array(string.unicodeScalars), atStart, atEnd) { scalar in
        set?.contains(scalar) ?? scalar.properties.isWhitespace
      }
      let scalars = Array(string.unicodeScalars)[first..<last]
      var result = String.UnicodeScalarView()
      result.append(contentsOf: scalars)
      return .string(String(result))
    }
    let set = characters.map { Set($0.bytes) }
    let (first, last) = bounds(text.bytes, atStart, atEnd) { set?.contains($0) ?? (9...13).contains($0) || $0 == 32 }
    return text.with(text.bytes[first..<last]).value
  }

  private static func bounds<Unit>(
    _ units: [Unit], _ atStart: Bool, _ atEnd: Bool, _ isTaken: (Unit) -> Bool
  ) -> (Int, Int) {
    var (first, last) = (0, units.count)
    while atStart, first < last, isTaken(units[first]) { first += 1 }
    while atEnd, last > first, isTaken(units[last - 1]) { last -= 1 }
    return (first, last)
  }
}

/// A text as UTF-8, or bytes. Functions that search for parts treat both in the same way.
struct StringOrBytes {
  var bytes: [UInt8]
  let isText: Bool

  init(_ value: Value, _ function: String) throws(EvaluationError) {
    switch value {
    case .string(let text): (bytes, isText) = (Array(text.utf8), true)
    case .bytes(let bytes): (self.bytes, isText) = (bytes, false)
    default: throw .type(function, "strings or bytes", value)
    }
  }

  /// A value of the same kind with other bytes. For a text, the bytes must form whole characters.
  func with(_ part: some Sequence<UInt8>) -> StringOrBytes {
    var copy = self
    copy.bytes = Array(part)
    return copy
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
  var value: Value { isText ? .string(text) : .bytes(bytes) }

  /// The length in characters (Unicode scalars), or bytes.
  var length: Int { isText ? bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } : bytes.count }

  /// The characters or bytes, each as a value.
  var units: [Value] {
    isText ? text.unicodeScalars.map { .string(String($0)) } : bytes.map { .bytes([$0]) }
  }

  var reversed: Value {
    guard isText else { return .bytes(bytes.reversed()) }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.reversed())
    return .string(String(scalars))
  }

  /// Up to `count` characters or bytes, beginning at a position.
  func slice(_ start: Int, _ count: Int) -> Value {
    guard isText else { return .bytes(Array(bytes.dropFirst(start).prefix(count))) }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.dropFirst(start).prefix(count))
    return .string(String(scalars))
  }
}

/// A pattern of `like`: `%` matches any text, `_` any character; a backslash escapes both.
struct LikePattern {
  private enum Step: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case any
  }

  /// The maximum number of steps in a pattern. Each character of a text may be compared with every step.
  private static let longest = 1_000

  private let steps: [Step]

  init(_ text: String) throws(EvaluationError) {
    var (steps, isEscaped) = ([Step](), false)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "%" where !isEscaped: if steps.last != .any { steps.append(.any) }
      case "_" where !isEscaped: steps.append(.one)
      default: steps.append(.scalar(scalar))
      }
      isEscaped = false
    }
    guard steps.count <= Self.longest else {
      throw EvaluationError("like() takes patterns of up to \(Self.longest) characters.")
    }
    self.steps = steps
  }

  /// Whether the whole text matches; also false once the caller has stopped waiting.
  func matches(_ text: String, _ work: PipelineWork) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (place, step) = (0, 0)
    // The position to retry from if the rest does not match. There, the latest `%` matches one more character.
    var retry: (place: Int, step: Int)?
    var comparisons = 0
    while place < scalars.count {
      comparisons += 1
      if comparisons % PipelineWork.stepBytes == 0, !work.goesOn() { return false }
      if step < steps.count, steps[step] == .any {
        retry = (place, step)
        step += 1
      } else if step < steps.count, steps[step] == .one || steps[step] == .scalar(scalars[place]) {
        place += 1
        step += 1
      } else if let (from, any) = retry {
        retry = (from + 1, any)
        (place, step) = (from + 1, any + 1)
      } else {
        return false
      }
    }
    return steps[step...].allSatisfy { $0 == .any }
  }
}

/// A search for bytes in bytes, in time linear in both (Knuth, Morris, Pratt, 1977).
struct ByteSearch {
  private let pattern: [UInt8]
  /// The length of the longest proper prefix that is also a suffix, for each prefix of the pattern. Indexed by the
  /// prefix's length minus one.
  private let borders: [Int]

  /// - Precondition: `pattern` is not empty.
  init(_ pattern: [UInt8]) {
    self.pattern = pattern
    var (borders, length) = ([0], 0)
    for byte in pattern.dropFirst() {
      while length > 0, byte != pattern[length] { length = borders[length - 1] }
      if byte == pattern[length] { length += 1 }
      borders.append(length)
    }
    self.borders = borders
  }

  /// The index of the first occurrence at or after a position.
  func first(in text: [UInt8], from start: Int = 0) -> Int? {
    var length = 0
    for index in start..<max(start, text.count) {
      while length > 0, text[index] != pattern[length] { length = borders[length - 1] }
      if text[index] == pattern[length] { length += 1 }
      if length == pattern.count { return index + 1 - length }
    }
    return nil
  }

  /// The parts of a text between the occurrences of the pattern, which do not overlap.
  /// - Parameter most: the maximum number of occurrences that split the text.
  func split(_ text: [UInt8], most: Int = .max) -> [ArraySlice<UInt8>] {
    var (parts, start) = ([ArraySlice<UInt8>](), 0)
    while parts.count < most, let found = first(in: text, from: start) {
      parts.append(text[start..<found])
      start = found + pattern.count
    }
    return parts + [text[start...]]
  }
}
