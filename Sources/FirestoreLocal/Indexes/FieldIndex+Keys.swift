// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension FieldIndex {
  /// Longer keys are cut. Cut keys are still in order, though not strictly: what ties may differ.
  static let keyLimit = 500

  /// The keys of a document's entries: none if a field is absent, several where an array is searched.
  /// - Parameter code: working space.
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
