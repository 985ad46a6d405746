// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Checks one property's value, all the way down.
struct ValueCheck {
  /// The top-level field, which the error texts name.
  let property: String

  /// - Parameters:
  ///   - depth: 1 for the property itself; a value at depth 21 is too deep.
  ///   - inArray: the value is an element, which must be neither an array nor a vector.
  func check(_ value: Value, depth: Int, inArray: Bool) throws(BackendError) {
    if depth > 20 { throw nested }
    switch value {
    case .null, .boolean, .integer, .double, .timestamp, .reference: break
    case .serverTimestamp:
      throw WriteValidation.refused("Cannot convert firestore.v1.Value with type unset.")
    case .string(let text): try checkSize(text.utf8.count)
    case .bytes(let bytes): try checkSize(bytes.count)
    case .geoPoint(let point):
      try checkDegrees("latitude", point.latitude, limit: 90)
      try checkDegrees("longitude", point.longitude, limit: 180)
    case .array(let elements):
      if inArray { throw WriteValidation.refused("Cannot convert an array value in an array value.") }
      for element in elements { try check(element, depth: depth + 1, inArray: true) }
    case .vector(let elements):
      if inArray { throw WriteValidation.refused("Cannot convert a vector value in an array value.") }
      if elements.isEmpty { throw WriteValidation.refused("Cannot have a zero length vector.") }
      if elements.count > 2048 { throw WriteValidation.refused("Vectors must be at most 2048 dimensions.") }
    case .map(let fields):
      for entry in fields.entries {
        if entry.name.isEmpty { throw nested }
        if entry.name.utf8.count > 1500 {
          throw WriteValidation.refused("The property.name is longer than 1500 bytes.")
        }
        try check(entry.value, depth: depth + 1, inArray: false)
      }
    }
  }

  private var nested: BackendError {
    WriteValidation.refused("Property \(property) contains an invalid nested entity.")
  }

  private func checkSize(_ count: Int) throws(BackendError) {
    if count > 1_048_487 {
      throw WriteValidation.refused("The value of property \"\(property)\" is longer than 1048487 bytes.")
    }
  }

  private func checkDegrees(_ name: String, _ value: Double, limit: Double) throws(BackendError) {
    if value >= -limit, value <= limit { return }
    throw WriteValidation.refused(
      "Geo point \(name) '\(value)' outside permitted range -\(limit) to \(limit).")
  }
}
