// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What writes do to fields, told from the reference (PROTOCOL §3.2, SEMANTICS §1e) in the plainest way. Shares nothing
/// with the product but the values and their names.
enum ModelFields {
  /// Who computes: the two differ in how they compare numbers, and in what a server timestamp is.
  enum Side {
    /// - Parameter time: what all server timestamps of the commit become.
    case backend(time: Timestamp)
    /// - Parameter before: the document before the mutation, whose value a server timestamp remembers.
    case client(writtenAt: Timestamp, before: Fields?)
  }

  // MARK: Paths

  static func value(_ fields: Fields, _ path: ArraySlice<String>) -> Value? {
    guard let name = path.first, let value = fields[name] else { return nil }
    if path.count == 1 { return value }
    guard case .map(let inner) = value else { return nil }
    return self.value(inner, path.dropFirst())
  }

  /// Maps on the way are made, and take the place of what is none.
  static func setting(_ value: Value, _ path: ArraySlice<String>, in fields: Fields) -> Fields {
    guard let name = path.first else { return fields }
    var result = fields
    if path.count == 1 {
      result[name] = value
    } else if case .map(let inner)? = fields[name] {
      result[name] = .map(setting(value, path.dropFirst(), in: inner))
    } else {
      result[name] = .map(setting(value, path.dropFirst(), in: Fields()))
    }
    return result
  }

  /// A path through something that is no map names nothing.
  static func removing(_ path: ArraySlice<String>, from fields: Fields) -> Fields {
    guard let name = path.first else { return fields }
    var result = fields
    if path.count == 1 {
      result[name] = nil
    } else if case .map(let inner)? = fields[name] {
      result[name] = .map(removing(path.dropFirst(), from: inner))
    }
    return result
  }

  // MARK: Mutations

  /// The masked paths as `new` has them; those it does not have are deleted.
  static func patched(_ old: Fields, with new: Fields, at mask: FieldMask) -> Fields {
    var result = old
    for path in mask.paths {
      let segments = path.segments[...]
      if let value = value(new, segments) {
        result = setting(value, segments, in: result)
      } else {
        result = removing(segments, from: result)
      }
    }
    return result
  }

  /// Applies transforms in order, each to what the ones before have left.
  /// - Returns: the fields, and what the backend answers for each transform.
  static func transformed(
    _ fields: Fields, by transforms: [FieldTransform], on side: Side
  ) -> (fields: Fields, answers: [Value]) {
    var (result, answers) = (fields, [Value]())
    for transform in transforms {
      let path = transform.path.segments[...]
      let old = value(result, path)
      let new: Value
      switch transform.operation {
      case .serverTimestamp: new = serverTimestamp(path, side)
      case .increment(let operand): new = ModelNumbers.sum(old, operand)
      case .minimum(let operand): new = ModelNumbers.extreme(old, operand, prefersLess: true)
      case .maximum(let operand): new = ModelNumbers.extreme(old, operand, prefersLess: false)
      case .arrayUnion(let elements):
        new = .array(elements.reduce(into: self.elements(old)) { if !contains($0, $1, side) { $0.append($1) } })
      case .arrayRemove(let elements):
        new = .array(self.elements(old).filter { !contains(elements, $0, side) })
      }
      result = setting(new, path, in: result)
      switch transform.operation {
      case .arrayUnion, .arrayRemove: answers.append(.null)
      default: answers.append(new)
      }
    }
    return (result, answers)
  }

  private static func serverTimestamp(_ path: ArraySlice<String>, _ side: Side) -> Value {
    switch side {
    case .backend(let time): return .timestamp(time)
    case .client(let time, let before):
      var previous = before.flatMap { value($0, path) }
      if case .serverTimestamp(let unresolved)? = previous { previous = unresolved.previous }
      return .serverTimestamp(ServerTimestamp(localWriteTime: time, previous: previous))
    }
  }

  private static func elements(_ value: Value?) -> [Value] {
    if case .array(let elements)? = value { elements } else { [] }
  }

  private static func contains(_ elements: [Value], _ value: Value, _ side: Side) -> Bool {
    elements.contains { element in
      switch side {
      case .backend: ModelNumbers.areNumericallyEqual(element, value)
      case .client: element == value
      }
    }
  }
}
