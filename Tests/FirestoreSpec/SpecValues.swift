// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// The database that bloom filters and bundles in the spec data name.
package let specDatabase = DatabaseID(project: "test-project")

/// A document as the spec data writes it.
package struct SpecDocument: Hashable, Sendable {
  package var key: DocumentKey
  /// Microseconds; 0 for a document that is only known from local writes.
  package var version: Int
  /// `nil` for a document known not to exist.
  package var fields: Fields?
  package var hasLocalMutations = false
  package var hasCommittedMutations = false

  init(_ json: JSONSyntax) throws(JSONError) {
    try json.only(["key", "version", "createTime", "value", "options"])
    key = try json.member("key").documentKey()
    version = try json.member("version").integer()
    let value = try json.member("value")
    fields = value.isNull ? nil : try value.fields()
    if let options = json["options"] {
      try options.only(["hasLocalMutations", "hasCommittedMutations"])
      hasLocalMutations = try options.member("hasLocalMutations").boolean()
      hasCommittedMutations = try options.member("hasCommittedMutations").boolean()
    }
  }

  init(_ document: Document) {
    key = document.key
    version = Int(document.version?.microseconds ?? 0)
    fields = document.data?.fields
    hasLocalMutations = document.hasLocalMutations
    hasCommittedMutations = document.hasCommittedMutations
  }

  /// The document as the backend sends it.
  var asReceived: Document {
    Document(
      key: key, version: SnapshotVersion(microseconds: Int64(version)),
      state: fields.map { .found(DocumentData($0)) } ?? .missing)
  }
}

extension SpecDocument: CustomStringConvertible {
  package var description: String {
    let flags = (hasLocalMutations ? " local" : "") + (hasCommittedMutations ? " committed" : "")
    let text = fields.map { DocumentJSON.line(of: $0) } ?? "deleted"
    return "\(key)@\(version)\(flags) \(text)"
  }
}

extension JSONSyntax {
  func documentKey() throws(JSONError) -> DocumentKey {
    guard let key = DocumentKey(try string()) else { throw error("Expected the path of a document.") }
    return key
  }

  func targetID() throws(JSONError) -> TargetID {
    guard let id = Int32(exactly: try integer()) else { throw error("A target id has 32 bits.") }
    return TargetID(id)
  }

  func targetIDs() throws(JSONError) -> [TargetID] {
    var ids: [TargetID] = []
    for element in try elements() { ids.append(try element.targetID()) }
    return ids
  }

  func value() throws(JSONError) -> Value {
    switch kind {
    case .null: return .null
    case .boolean(let boolean): return .boolean(boolean)
    case .integer(let integer): return .integer(integer)
    case .double(let double): return .double(double)
    case .string(let string): return .string(string)
    case .array(let elements):
      var values: [Value] = []
      for element in elements { values.append(try element.value()) }
      return .array(values)
    case .object: return .map(try fields())
    }
  }

  func fields() throws(JSONError) -> Fields {
    var fields = Fields()
    for member in try members() { fields[member.name] = try member.value.value() }
    return fields
  }

  /// The mutation of a `userPatch`: dotted paths, `"<DELETE>"` deletes.
  func patch() throws(JSONError) -> Mutation.Operation {
    var fields = Fields()
    var paths: [FieldPath] = []
    for member in try members() {
      let path = FieldPath(segments: member.name.split(separator: ".").map(String.init))
      paths.append(path)
      if case .string("<DELETE>") = member.value.kind { continue }
      fields[path] = try member.value.value()
    }
    return .patch(fields, FieldMask(paths))
  }

  func query() throws(JSONError) -> Query {
    if case .string(let path) = kind { return Query(path: ResourcePath(path)) }
    try only(["path", "collectionGroup", "filters", "orderBys", "limit", "limitType"])
    var query = Query(path: ResourcePath(try member("path").string()))
    query.collectionGroup = try self["collectionGroup"]?.string()
    if let type = self["limitType"], self["limit"] == nil { throw type.error("A limit type needs a limit.") }
    if let limit = self["limit"] {
      query.limit = try limit.integer()
      let type = try member("limitType")
      switch try type.string() {
      case "LimitToFirst": query.limitType = .first
      case "LimitToLast": query.limitType = .last
      case let other: throw type.error("Unknown limit type \"\(other)\".")
      }
    }
    for filter in try member("filters").elements() {
      let parts = try filter.elements()
      guard parts.count == 3, let op = FieldFilter.Operator(rawValue: try parts[1].string()) else {
        throw filter.error("Expected a field path, an operator and a value.")
      }
      query.filters.append(.field(FieldFilter(try parts[0].fieldPath(), op, try parts[2].value())))
    }
    for order in try member("orderBys").elements() {
      let (path, direction) = try order.pair()
      switch try direction.string() {
      case "asc": query.explicitOrderBy.append(OrderBy(try path.fieldPath(), .ascending))
      case "desc": query.explicitOrderBy.append(OrderBy(try path.fieldPath(), .descending))
      case let other: throw direction.error("Unknown direction \"\(other)\".")
      }
    }
    return query
  }

  private func fieldPath() throws(JSONError) -> FieldPath {
    FieldPath(segments: try string().split(separator: ".").map(String.init))
  }

  func status() throws(JSONError) -> RPCStatus {
    try only(["code", "message"])
    guard let code = StatusCode(rawValue: try member("code").integer()) else { throw error("Unknown status code.") }
    return RPCStatus(code, try self["message"]?.string() ?? "from the spec")
  }

  func token() throws(JSONError) -> ResumeToken? { ResumeToken(Array(try string().utf8)) }

  func version() throws(JSONError) -> SnapshotVersion { SnapshotVersion(microseconds: Int64(try integer())) }

  /// - Returns: `nil` for a bitmap that is not base64: such a filter counts as absent.
  func bloomFilter() throws(JSONError) -> BloomFilterBits? {
    try only(["bits", "hashCount"])
    let bits = try member("bits")
    try bits.only(["bitmap", "padding"])
    guard let bitmap = Data(base64Encoded: try bits["bitmap"]?.string() ?? "") else { return nil }
    return BloomFilterBits(
      bitmap: Array(bitmap), padding: try bits["padding"]?.integer() ?? 0,
      hashCount: try self["hashCount"]?.integer() ?? 0)
  }
}
