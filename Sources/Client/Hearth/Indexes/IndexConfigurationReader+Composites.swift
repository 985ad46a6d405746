// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
import FirestoreModel

extension IndexConfigurationReader {
  /// The indexes of a project by its configuration, with their scopes; indexes for vectors are passed over.
  /// - Throws: the errors of `read`.
  package static func composites(_ json: String) throws(FirestoreError) -> [CompositeIndex] {
    // `read` reports all mistakes.
    _ = try read(json)
    guard let root = try? JSONSyntax(parsing: json) else { return [] }
    let indexes = root["indexes"]?.elements ?? []
    let overrides = (root["fieldOverrides"]?.elements ?? []).flatMap { override in
      (override["indexes"]?.elements ?? []).map { (override, $0) }
    }
    return indexes.compactMap { CompositeIndex(of: $0, fields: $0["fields"]?.elements ?? [], $0) }
      + overrides.compactMap { override, index in
        CompositeIndex(of: override, fields: [index], index, path: override["fieldPath"]?.text)
      }
  }
}

extension CompositeIndex {
  /// Reads one index; `nil` for an index for vectors, and for an entry that is not of the format.
  /// - Parameters:
  ///   - owner: the object that names the collection.
  ///   - scope: the object that names the scope.
  ///   - path: the path of the only field, if the field does not name it.
  fileprivate init?(of owner: JSONSyntax, fields: [JSONSyntax], _ scope: JSONSyntax, path: String? = nil) {
    guard let group = (owner["collectionGroup"] ?? owner["collectionId"])?.text else { return nil }
    var own: [Field] = []
    for field in fields {
      // An index of a field whose name is no path serves no query.
      guard field["vectorConfig"] == nil, let name = field["fieldPath"]?.text ?? path,
        let path = try? FirestoreModel.FieldPath(validating: name)
      else { return nil }
      // Every index ends with the name.
      if path.isDocumentID { continue }
      let kind: FieldIndex.Kind =
        field["arrayConfig"] != nil ? .contains : field["order"]?.text == "DESCENDING" ? .descending : .ascending
      own.append(Field(path: path, kind: kind))
    }
    self.init(collectionID: group, isGroup: scope["queryScope"]?.text == "COLLECTION_GROUP", fields: own)
  }
}

extension JSONSyntax {
  fileprivate var elements: [JSONSyntax] { if case .array(let elements) = kind { elements } else { [] } }
  fileprivate var text: String? { if case .string(let text) = kind { text } else { nil } }
}
