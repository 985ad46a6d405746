// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

extension JSONSyntax {
  /// The indexes of a configuration, which may also be a string that holds one.
  func indexes() throws(JSONError) -> [FieldIndex] {
    guard case .object = kind else { return try JSONSyntax(parsing: try string()).indexes() }
    try only(["indexes", "fieldOverrides"])
    var indexes: [FieldIndex] = []
    for json in try member("indexes").elements() {
      try json.only(["collectionGroup", "queryScope", "fields"])
      var fields: [FieldIndex.Field] = []
      for field in try json.member("fields").elements() { fields.append(try field.configuredField()) }
      indexes.append(try json.index(try json.member("collectionGroup").string(), fields))
    }
    return indexes
  }

  private func configuredField() throws(JSONError) -> FieldIndex.Field {
    try only(["fieldPath", "order", "arrayConfig"])
    let path = FieldPath(segments: try member("fieldPath").string().split(separator: ".").map(String.init))
    if let array = self["arrayConfig"] {
      guard try array.string() == "CONTAINS" else { throw array.error("Unknown kind of array index.") }
      return FieldIndex.Field(path, .contains)
    }
    let order = try member("order")
    switch try order.string() {
    case "ASCENDING": return FieldIndex.Field(path, .ascending)
    case "DESCENDING": return FieldIndex.Field(path, .descending)
    case let other: throw order.error("Unknown order \"\(other)\".")
    }
  }

  /// An index as the reference's objects are written: what it is made of; how far it is, is not compared.
  func expectedIndex() throws(JSONError) -> FieldIndex {
    try only(["collectionGroup", "fields", "indexId", "indexState"])
    var fields: [FieldIndex.Field] = []
    for field in try member("fields").elements() {
      try field.only(["fieldPath", "kind"])
      let kind = try field.member("kind")
      let kinds: [FieldIndex.Kind] = [.ascending, .descending, .contains]
      let number = try kind.integer()
      guard kinds.indices.contains(number) else { throw kind.error("Unknown kind of index field.") }
      let path = FieldPath(segments: try field.member("fieldPath").member("segments").strings())
      fields.append(FieldIndex.Field(path, kinds[number]))
    }
    return try index(try member("collectionGroup").string(), fields)
  }

  private func index(_ group: String, _ fields: [FieldIndex.Field]) throws(JSONError) -> FieldIndex {
    do throws(ModelError) { return try FieldIndex(collectionGroup: group, fields: fields) } catch {
      throw self.error(error.message)
    }
  }
}
