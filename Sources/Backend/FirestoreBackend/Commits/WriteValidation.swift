// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Checks the limits of names, values and documents, with the real backend's error texts (PROTOCOL §3.2, §3.10). All
/// errors are `invalid-argument`.
enum WriteValidation {
  static func check(_ mutation: Mutation) throws(StoreError) {
    try checkName(mutation.key)
    switch mutation.operation {
    case .set(let fields): try checkFields(fields)
    case .patch(let fields, let mask):
      try checkFields(fields)
      for path in mask.paths { try checkPath(path) }
    case .delete:
      if !mutation.transforms.isEmpty { throw refused("a delete must not have transforms.") }
    case .verify:
      if mutation.precondition == .none { throw refused("a verify must contain a precondition") }
    }
    for transform in mutation.transforms {
      try checkPath(transform.path)
      if transform.path.isDocumentID { throw refused("Invalid reserved name in field path __name__") }
      switch transform.operation {
      case .arrayUnion(let values), .arrayRemove(let values):
        for value in values { try ValueCheck(property: transform.path.first).check(value, depth: 2, inArray: true) }
      default: break
      }
    }
  }

  private static func checkName(_ key: DocumentKey) throws(StoreError) {
    if isPlain(key.path) { return }
    let segments = key.path.segments
    if segments.count > 2 * ResourcePath.collectionDepthLimit {
      throw refused("Document name \"\(key)\" is deeper than \(ResourcePath.collectionDepthLimit) collections.")
    }
    if key.path.text.utf8.count > ResourcePath.pathByteLimit {
      throw refused("The document name is longer than \(ResourcePath.pathByteLimit) bytes.")
    }
    for (index, segment) in segments.enumerated() {
      let kind = index.isMultiple(of: 2) ? "Collection" : "Resource"
      if segment.isEmpty {
        throw refused("Document name \"\(key)\" lacks a \(kind.lowercased()) id at index \(index).")
      }
      if segment == "." || segment == ".." {
        throw refused("Document name \"\(key)\" contains a \(kind.lowercased()) id \"\(segment)\" at index \(index).")
      }
      if segment.utf8.count > ResourcePath.segmentByteLimit {
        throw refused("The key path element name is longer than \(ResourcePath.segmentByteLimit) bytes.")
      }
      if segment.isReservedName, kind != "Resource" || !String(segment).isNumericID {
        throw refused("\(kind) id \"\(segment)\" is invalid because it is reserved.")
      }
    }
  }

  /// Whether a quick scan of a path's bytes shows that the path is valid. Most paths pass this scan.
  private static func isPlain(_ path: ResourcePath) -> Bool {
    let bytes = path.text.utf8
    guard bytes.count <= ResourcePath.segmentByteLimit else { return false }
    var (separators, isFirst) = (0, true)
    for byte in bytes {
      if isFirst, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") { return false }
      isFirst = byte == UInt8(ascii: "/")
      if isFirst { separators += 1 }
    }
    return !isFirst && separators < 2 * ResourcePath.collectionDepthLimit
  }

  private static func checkPath(_ path: FieldPath) throws(StoreError) {
    if path.isDocumentID { return }
    for segment in path.segments {
      if segment.isEmpty { throw refused("Invalid empty property path string.") }
      if segment.isReservedName { throw refused("Invalid reserved name in field path \(segment)") }
      try checkLength(ofName: segment)
    }
  }

  private static func checkFields(_ fields: Fields) throws(StoreError) {
    if fields.arePlain { return }
    for entry in fields.entries {
      if entry.name.isEmpty { throw refused("The property.name is the empty string.") }
      if entry.name.isReservedName { throw refused("field name \(entry.name) is reserved") }
      try checkLength(ofName: entry.name)
      try ValueCheck(property: entry.name).check(entry.value, depth: 1, inArray: false)
    }
  }

  static func checkLength(ofName name: String) throws(StoreError) {
    if name.utf8.count > FieldPath.byteLimit {
      throw refused("The property.name is longer than \(FieldPath.byteLimit) bytes.")
    }
  }

  static func refused(_ message: String) -> StoreError { .refused(.invalidArgument, message) }
}

