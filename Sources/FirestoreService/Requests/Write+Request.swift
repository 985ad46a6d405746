// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A message that names its database, or is in one that does.
extension RequestField {
  /// A `Write` (PROTOCOL §3.2).
  /// - Parameter database: that of the request; a write to another one is refused.
  mutating func write(in database: DatabaseID) throws(RPCStatus) -> Mutation? {
    try message { inner throws(RPCStatus) in
      var draft = WriteDraft()
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: if let document = try field.document() { draft.target = .update(document) }
        case 2: if let name = try field.string() { draft.target = .delete(name) }
        case 3: draft.mask = try field.mask() ?? draft.mask
        case 4: draft.precondition = try field.precondition() ?? draft.precondition
        case 5: if let name = try field.string() { draft.target = .verify(name) }
        case 6: if let transform = try field.documentTransform() { draft.target = .transform(transform) }
        case 7: if let transform = try field.fieldTransform() { draft.transforms.append(transform) }
        default: break
        }
      }
      return try draft.mutation(in: database)
    }
  }

  /// A `Document`: its name, not checked yet, and its fields.
  mutating func document() throws(RPCStatus) -> RequestedDocument? {
    guard let bytes = try bytes() else { return nil }
    var document = RequestedDocument(name: "", fields: Fields())
    var entries: [Fields.Entry] = []
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: document.name = try field.string() ?? document.name
        case 2: if let entry = try field.mapEntry() { entries.append(entry) }
        default: break
        }
      }
    }
    document.fields = Fields(entries)
    return document
  }

  private mutating func mapEntry() throws(RPCStatus) -> Fields.Entry? {
    try message { inner throws(RPCStatus) in
      var name = ""
      var value: Value?
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: value = try field.value() ?? value
        default: break
        }
      }
      guard let value else {
        throw RPCStatus(.invalidArgument, "Cannot convert firestore.v1.Value with type unset.")
      }
      return (name, value)
    }
  }

  mutating func precondition() throws(RPCStatus) -> Precondition? {
    try message { inner throws(RPCStatus) in
      var precondition = Precondition.none
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: if let exists = try field.boolean() { precondition = .exists(exists) }
        case 2: if let time = try field.timestamp() { precondition = .updateTime(SnapshotVersion(time)) }
        default: break
        }
      }
      return precondition
    }
  }

  private mutating func documentTransform() throws(RPCStatus) -> (name: String, transforms: [FieldTransform])? {
    try message { inner throws(RPCStatus) in
      var name = ""
      var transforms: [FieldTransform] = []
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: if let transform = try field.fieldTransform() { transforms.append(transform) }
        default: break
        }
      }
      return (name, transforms)
    }
  }

  private mutating func fieldTransform() throws(RPCStatus) -> FieldTransform? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      var operation: FieldTransform.Operation?
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: path = try field.fieldPath() ?? path
        case 2:
          guard let kind = try field.integer() else { break }
          guard kind == 1 else {
            throw RPCStatus(
              .invalidArgument, "ServerValue type must be specified for set_to_server_value transformation.")
          }
          operation = .serverTimestamp
        case 3: if let operand = try field.value() { operation = .increment(operand) }
        case 4: if let operand = try field.value() { operation = .maximum(operand) }
        case 5: if let operand = try field.value() { operation = .minimum(operand) }
        case 6: if let operands = try field.arrayValue() { operation = .arrayUnion(operands) }
        case 7: if let operands = try field.arrayValue() { operation = .arrayRemove(operands) }
        default: break
        }
      }
      guard let operation else {
        throw RPCStatus(.invalidArgument, "Operation type must be specified for field transformation.")
      }
      return FieldTransform(path: try FieldPath(required: path), operation: operation)
    }
  }

  mutating func arrayValue() throws(RPCStatus) -> [Value]? {
    try message { inner throws(RPCStatus) in
      var values: [Value] = []
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1, let value = try field.value() { values.append(value) }
      }
      return values
    }
  }
}

struct RequestedDocument {
  var name: String
  var fields: Fields
}

/// The parts of a `Write` as they came.
private struct WriteDraft {
  enum Target {
    case update(RequestedDocument)
    case delete(String)
    case verify(String)
    case transform((name: String, transforms: [FieldTransform]))
  }

  var target: Target?
  var mask: FieldMask?
  var precondition = Precondition.none
  var transforms: [FieldTransform] = []

  func mutation(in database: DatabaseID) throws(RPCStatus) -> Mutation {
    switch target {
    case nil: throw RPCStatus(.invalidArgument, "empty write operation")
    case .update(let document):
      let operation: Mutation.Operation = mask.map { .patch(document.fields, $0) } ?? .set(document.fields)
      return try mutation(document.name, operation, transforms, in: database)
    case .delete(let name):
      if mask != nil { throw RPCStatus(.invalidArgument, "a delete must not specify a document mask.") }
      return try mutation(name, .delete, transforms, in: database)
    case .verify(let name): return try mutation(name, .verify, transforms, in: database)
    case .transform(let (name, transforms)):
      if transforms.isEmpty { throw RPCStatus(.invalidArgument, "The list of FieldTransform must not be empty.") }
      return try mutation(name, .patch(Fields(), FieldMask([])), transforms + self.transforms, in: database)
    }
  }

  private func mutation(
    _ name: String, _ operation: Mutation.Operation, _ transforms: [FieldTransform], in database: DatabaseID
  ) throws(RPCStatus) -> Mutation {
    let (named, key) = try ResourceName.document(name)
    guard named == database else {
      throw RPCStatus(
        .invalidArgument,
        "The request was for database '\(database.name)' but was attempting to access database '\(named.name)'")
    }
    return Mutation(key: key, operation: operation, precondition: precondition, transforms: transforms)
  }
}
