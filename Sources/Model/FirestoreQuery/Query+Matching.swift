// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Query {
  /// Whether the document belongs to the result, ignoring the limit. Checks the path, the filters, the ordering fields
  /// and the cursors. Each call computes the implied orderings again. To check many documents, store the query's
  /// `target` and call `matches` on it.
  package func matches(_ document: Document, by rules: ComparisonRules = .client) -> Bool {
    containsPath(of: document.key) && target.matches(document, by: rules)
  }

  /// Whether the key is in the query's collection or collection group, or is the query's document.
  package func containsPath(of key: DocumentKey) -> Bool {
    key.lies(in: path, collectionGroup: collectionGroup)
  }
}

extension Target {
  /// Whether the document belongs to the result, ignoring the limit. Encoded documents are not decoded.
  package func matches(_ document: Document, by rules: ComparisonRules = .client) -> Bool {
    guard let data = document.data, containsPath(of: document.key) else { return false }
    switch data.storage {
    case .decoded(let fields): return matches(.decoded(fields), of: document.key, rules)
    case .encoded(let bytes): return bytes.withView { matches(.encoded($0), of: document.key, rules) }
    }
  }

  /// Whether the document with this key and these fields belongs to the result, ignoring the limit. The fields are not
  /// copied or decoded.
  package func matches(
    _ fields: EncodedFieldsView, of key: DocumentKey, by rules: ComparisonRules = .client
  ) -> Bool {
    containsPath(of: key) && matches(.encoded(fields), of: key, rules)
  }

  /// Whether a document's content matches. The caller must have checked that the document is in the target's collection
  /// or group. Only conditions on `__name__` use the key.
  package func matchesContent(_ fields: EncodedFieldsView, of key: DocumentKey) -> Bool {
    matches(.encoded(fields), of: key, .client)
  }

  /// Whether an existing document's content matches. The caller must have checked that the document is in the target's
  /// collection or group.
  package func matchesContent(_ document: Document, by rules: ComparisonRules) -> Bool {
    guard let data = document.data else { return false }
    switch data.storage {
    case .decoded(let fields): return matches(.decoded(fields), of: document.key, rules)
    case .encoded(let bytes): return bytes.withView { matches(.encoded($0), of: document.key, rules) }
    }
  }

  private func matches(_ fields: StoredFields, of key: DocumentKey, _ rules: ComparisonRules) -> Bool {
    filters.allSatisfy { $0.matches(fields, of: key, rules) }
      && orderBy.allSatisfy { $0.path.isDocumentID || fields.find($0.path) != nil }
      && (start.map { $0.admitsFollowing(fields, of: key, orderBy, rules) } ?? true)
      && (end.map { $0.admitsPreceding(fields, of: key, orderBy, rules) } ?? true)
  }

  /// Whether the key is in the target's collection or collection group, or is the target's document.
  package func containsPath(of key: DocumentKey) -> Bool {
    key.lies(in: path, collectionGroup: collectionGroup)
  }
}

extension DocumentKey {
  /// Whether the key is `path` itself, is directly in the collection `path`, or is in a collection of the group below
  /// `path`.
  fileprivate func lies(in path: ResourcePath, collectionGroup: String?) -> Bool {
    if let collectionGroup { return self.path.isInCollection(withID: collectionGroup) && path.isPrefix(of: self.path) }
    return self.path == path || path.isParent(of: self.path)
  }
}

/// A document's fields for matching: decoded, or encoded and read without copying.
enum StoredFields {
  case decoded(Fields)
  case encoded(EncodedFieldsView)

  /// The value at a path; `nil` if the field is absent.
  func find(_ path: FieldPath) -> StoredValue? {
    switch self {
    case .decoded(let fields): fields[path].map { .decoded($0) }
    case .encoded(let view): view.find(path).map { .encoded($0) }
    }
  }
}

/// The value of a field: decoded, or encoded and read without copying.
enum StoredValue {
  case decoded(Value)
  case encoded(EncodedValueView)

  /// The rank of the value's type; `nil` if the value cannot be read.
  var typeRank: Int? {
    switch self {
    case .decoded(let value): value.typeRank
    case .encoded(let view): view.typeRank
    }
  }

  var isNull: Bool { typeRank == Value.null.typeRank }

  var isNaN: Bool {
    switch self {
    case .decoded(let value): value == .double(.nan)
    case .encoded(let view): view.isNaN
    }
  }

  func compare(_ other: Value, _ numericIDs: NumericIDOrder) -> Ordering? {
    switch self {
    case .decoded(let value): value.compare(other, numericIDs)
    case .encoded(let view): view.compare(with: other, numericIDs)
    }
  }

  /// The decoded value; null if the value cannot be read.
  var decoded: Value {
    switch self {
    case .decoded(let value): value
    case .encoded(let view): view.decoded() ?? .null
    }
  }
}
