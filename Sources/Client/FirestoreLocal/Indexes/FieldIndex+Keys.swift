// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

extension FieldIndex {
  /// The maximum length of a key in bytes. Longer keys are truncated. Truncation preserves the order of values, but
  /// different values may have equal keys.
  static let keyLimit = 500

  /// The keys of a document's entries in the index. There are none if a field is absent, and several if a field is an
  /// array.
  /// - Parameter code: a buffer for the calculation.
  func keys(of document: EncodedFieldsView, _ code: inout OrderedCode) -> [[UInt8]] {
    if let array = fields.firstIndex(where: { $0.kind == .contains }) {
      return keys(of: document, elementsAt: array, &code)
    }
    code.cut(to: 0)
    for field in fields {
      guard let value = document.find(field.path) else { return [] }
      code.isDescending = field.kind == .descending
      guard code.append(value) else { return [] }
    }
    code.cut(to: Self.keyLimit)
    return [code.bytes]
  }

  private func keys(
    of document: EncodedFieldsView, elementsAt array: Int, _ code: inout OrderedCode
  ) -> [[UInt8]] {
    guard case .array(let elements)? = document[fields[array].path], !elements.isEmpty else { return [] }
    var keys: Set<[UInt8]> = []
    for element in elements {
      code.cut(to: 0)
      for (index, field) in fields.enumerated() {
        code.isDescending = field.kind == .descending
        if index == array {
          code.append(element)
        } else {
          guard let value = document.find(field.path), code.append(value) else { return [] }
        }
      }
      code.cut(to: Self.keyLimit)
      keys.insert(code.bytes)
    }
    return Array(keys)
  }
}

// MARK: Stored form

extension FieldIndex {
  var encoded: [UInt8] {
    let list = fields.map { field -> Value in
      let segments = field.path.segments.map { Value.string($0) }
      return .map(["path": .array(segments), "kind": .string(field.kind.rawValue)])
    }
    return EncodedFields(["group": .string(collectionGroup), "fields": .array(list)]).bytes
  }

  /// - Returns: `nil` if the bytes are not a valid definition.
  init?(encoded bytes: [UInt8]) {
    guard let content = try? EncodedFields(validating: bytes).decoded(), case .string(let group)? = content["group"],
      case .array(let list)? = content["fields"]
    else { return nil }
    var fields: [Field] = []
    for case .map(let field) in list {
      guard case .array(let segments)? = field["path"], case .string(let name)? = field["kind"],
        let kind = Kind(rawValue: name)
      else { return nil }
      let names = segments.compactMap { if case .string(let name) = $0 { name } else { nil } }
      if names.isEmpty || names.count != segments.count { return nil }
      fields.append(Field(FieldPath(segments: names), kind))
    }
    guard fields.count == list.count else { return nil }
    // The row's checksum also detects damage that results in a valid but different definition.
    try? self.init(collectionGroup: group, fields: fields)
  }
}
