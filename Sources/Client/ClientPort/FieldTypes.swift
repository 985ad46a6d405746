// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
import FirestoreQuery

/// The field types of a collection's documents, and the documents that have a rare type in one of their fields.
package struct FieldTypes: Sendable {
  package struct Kind: Hashable, Sendable {
    package fileprivate(set) var count = 0
    /// The first documents that have the type.
    package fileprivate(set) var examples: [DocumentKey] = []
  }

  package struct Field: Hashable, Sendable {
    /// The number of documents that have the field.
    package fileprivate(set) var present = 0
    /// The field's types, keyed by name. An element of an array is counted under a name such as `array of string`.
    package fileprivate(set) var kinds: [String: Kind] = [:]

    /// The types, in descending order of frequency.
    package var ranked: [(name: String, kind: Kind)] {
      kinds.map { ($0.key, $0.value) }.sorted { ($1.kind.count, $0.name) < ($0.kind.count, $1.name) }
    }
  }

  /// A value whose type is rare for its field.
  package struct Outlier: Hashable, Sendable {
    package var key: DocumentKey
    package var path: FieldPath
    package var type: String
    /// The type that the field has in nearly all other documents.
    package var usual: String
  }

  private static let mostFields = 256
  fileprivate static let mostExamples = 3
  /// The threshold for outliers: a type is rare if at most one in this many documents has it.
  private static let rareness = 50

  package private(set) var documents = 0
  package private(set) var fields: [FieldPath: Field] = [:]
  /// Whether some fields were not counted.
  package private(set) var hasMoreFields = false

  package init() {}

  package mutating func add(_ document: Document) {
    guard let data = document.data else { return }
    documents += 1
    Self.visit(data.fields) { path, value in
      if fields[path] == nil, fields.count >= Self.mostFields {
        hasMoreFields = true
        return
      }
      fields[path, default: Field()].add(Self.type(of: value), of: document.key)
    }
  }

  private static func visit(_ map: Fields, below parent: FieldPath? = nil, _ body: (FieldPath, Value) -> Void) {
    for (name, value) in map.entries {
      let path = parent?.appending(name) ?? FieldPath(name)
      body(path, value)
      if case .map(let inner) = value { visit(inner, below: path, body) }
    }
  }

  private static func type(of value: Value) -> String {
    guard case .array(let elements) = value else { return value.typeName }
    let types = Set(elements.map(\.typeName))
    switch types.count {
    case 0: return "empty array"
    case 1: return "array of \(types.first ?? "")"
    default: return "array of several types"
    }
  }

  /// The values in the document whose types are rare for their fields.
  package func outliers(in document: Document) -> [Outlier] {
    var outliers: [Outlier] = []
    Self.visit(document.data?.fields ?? Fields()) { path, value in
      let type = Self.type(of: value)
      guard let field = fields[path], let usual = field.ranked.first?.name, usual != type,
        Self.isRare(field.kinds[type]?.count ?? 0, of: field.present)
      else { return }
      outliers.append(Outlier(key: document.key, path: path, type: type, usual: usual))
    }
    return outliers
  }

  /// Whether a type is rare if `count` of `all` documents have it. If there are only one or two documents, no type is
  /// rare.
  package static func isRare(_ count: Int, of all: Int) -> Bool { all > 2 && count <= max(1, all / rareness) }
}

extension FieldTypes: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var types = FieldTypes()
    types.documents = try form("documents", it?.documents)
    types.hasMoreFields = try form("moreFields", it?.hasMoreFields)
    let fields = it.map { $0.fields.sorted { $0.key < $1.key }.map { FormField(path: $0.key, field: $0.value) } }
    types.fields = Dictionary(try form("fields", fields).map { ($0.path, $0.field) }, uniquingKeysWith: { $1 })
    return types
  }

  private struct FormField: JSONRecord {
    var path: FieldPath
    var field: Field

    static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
      let path: FieldPath = try form("field", it?.path)
      var field = Field()
      field.present = try form("present", it?.field.present)
      let kinds = it.map { $0.field.ranked.map { FormKind(name: $0.name, kind: $0.kind) } }
      field.kinds = Dictionary(try form("types", kinds).map { ($0.name, $0.kind) }, uniquingKeysWith: { $1 })
      return FormField(path: path, field: field)
    }
  }

  private struct FormKind: JSONRecord {
    var name: String
    var kind: Kind

    static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
      let name = try form.word("type", it?.name)
      var kind = Kind()
      kind.count = try form("count", it?.kind.count)
      kind.examples = try form("examples", it?.kind.examples)
      return FormKind(name: name, kind: kind)
    }
  }
}

extension FieldTypes.Field {
  fileprivate mutating func add(_ type: String, of key: DocumentKey) {
    present += 1
    kinds[type, default: FieldTypes.Kind()].count += 1
    if kinds[type, default: FieldTypes.Kind()].examples.count < FieldTypes.mostExamples {
      kinds[type]?.examples.append(key)
    }
  }
}

/// The types of a collection's fields.
