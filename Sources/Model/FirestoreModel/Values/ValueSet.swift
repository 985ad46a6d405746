// SPDX-License-Identifier: Apache-2.0

/// A set of values by the equality of array transforms, looked up without comparing each with each.
struct ValueSet {
  /// The equality of values.
  enum Equality {
    /// The client's equality.
    case strict
    /// The backend's equality: numbers by value, at any depth (PROTOCOL §3.2).
    case numeric
  }

  private enum Content {
    case strict(Set<Value>)
    /// The values as bytes that are equal if the values tie in the total order.
    case numeric(Set<[UInt8]>)
  }

  private var content: Content

  init(_ values: [Value] = [], _ equality: Equality) {
    content =
      switch equality {
      case .strict: .strict(Set(values))
      case .numeric: .numeric(Set(values.map(Self.key)))
      }
  }

  func contains(_ value: Value) -> Bool {
    switch content {
    case .strict(let values): values.contains(value)
    case .numeric(let keys): keys.contains(Self.key(value))
    }
  }

  /// Adds a value.
  /// - Returns: whether the value was not in the set yet.
  mutating func insert(_ value: Value) -> Bool {
    switch content {
    case .strict(var values):
      content = .numeric([])
      defer { content = .strict(values) }
      return values.insert(value).inserted
    case .numeric(var keys):
      content = .strict([])
      defer { content = .numeric(keys) }
      return keys.insert(Self.key(value)).inserted
    }
  }

  private static func key(_ value: Value) -> [UInt8] {
    var code = OrderedCode()
    code.append(value)
    return code.bytes
  }
}

extension FieldTransform.Operation {
  /// The elements, and the operands that are not among them, each once.
  static func union(_ elements: [Value], _ operands: [Value], _ equality: ValueSet.Equality) -> [Value] {
    var present = ValueSet(elements, equality)
    return elements + operands.filter { present.insert($0) }
  }

  /// The elements that are none of the operands.
  static func difference(_ elements: [Value], _ operands: [Value], _ equality: ValueSet.Equality) -> [Value] {
    let unwanted = ValueSet(operands, equality)
    return elements.filter { !unwanted.contains($0) }
  }
}