extension WriteValidation {
  /// - Parameter fields: the decoded form of `encoded`, read only if the encoding is large enough to matter.
  static func checkSize(
    of key: DocumentKey, _ encoded: EncodedFields, _ fields: Fields, in database: DatabaseID
  ) throws(StoreError) {
    guard encoded.bytes.count > EncodedFields.uncountedBytes else { return }
    let size = key.byteSize + fields.byteSize + 32
    guard size > WriteLimit.documentBytes else { return }
    throw refused(
      "Document '\(database.name(of: key))' cannot be written because its size (\(size) bytes) exceeds the maximum "
        + "allowed size of 1,048,576 bytes.")
  }
}

/// Checks one property's value recursively.
struct ValueCheck {
  /// The top-level field, which the error texts name.
  let property: String

  /// - Parameters:
  ///   - depth: 1 for the property itself; a map or array at depth 21 is too deep.
  ///   - inArray: whether the value is an array element, which must be neither an array nor a vector.
  func check(_ value: Value, depth: Int, inArray: Bool) throws(StoreError) {
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

  /// Rejects a map that has the type entry of a vector but is not a valid vector.
  private func checkVector(_ fields: Fields) throws(StoreError) {
    guard case .string(let type)? = fields["__type__"] else { return }
    if type != "__vector__" { throw nested }
    if fields.count > 2 { throw WriteValidation.refused("Vector Value map has extraneous entries.") }
    throw WriteValidation.refused("Vector must only contain values of type 'double'")
  }

  /// The keys of the single-entry maps that represent BSON types in newer clients.
  private static let typedMapNames = [
    "__min__", "__max__", "__int__", "__decimal128__", "__oid__", "__binary__", "__request_timestamp__", "__regex__",
  ]

  /// Checks the map with which newer clients represent a BSON regular expression.
  private func checkRegularExpression(_ fields: Fields) throws(StoreError) {
    guard fields.count == 1, case .map(let expression)? = fields["__regex__"],
      case .string(let options)? = expression["options"]
    else { return }
    if let option = options.first(where: { !"imsux".contains($0) }) {
      throw WriteValidation.refused("Invalid regex option '\(option)'. The options are i, m, s, u and x.")
    }
  }

  private var nested: StoreError {
    WriteValidation.refused("Property \(property) contains an invalid nested entity.")
  }

  private func checkSize(_ count: Int) throws(StoreError) {
    if count > WriteLimit.valueBytes {
      throw WriteValidation.refused(
        "The value of property \"\(property)\" is longer than \(WriteLimit.valueBytes) bytes.")
    }
  }

  private func checkDegrees(_ name: String, _ value: Double, limit: Double) throws(StoreError) {
    if value >= -limit, value <= limit { return }
    throw WriteValidation.refused(
      "Geo point \(name) '\(value)' outside permitted range -\(limit) to \(limit).")
  }
}

/// Rejects writes of one commit that contradict each other regardless of the stored data, as Google's emulator does.
/// After a write that stores a document, the commit cannot create the document. After a deletion, the commit cannot
/// update or delete the document with the precondition that the document exists.
enum WriteSequence {
  /// The kind of a write. The raw values are the service's words in error messages.
  private enum Kind: String {
    case upsert, insert, update, delete

    /// - Returns: `nil` for a mutation that writes no document.
    init?(_ mutation: Mutation) {
      switch (mutation.operation, mutation.precondition) {
      case (.verify, _): return nil
      case (.delete, _): self = .delete
      case (_, .none): self = .upsert
      case (_, .exists(false)): self = .insert
      case (_, .exists(true)), (_, .updateTime): self = .update
      }
    }

    func excludes(_ next: Kind, _ precondition: Precondition) -> Bool {
      switch (self, next) {
      case (.upsert, .insert), (.insert, .insert), (.update, .insert): true
      case (.delete, .update), (.delete, .delete): precondition == .exists(true)
      default: false
      }
    }
  }

  /// - Throws: `refused` for the first write that cannot follow the previous write to its document.
  static func check(_ mutations: [Mutation]) throws(StoreError) {
    if mutations.count < 2 || mutations.allSatisfy({ Kind($0) == .upsert }) { return }
    var latest: [DocumentKey: Kind] = [:]
    for mutation in mutations {
      guard let kind = Kind(mutation) else { continue }
      if let before = latest.updateValue(kind, forKey: mutation.key), before.excludes(kind, mutation.precondition) {
        throw .refused(
          .invalidArgument,
          "Cannot \(before.rawValue) then \(kind.rawValue) an entity in the same request.")
      }
    }
  }
}
