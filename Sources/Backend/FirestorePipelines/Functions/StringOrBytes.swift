// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A text as UTF-8, or bytes: functions that search for parts treat both alike.
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

  /// A value of the same kind with other bytes, which for a text are whole characters.
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

  /// A number of characters or bytes from a place on, as far as there are any.
  func slice(_ start: Int, _ count: Int) -> Value {
    guard isText else { return .bytes(Array(bytes.dropFirst(start).prefix(count))) }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.dropFirst(start).prefix(count))
    return .string(String(scalars))
  }
}

/// A pattern of `like`: `%` stands for any text, `_` for any character; after a backslash both stand for themselves.
struct LikePattern {
  private enum Step: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case any
  }

  /// The largest number of steps in a pattern; each character of a text is compared with at most as many.
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

  /// Whether the whole text matches; false once no caller waits for the result any more.
  func matches(_ text: String, _ work: PipelineWork) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (place, step) = (0, 0)
    // The place to go on from if the rest does not match: the latest `%`, which then takes one character more.
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
