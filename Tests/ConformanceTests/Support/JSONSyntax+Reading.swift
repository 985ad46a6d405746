// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

extension JSONSyntax {
  var boolean: Bool? {
    if case .boolean(let value) = kind { value } else { nil }
  }

  var integer: Int64? {
    switch kind {
    case .integer(let value): value
    case .string(let text): Int64(text)  // proto3 JSON writes 64-bit integers as strings
    default: nil
    }
  }

  var double: Double? {
    switch kind {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  var string: String? {
    if case .string(let value) = kind { value } else { nil }
  }

  var elements: [JSONSyntax]? {
    if case .array(let values) = kind { values } else { nil }
  }

  var members: [Member]? {
    if case .object(let members) = kind { members } else { nil }
  }

  /// The elements of a list; an absent list is an empty one.
  func list(_ name: String) -> [JSONSyntax] { self[name]?.elements ?? [] }
}
