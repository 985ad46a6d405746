// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension RequestField {
  /// A field path in wire text.
  mutating func fieldPath() throws(RPCStatus) -> FieldPath? {
    guard let text = try string() else { return nil }
    return try FieldPath(request: text)
  }

  /// A `FieldReference`.
  mutating func fieldReference() throws(RPCStatus) -> FieldPath? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      try inner.fields { number, field throws(RPCStatus) in
        if number == 2 { path = try field.fieldPath() ?? path }
      }
      return try FieldPath(required: path)
    }
  }

  /// A `DocumentMask`, whose order matters to nobody.
  mutating func mask() throws(RPCStatus) -> FieldMask? {
    try message { inner throws(RPCStatus) in
      var paths: [FieldPath] = []
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1, let path = try field.fieldPath() { paths.append(path) }
      }
      return FieldMask(paths)
    }
  }
}

extension FieldPath {
  init(required path: FieldPath?) throws(RPCStatus) {
    if let path { self = path } else { try self.init(request: "") }
  }

  /// - Throws: `invalid-argument` in the words of the real service.
  init(request text: String) throws(RPCStatus) {
    if text.isEmpty { throw RPCStatus(.invalidArgument, "Invalid empty property path string.") }
    do throws(ModelError) { self = try FieldPath(wireText: text) } catch {
      if let path = try? FieldPath(canonicalText: text), let name = path.segments.first(where: \.isReservedName) {
        throw RPCStatus(.invalidArgument, "Invalid reserved name in field path \(name)")
      }
      throw RPCStatus(
        .invalidArgument,
        "Invalid property path \"\(text)\". Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), and "
          + "quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)")
    }
  }
}
