// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Value {
  /// The role in which a value of this type is drawn.
  package var role: Role {
    switch self {
    case .null: .jsonNull
    case .boolean: .jsonBool
    case .integer, .double, .geoPoint, .vector: .jsonNumber
    case .timestamp: .jsonTime
    case .serverTimestamp: .flagPending
    case .string: .jsonString
    case .bytes: .textMuted
    case .reference: .jsonRef
    case .array, .map: .jsonPunct
    }
  }
}
