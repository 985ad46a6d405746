// SPDX-License-Identifier: Apache-2.0

/// Firestore's limits for a write (PROTOCOL §3.2 and §3.10).
package enum WriteLimit {
  /// The maximum nesting depth of maps and arrays.
  package static let depth = 20
  /// The maximum size in bytes of a string, of a byte string, or of a whole field.
  package static let valueBytes = 1_048_487
  /// The maximum size of a document in bytes, calculated as Firestore does.
  package static let documentBytes = 1_048_576
  package static let vectorDimensions = 2048
  /// The maximum number of transforms in one write. If a commit writes a document several times, Firestore adds up the
  /// transforms.
  package static let transforms = 500
}

extension Fields {
  /// Checks user data as the backend does: names, nesting, ranges and sizes.
  /// - Throws: `invalid-argument`, with the field and the reason.
  package func validateForWrite() throws(ModelError) {
    try validate(in: nil, depth: 0)
  }

  fileprivate func validate(in parent: FieldPath?, depth: Int) throws(ModelError) {
    for (name, value) in entries {
      if name.isEmpty { throw ModelError("A field's name is empty\(parent.map { " in \($0.shortText)" } ?? "").") }
      let reason = Self.objection(to: name)
      // Skips the check of plain short values, so that no path is created for them.
      if reason == nil, value.isPlainAndShort { continue }
      let path = parent?.appending(name) ?? FieldPath(name)
      if let reason { throw ModelError("The field \(path.shortText) is invalid: \(reason)") }
      try value.validate(at: path, depth: depth, isInArray: false)
    }
  }

  /// The reason why a text is not a valid field name; `nil` if it is valid.
  package static func objection(to name: String) -> String? {
    if name.isEmpty { return "its name is empty." }
    if name.isReservedName { return "names of the form __x__ are reserved." }
    if name.utf8.count > FieldPath.byteLimit { return "its name is longer than \(FieldPath.byteLimit) bytes." }
    return nil
  }
}

extension Value {
  /// Checks one value that will be stored at `path`, as `Fields.validateForWrite` does.
  package func validateForWrite(at path: FieldPath) throws(ModelError) {
    try validate(at: path, depth: 0, isInArray: false)
  }

  /// Whether the value is valid at any position in a document.
  fileprivate var isPlainAndShort: Bool {
    switch self {
    case .null, .boolean, .integer, .double: true
    case .string(let text): text.utf8.count <= WriteLimit.valueBytes
    default: false
    }
  }

  /// Checks one value.
  /// - Parameter depth: the number of enclosing maps and arrays.
  fileprivate func validate(at path: FieldPath, depth: Int, isInArray: Bool) throws(ModelError) {
    func fail(_ reason: String) -> ModelError { ModelError("The field \(path.shortText) is invalid: \(reason)") }

    switch self {
    case .null, .boolean, .integer, .double: break
    case .timestamp(let time):
      guard time.isValid else { throw fail("its timestamp is outside the years 1 to 9999.") }
    case .serverTimestamp: throw fail("a server timestamp is a transform, not a value to store.")
    case .string(let text):
      if text.utf8.count > WriteLimit.valueBytes { throw fail("it is longer than \(WriteLimit.valueBytes) bytes.") }
    case .bytes(let bytes):
      if bytes.count > WriteLimit.valueBytes { throw fail("it is longer than \(WriteLimit.valueBytes) bytes.") }
    case .reference(let database, let key):
      if database.project.isEmpty || database.database.isEmpty { throw fail("its reference names no database.") }
      do throws(ModelError) { _ = try ResourcePath(validating: key.path.text) } catch { throw fail(error.message) }
    case .geoPoint(let point):
      guard -90...90 ~= point.latitude else {
        throw fail("its latitude \(point.latitude) is outside of -90 to 90 degrees.")
      }
      guard -180...180 ~= point.longitude else {
        throw fail("its longitude \(point.longitude) is outside of -180 to 180 degrees.")
      }
    case .array(let values):
      if isInArray { throw fail("an array must not contain an array.") }
      if depth >= WriteLimit.depth { throw fail("it is nested more than \(WriteLimit.depth) levels deep.") }
      for value in values { try value.validate(at: path, depth: depth + 1, isInArray: true) }
    case .vector(let elements):
      if isInArray { throw fail("an array must not contain a vector.") }
      if elements.isEmpty { throw fail("a vector must not be empty.") }
      if elements.count > WriteLimit.vectorDimensions {
        throw fail("a vector must not have more than \(WriteLimit.vectorDimensions) dimensions.")
      }
    case .map(let fields):
      if depth >= WriteLimit.depth { throw fail("it is nested more than \(WriteLimit.depth) levels deep.") }
      try fields.validate(in: path, depth: depth + 1)
    }
  }
}

