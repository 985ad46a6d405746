// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
import FirestoreModel

extension IndexConfigurationReader {
  /// The indexes that a project has by its configuration, with their scopes; those for vectors are passed over.
  /// - Throws: as `read`.
  package static func composites(_ json: String) throws(FirestoreError) -> [CompositeIndex] {
    // Whatever is wrong is told by it.
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
  /// - Parameters:
  ///   - owner: names the collection.
  ///   - scope: says for which queries it is.
  ///   - path: that of its one field, if the field does not say it.
  fileprivate init?(of owner: JSONSyntax, fields: [JSONSyntax], _ scope: JSONSyntax, path: String? = nil) {
    guard let group = (owner["collectionGroup"] ?? owner["collectionId"])?.text else { return nil }
    var own: [Field] = []
    for field in fields {
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
