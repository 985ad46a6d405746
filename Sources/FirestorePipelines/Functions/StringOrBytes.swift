// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A text as UTF-8, or bytes: functions that look for parts treat them alike.
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

  /// The same kind with other bytes; of a text these are whole characters.
  func with(_ part: some Sequence<UInt8>) -> StringOrBytes {
    var copy = self
    copy.bytes = Array(part)
    return copy
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
  var value: Value { isText ? .string(text) : .bytes(bytes) }

  /// In characters (Unicode scalars), or bytes.
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

  /// So many characters or bytes from a place on, as far as there are some.
  func slice(_ start: Int, _ count: Int) -> Value {
    guard isText else { return .bytes(Array(bytes.dropFirst(start).prefix(count))) }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.dropFirst(start).prefix(count))
    return .string(String(scalars))
  }
}

/// A pattern of `like`: `%` stands for any text, `_` for any character, a backslash takes that from them.
struct LikePattern {
  private enum Step: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case any
  }

  /// Each character of a text is compared with as many steps at most.
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

  /// Whether the whole text matches; not once nobody waits for it.
  func matches(_ text: String, _ work: PipelineWork) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (place, step) = (0, 0)
    // Where to go on if the rest does not match: at the latest `%`, which takes one more.
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
