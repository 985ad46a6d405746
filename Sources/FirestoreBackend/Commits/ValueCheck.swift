// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Checks one property's value, all the way down.
struct ValueCheck {
  /// The top-level field, which the error texts name.
  let property: String

  /// - Parameters:
  ///   - depth: 1 for the property itself; a map or array at depth 21 is too deep.
  ///   - inArray: the value is an element, which must be neither an array nor a vector.
  func check(_ value: Value, depth: Int, inArray: Bool) throws(BackendError) {
    switch value {
    case .array, .map, .vector: if depth > WriteLimit.depth { throw nested }
    default: break
    }
    switch value {
    case .null, .boolean, .integer, .double, .reference: break
    case .timestamp(let time): if !time.isValid { throw WriteValidation.refused(time.objection) }
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
      if elements.count > WriteLimit.vectorDimensions {
        throw WriteValidation.refused("Vectors must be at most \(WriteLimit.vectorDimensions) dimensions.")
      }
    case .map(let fields):
      try checkVector(fields)
      try checkRegularExpression(fields)
      for entry in fields.entries {
        if entry.name.isEmpty { throw nested }
        try WriteValidation.checkLength(ofName: entry.name)
        if entry.name.isReservedName, fields.count > 1 || !Self.typedMapNames.contains(entry.name) {
          throw WriteValidation.refused("field name '\(entry.name)' is reserved.")
        }
        try check(entry.value, depth: depth + 1, inArray: false)
      }
    }
  }

  /// A map that calls itself a vector but is none.
  private func checkVector(_ fields: Fields) throws(BackendError) {
    guard case .string(let type)? = fields["__type__"] else { return }
    if type != "__vector__" { throw nested }
    if fields.count > 2 { throw WriteValidation.refused("Vector Value map has extraneous entries.") }
    throw WriteValidation.refused("Vector must only contain values of type 'double'")
  }

  /// The only keys of the maps that stand for BSON types, which newer clients write.
  private static let typedMapNames = [
    "__min__", "__max__", "__int__", "__decimal128__", "__oid__", "__binary__", "__request_timestamp__", "__regex__",
  ]

  /// The map that stands for a BSON regular expression, which newer clients write.
  private func checkRegularExpression(_ fields: Fields) throws(BackendError) {
    guard fields.count == 1, case .map(let expression)? = fields["__regex__"],
      case .string(let options)? = expression["options"]
    else { return }
    if let option = options.first(where: { !"imsux".contains($0) }) {
      throw WriteValidation.refused("Invalid regex option '\(option)'. The options are i, m, s, u and x.")
    }
  }

  private var nested: BackendError {
    WriteValidation.refused("Property \(property) contains an invalid nested entity.")
  }

  private func checkSize(_ count: Int) throws(BackendError) {
    if count > WriteLimit.valueBytes {
      throw WriteValidation.refused(
        "The value of property \"\(property)\" is longer than \(WriteLimit.valueBytes) bytes.")
    }
  }

  private func checkDegrees(_ name: String, _ value: Double, limit: Double) throws(BackendError) {
    if value >= -limit, value <= limit { return }
    throw WriteValidation.refused(
      "Geo point \(name) '\(value)' outside permitted range -\(limit) to \(limit).")
  }
}
