// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
import Synchronization

/// Hides values while JSON forms are written. Only the types and lengths of hidden values remain visible.
package struct Redaction: Sendable {
  /// The fields to hide, at any depth; `*` for all.
  package let names: [String]
  /// Whether document ids are replaced. Within a file, the same id always has the same replacement.
  package let hidesIDs: Bool
  private let wanted: Set<String>
  /// Collects the names of the fields that redaction found and hid.
  package let account = RedactionSummary()
  /// Random bits that are mixed into the replacements of ids. Without them, a reader of the file could find an id by
  /// trying candidates.
  private let salt = UInt64.random(in: .min ... .max)

  /// - Parameter text: names separated by commas, or `all`.
  package init(_ text: String, hidesIDs: Bool = false) {
    let listed = text.split(separator: ",").map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    names = listed.contains("all") || listed.contains("*") ? ["*"] : listed
    wanted = Set(names)
    self.hidesIDs = hidesIDs
  }

  package var isAll: Bool { wanted.contains("*") }

  // MARK: Values

  package func fields(_ fields: Fields) -> Fields {
    Fields(
      sorted: fields.entries.map { entry in
        let isHidden = hides(entry.name)
        account.meet(entry.name, isHidden: isHidden)
        return (entry.name, isHidden ? hidden(entry.value) : value(entry.value))
      }
    )
  }

  /// A copy of the value without its hidden parts.
  package func value(_ value: Value) -> Value {
    switch value {
    case .map(let inner): .map(fields(inner))
    case .array(let values): .array(values.map(self.value))
    case .reference(let database, let key): .reference(database, self.key(key))
    case .serverTimestamp(let time):
      .serverTimestamp(ServerTimestamp(localWriteTime: time.localWriteTime, previous: time.previous.map(self.value)))
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .geoPoint, .vector: value
    }
  }

  /// A copy of the value without its hidden parts, for a value at this path.
  package func value(_ value: Value, at path: FieldPath) -> Value {
    let isHidden = hides(path)
    account.meet(path.segments.joined(separator: "."), isHidden: isHidden)
    if isHidden { for name in path.segments { account.meet(name, isHidden: true) } }
    return isHidden ? hidden(value) : self.value(value)
  }

  /// The text that replaces a value.
  package func hidden(_ value: Value) -> Value { .string("‹\(Self.name(of: value))›") }

  package func hidden(_ text: String, _ what: String) -> String { text.isEmpty ? text : "‹\(what) \(text.count)›" }

  /// The redacted form of a message. A message can quote any value.
  package func text(_ text: String) -> String { isAll ? hidden(text, "message") : text }

  private static func name(of value: Value) -> String {
    switch value {
    case .null: "null"
    case .boolean: "boolean"
    case .integer: "integer"
    case .double: "double"
    case .timestamp, .serverTimestamp: "timestamp"
    case .string(let text): "string \(text.count)"
    case .bytes(let bytes): "bytes \(bytes.count)"
    case .reference: "reference"
    case .geoPoint: "geo point"
    case .array(let values): "array \(values.count)"
    case .vector(let elements): "vector \(elements.count)"
    case .map(let fields): "map \(fields.count)"
    }
  }

  private func hides(_ name: String) -> Bool { isAll || wanted.contains(name) }

  package func hides(_ path: FieldPath) -> Bool {
    !path.isDocumentID
      && (isAll || path.segments.contains(where: hides) || wanted.contains(path.segments.joined(separator: ".")))
  }

  // MARK: Names

  package func key(_ key: DocumentKey) -> DocumentKey { DocumentKey(unchecked: path(key.path)) }

  package func path(_ path: ResourcePath) -> ResourcePath {
    guard hidesIDs else { return path }
    return ResourcePath(
      segments: path.segments.enumerated().map { $0.isMultiple(of: 2) ? String($1) : id(String($1)) })
  }

  private func id(_ id: String) -> String {
    // FNV-1a over the salt and the name.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in withUnsafeBytes(of: salt, Array.init) + Array(id.utf8) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let text = String(hash, radix: 36)
    return "id" + String(repeating: "0", count: max(0, 13 - text.count)) + text
  }
}

// MARK: - Documents, writes and queries

extension Redaction {
  package func document(_ document: Document) -> Document {
    var document = document
    document.key = key(document.key)
    if case .found(let data) = document.state { document.state = .found(DocumentData(fields(data.fields))) }
    return document
  }

  package func mutation(_ mutation: Mutation) -> Mutation {
    var mutation = mutation
    mutation.key = key(mutation.key)
    switch mutation.operation {
    case .set(let contents): mutation.operation = .set(fields(contents))
    case .patch(let contents, let mask):
      var redacted = fields(contents)
      for path in mask.paths where hides(path) {
        account.meet(path.segments.joined(separator: "."), isHidden: true)
        if let value = contents[path] { redacted[path] = hidden(value) }
      }
      mutation.operation = .patch(redacted, mask)
    case .delete, .verify: break
    }
    mutation.transforms = mutation.transforms.map { transform in
      FieldTransform(path: transform.path, operation: operation(transform.operation, at: transform.path))
    }
    return mutation
  }

  private func operation(
    _ operation: FieldTransform.Operation, at path: FieldPath
  ) -> FieldTransform.Operation {
    switch operation {
    case .serverTimestamp: .serverTimestamp
    case .increment(let operand): .increment(value(operand, at: path))
    case .minimum(let operand): .minimum(value(operand, at: path))
    case .maximum(let operand): .maximum(value(operand, at: path))
    case .arrayUnion(let values): .arrayUnion(values.map { value($0, at: path) })
    case .arrayRemove(let values): .arrayRemove(values.map { value($0, at: path) })
    }
  }

  /// A copy of a value without the hidden parts. Writes the value as JSON with redaction, and reads the result.
  package func redacted<V: JSONFormed>(_ value: V) throws(JSONError) -> V {
    try V(json: value.json(JSONContext(redaction: self)), JSONContext())
  }
}

/// Collects the names of all fields that redaction found, and the names of the fields whose values it hid.
package final class RedactionSummary: Sendable {
  private let names = Mutex((met: Set<String>(), hidden: Set<String>()))

  package func meet(_ name: String, isHidden: Bool) {
    names.withLock { names in
      names.met.insert(name)
      if isHidden { names.hidden.insert(name) }
    }
  }

  /// The names that redaction found (`met`), and the names whose values it hid.
  package var found: (met: Set<String>, hidden: Set<String>) { names.withLock { $0 } }
}
