// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// An index of several fields that a project has or should have, with all that Google's tools say of it.
package struct DeployedIndex: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var path: String
    /// The member beside `fieldPath` on one line: `order`, `arrayConfig` or `vectorConfig` with its value.
    package var mode: String
  }

  package var collectionGroup: String
  /// `COLLECTION` or `COLLECTION_GROUP`.
  package var scope: String
  /// The fields without the name, with which every index ends in the direction of its last field.
  package var fields: [Field]

  /// Reads a `google.firestore.admin.v1.Index`, whose name has the collection.
  /// - Returns: `nil` for JSON that is none.
  init?(_ json: JSONSyntax) {
    guard let group = json.text("name").flatMap({ Self.collection(in: $0) }), let list = json["fields"]?.elements else {
      return nil
    }
    collectionGroup = group
    scope = json.text("queryScope") ?? "COLLECTION"
    fields = []
    for entry in list {
      guard let path = entry.text("fieldPath"), let mode = Self.mode(of: entry) else { return nil }
      fields.append(Field(path: path, mode: mode))
    }
    let end = fields.dropLast().last?.mode
    if fields.count > 1, fields.last?.path == "__name__",
      fields.last?.mode == (end == Self.descending ? end : Self.ascending)
    {
      fields.removeLast()
    }
  }

  static let ascending = #""order": "ASCENDING""#
  static let descending = #""order": "DESCENDING""#

  /// `nil` for a field without one.
  static func mode(of entry: JSONSyntax) -> String? {
    for name in ["order", "arrayConfig", "vectorConfig"] {
      if let value = entry[name] { return "\"\(name)\": \(value.lineText)" }
    }
    return nil
  }

  /// The collection in `projects/P/databases/D/collectionGroups/C/…`.
  static func collection(in name: String) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count > 5 && parts[4] == "collectionGroups" ? String(parts[5]) : nil
  }

  /// The entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    "{\"collectionGroup\": \(quoted(collectionGroup)), \"queryScope\": \"\(scope)\", \"fields\": [\(fieldList)]}"
  }

  private var fieldList: String {
    fields.map { "{\"fieldPath\": \(quoted($0.path)), \($0.mode)}" }.joined(separator: ", ")
  }
}

func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }

extension JSONSyntax {
  var elements: [JSONSyntax]? { if case .array(let elements) = kind { elements } else { nil } }
  func text(_ member: String) -> String? { if case .string(let text)? = self[member]?.kind { text } else { nil } }
}
