// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Foundation
import Hearth
import Testing

/// `jsonData` and `jsonValue` of the files, as a caller of the public API would write them.
enum UserData {
  static func dictionary(_ text: String?) throws -> [String: Any] {
    try #require(value(text) as? [String: Any])
  }

  static func value(_ text: String?) throws -> Any {
    any(try JSONSyntax(parsing: try #require(text)))
  }

  /// A filter's operand, in which "NaN" is the number.
  static func operand(_ text: String?) throws -> Any {
    let value = try value(text)
    return value as? String == "NaN" ? Double.nan : value
  }

  private static func any(_ json: JSONSyntax) -> Any {
    switch json.kind {
    case .null: return NSNull()
    case .boolean(let value): return value
    case .integer(let value): return value
    case .double(let value): return value
    case .string("Delete"): return FieldValue.delete()
    case .string("ServerTimestamp"): return FieldValue.serverTimestamp()
    case .string(let value): return value
    case .array(let elements):
      switch elements.first?.string {
      case "ArrayUnion": return FieldValue.arrayUnion(elements.dropFirst().map(any))
      case "ArrayRemove": return FieldValue.arrayRemove(elements.dropFirst().map(any))
      default: return elements.map(any)
      }
    case .object(let members):
      return Dictionary(uniqueKeysWithValues: members.map { ($0.name, any($0.value)) })
    }
  }
}

extension FieldPath {
  /// `{"field": ["a", "b"]}`
  init(spec json: JSONSyntax?) throws {
    self.init(try #require(json).list("field").map { try #require($0.string) })
  }
}
