// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

/// The database of all files.
let specDatabase = DatabaseID(project: "projectID")

extension DocumentKey {
  /// `projects/projectID/databases/(default)/documents/…`
  init(specName json: JSONSyntax?) throws {
    let prefix = specDatabase.documentsName + "/"
    let name = try #require(json?.string)
    try #require(name.hasPrefix(prefix))
    self = try #require(DocumentKey(String(name.dropFirst(prefix.count))))
  }
}

extension SnapshotVersion {
  init(spec json: JSONSyntax?) throws {
    let text = try #require(json?.string)
    self.init(try #require(Timestamp(rfc3339: text)))
  }
}

extension Value {
  /// `google.firestore.v1.Value`, as far as the files use it.
  init(spec json: JSONSyntax) throws {
    let member = try #require(json.members?.first)
    switch member.name {
    case "nullValue": self = .null
    case "booleanValue": self = .boolean(try #require(member.value.boolean as Bool?))
    case "integerValue": self = .integer(try #require(member.value.integer))
    case "doubleValue": self = .double(try #require(member.value.double))
    case "stringValue": self = .string(try #require(member.value.string))
    case "referenceValue": self = .reference(specDatabase, try DocumentKey(specName: member.value))
    case "arrayValue": self = .array(try member.value.list("values").map(Value.init(spec:)))
    case "mapValue": self = .map(try Fields(spec: member.value["fields"]))
    default: throw json.error("a value of type \(member.name)")
    }
  }
}

extension Fields {
  init(spec json: JSONSyntax?) throws {
    self.init(try (json?.members ?? []).map { ($0.name, try Value(spec: $0.value)) })
  }
}

extension Document {
  /// `google.firestore.v1.Document`
  init(spec json: JSONSyntax) throws {
    self.init(
      key: try DocumentKey(specName: json["name"]), version: try SnapshotVersion(spec: json["updateTime"]),
      createTime: try SnapshotVersion(spec: json["createTime"]),
      state: .found(DocumentData(try Fields(spec: json["fields"]))))
  }
}

// MARK: Writes

extension Mutation {
  /// `google.firestore.v1.Write`
  init(spec json: JSONSyntax) throws {
    var precondition = Precondition.none
    if let exists = json["currentDocument"]?["exists"]?.boolean { precondition = .exists(exists) }
    if let time = json["currentDocument"]?["updateTime"] { precondition = .updateTime(try SnapshotVersion(spec: time)) }
    if let name = json["delete"] {
      self.init(key: try DocumentKey(specName: name), operation: .delete, precondition: precondition)
      return
    }
    let update = try #require(json["update"])
    let fields = try Fields(spec: update["fields"])
    let mask = try json["updateMask"].map { mask in
      FieldMask(try mask.list("fieldPaths").map { try FieldPath(spec: $0) })
    }
    self.init(
      key: try DocumentKey(specName: update["name"]), operation: mask.map { .patch(fields, $0) } ?? .set(fields),
      precondition: precondition, transforms: try json.list("updateTransforms").map(FieldTransform.init(spec:)))
  }
}

extension FieldTransform {
  /// `google.firestore.v1.DocumentTransform.FieldTransform`
  init(spec json: JSONSyntax) throws {
    let path = try FieldPath(spec: json["fieldPath"])
    if let union = json["appendMissingElements"] {
      self.init(path: path, operation: .arrayUnion(try union.list("values").map(Value.init(spec:))))
    } else if let removal = json["removeAllFromArray"] {
      self.init(path: path, operation: .arrayRemove(try removal.list("values").map(Value.init(spec:))))
    } else {
      try #require(json["setToServerValue"]?.string == "REQUEST_TIME")
      self.init(path: path, operation: .serverTimestamp)
    }
  }
}

extension FieldPath {
  /// The wire's text, which must be the one that Hearth would write.
  fileprivate init(spec json: JSONSyntax?) throws {
    let text = try #require(json?.string)
    self = try FieldPath(wireText: text)
    try #require(canonicalText == text)
  }
}

// MARK: Queries

extension Query {
  /// `google.firestore.v1.StructuredQuery`; an `offset`, which mobile clients do not have, is left out.
  init(spec json: JSONSyntax) throws {
    let collection = try #require(json.list("from").first?["collectionId"]?.string)
    self.init(path: ResourcePath(collection))
    filters = try json["where"].map { [try Filter(spec: $0)] } ?? []
    explicitOrderBy = try json.list("orderBy").map { order in
      let direction = try #require(order["direction"]?.string)
      return OrderBy(
        try FieldPath(spec: order["field"]?["fieldPath"]), direction == "DESCENDING" ? .descending : .ascending)
    }
    limit = json["limit"]?.integer.map { Int($0) }
    start = try json["startAt"].map { cursor in
      Bound(values: try cursor.list("values").map(Value.init(spec:)), isInclusive: cursor["before"]?.boolean ?? false)
    }
    end = try json["endAt"].map { cursor in
      Bound(
        values: try cursor.list("values").map(Value.init(spec:)), isInclusive: !(cursor["before"]?.boolean ?? false))
    }
  }
}

extension Filter {
  private static let operators: [String: FieldFilter.Operator] = [
    "LESS_THAN": .lessThan, "LESS_THAN_OR_EQUAL": .lessThanOrEqual, "GREATER_THAN": .greaterThan,
    "GREATER_THAN_OR_EQUAL": .greaterThanOrEqual, "EQUAL": .equal,
  ]

  fileprivate init(spec json: JSONSyntax) throws {
    if let unary = json["unaryFilter"] {
      let path = try FieldPath(spec: unary["field"]?["fieldPath"])
      let isNaN = try #require(unary["op"]?.string) == "IS_NAN"
      self = .field(FieldFilter(path, .equal, isNaN ? .double(.nan) : .null))
    } else {
      let filter = try #require(json["fieldFilter"])
      let op = try #require(Self.operators[filter["op"]?.string ?? ""])
      let value = try Value(spec: try #require(filter["value"]))
      self = .field(FieldFilter(try FieldPath(spec: filter["field"]?["fieldPath"]), op, value))
    }
  }
}
