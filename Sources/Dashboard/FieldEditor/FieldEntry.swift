// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The value of one field being typed, with its type.
struct FieldEntry: Sendable {
  /// What a text comes to.
  enum Outcome: Equatable, Sendable {
    case value(Value)
    case transform(FieldTransform.Operation)
    case deletion
    case wrong(FieldTextError)
  }

  /// Longer texts are for an editor of texts.
  static let longest = 20_000

  let path: [String]
  private(set) var kind: FieldKind
  private(set) var outcome: Outcome
  /// The text as typed, whatever its type is.
  private(set) var text: TextField
  /// The text that it began with.
  private let original: String
  private let database: DatabaseID
  private let isInArray: Bool

  /// - Parameter isInArray: whether it is an element, which can be neither array nor vector and is not computed.
  init(_ path: [String], _ kind: FieldKind, text: String, isInArray: Bool, in database: DatabaseID) {
    self.path = path
    self.kind = kind
    self.text = TextField(text, longest: Self.longest, keepsLines: true)
    original = text
    self.isInArray = isInArray
    self.database = database
    outcome = .deletion
    read()
  }

  /// The line to type into; `nil` for a type that takes no text. The text is read with every change.
  var field: TextField? {
    get { kind.takesText ? text : nil }
    set {
      guard let newValue else { return }
      text = newValue
      read()
    }
  }

  /// Changes the type and keeps the text, except that what a field holds is not what a transform is given. Where there
  /// is none, the commonest of the type stands in.
  mutating func change(to new: FieldKind, now: Timestamp) {
    let isOther = kind.isTransform != new.isTransform && text.text.equalsUTF8(original)
    kind = new
    if text.isEmpty || isOther {
      let start =
        switch new {
        case .timestamp: now.rfc3339Text
        case .map: "{}"
        case .array, .arrayUnion, .arrayRemove: "[]"
        case .boolean: "false"
        case .increment: "1"
        default: ""
        }
      text = TextField(start, longest: Self.longest, keepsLines: true)
    }
    read()
  }

  /// Why it cannot be accepted, with the place.
  var problem: String? {
    if case .wrong(let error) = outcome { error.message(in: text.text) } else { nil }
  }

  private mutating func read() {
    do throws(FieldTextError) { outcome = try result() } catch { outcome = .wrong(error) }
  }

  private func result() throws(FieldTextError) -> Outcome {
    if isInArray, kind.isTransform { throw FieldTextError("the server computes fields, not elements of arrays") }
    if isInArray, kind == .array || kind == .vector {
      throw FieldTextError("an array must not contain \(kind == .array ? "an array" : "a vector")")
    }
    if kind == .delete { return .deletion }
    let value = try FieldText.value(text.text, kind, in: database)
    do throws(ModelError) { try value.validateForWrite(at: FieldPath(segments: path)) } catch {
      // The field is named where it is typed.
      let reason = error.message.ranges(of: " is invalid: ").first.map { String(error.message[$0.upperBound...]) }
      throw FieldTextError(reason ?? error.message)
    }
    switch kind {
    case .serverTimestamp: return .transform(.serverTimestamp)
    case .increment: return .transform(.increment(value))
    case .maximum: return .transform(.maximum(value))
    case .minimum: return .transform(.minimum(value))
    case .arrayUnion: return .transform(.arrayUnion(value.elements))
    case .arrayRemove: return .transform(.arrayRemove(value.elements))
    default: return .value(value)
    }
  }
}

extension Value {
  fileprivate var elements: [Value] { if case .array(let values) = self { values } else { [] } }
}

extension FieldTransform.Operation {
  /// The text of its operand.
  func operandText(in database: DatabaseID) -> String {
    switch self {
    case .serverTimestamp: ""
    case .increment(let value), .minimum(let value), .maximum(let value): FieldText.text(of: value, in: database)
    case .arrayUnion(let values), .arrayRemove(let values): FieldText.text(of: .array(values), in: database)
    }
  }
}