extension Mutation {
  /// Checks the parts of the write that do not depend on the stored document: its path, fields, mask and transforms. If
  /// the write contains the whole document, also checks the document's size.
  /// - Throws: `invalid-argument` with the reason.
  package func validateForWrite() throws(ModelError) {
    _ = try ResourcePath(validating: key.path.text)
    switch operation {
    case .set(let fields): try validate(fields)
    case .patch(let fields, let mask):
      try validate(fields)
      for path in mask.paths { try validate(path) }
    case .delete, .verify: break
    }
    if transforms.count > WriteLimit.transforms {
      throw ModelError("A write to \(key) has \(transforms.count) transforms; \(WriteLimit.transforms) are allowed.")
    }
    for transform in transforms {
      try validate(transform.path)
      try transform.validateOperands()
    }
  }

  private func validate(_ fields: Fields) throws(ModelError) {
    try fields.validateForWrite()
    try Document(key: key, version: nil, state: .found(DocumentData(fields))).validateSize()
  }

  private func validate(_ path: FieldPath) throws(ModelError) {
    if path.isDocumentID {
      throw ModelError("The field path __name__ names the document itself; it cannot be written.")
    }
    if let reason = path.objection { throw ModelError("The field path \(path.shortText) is invalid: \(reason)") }
  }
}

extension FieldTransform {
  fileprivate func validateOperands() throws(ModelError) {
    switch operation {
    case .serverTimestamp: break
    case .increment(let operand), .minimum(let operand), .maximum(let operand):
      guard operand.isNumber else {
        throw ModelError("The transform of the field \(path.shortText) needs an integer or a double.")
      }
    case .arrayUnion(let operands), .arrayRemove(let operands):
      try Value.array(operands).validateForWrite(at: path)
    }
  }
}

extension Document {
  /// Checks that a document does not exceed the size limit.
  /// - Throws: `invalid-argument` if the document exceeds 1 MiB, calculated as Firestore does.
  package func validateSize() throws(ModelError) {
    let size = byteSize
    if size > WriteLimit.documentBytes {
      throw ModelError(
        "The document \(key) cannot be written because its size (\(size) bytes) exceeds the maximum of "
          + "\(WriteLimit.documentBytes) bytes.")
    }
  }
}

extension FieldPath {
  /// The path for error messages. It is truncated, so that an error about a long name remains readable.
  fileprivate var shortText: String {
    let text = canonicalText
    return text.utf8.count <= 120 ? "\"\(text)\"" : "\"\(text.prefix(100))…\""
  }
}

extension Mutation {
  /// Checks that all references refer to documents in the given database.
  /// - Throws: `invalid-argument` if a reference is to another database, because clients cannot read documents through
  ///   such a reference.
  package func checkReferences(stayIn database: DatabaseID) throws(ModelError) {
    switch operation {
    case .set(let fields), .patch(let fields, _):
      for entry in fields.entries { try entry.value.checkReferences(stayIn: database, at: entry.name) }
    case .delete, .verify: break
    }
  }
}

extension Value {
  fileprivate func checkReferences(stayIn database: DatabaseID, at name: String) throws(ModelError) {
    switch self {
    case .reference(let other, _) where other != database:
      throw ModelError(
        .invalidArgument,
        "The reference in field \(name) points into database \(other.name), but the document is in \(database.name).")
    case .array(let values): for value in values { try value.checkReferences(stayIn: database, at: name) }
    case .map(let fields):
      for entry in fields.entries { try entry.value.checkReferences(stayIn: database, at: name + "." + entry.name) }
    default: break
    }
  }
}
