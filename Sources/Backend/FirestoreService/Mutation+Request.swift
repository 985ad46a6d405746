// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension CommitMessage {
  /// Checks the request, and returns its database and its writes.
  func checked() throws(RPCStatus) -> (DatabaseID, [Mutation]) {
    let database = try ResourceName.database(self.database)
    return (database, try writes.map { write throws(RPCStatus) in try Mutation(request: write, in: database) })
  }
}

extension Mutation {
  /// - Parameter database: the database of the request. A write to another database is rejected.
  /// - Throws: `invalid-argument` with the real service's text (PROTOCOL §3.2).
  init(request write: WriteMessage, in database: DatabaseID) throws(RPCStatus) {
    let mask = try FieldMask(request: write.mask)
    try RequestReader.check(write.precondition)
    let name: String
    let operation: Operation
    var transforms = write.transforms
    switch write.operation {
    case nil: throw .invalid("empty write operation")
    case .update(let document):
      try RequestReader.check(document.fields)
      (name, operation) = (document.name, mask.map { .patch(document.fields, $0) } ?? .set(document.fields))
    case .delete(let document):
      if mask != nil { throw .invalid("a delete must not specify a document mask.") }
      (name, operation) = (document, .delete)
    case .verify(let document): (name, operation) = (document, .verify)
    case .transform(let document, let own):
      if own.isEmpty { throw .invalid("The list of FieldTransform must not be empty.") }
      (name, operation) = (document, .patch(Fields(), FieldMask([])))
      transforms = own + transforms
    }
    self.init(
      key: try ResourceName.document(name, in: database), operation: operation, precondition: write.precondition,
      transforms: try transforms.map { transform throws(RPCStatus) in try FieldTransform(request: transform) })
  }
}

extension FieldTransform {
  fileprivate init(request transform: WriteMessage.Transform) throws(RPCStatus) {
    if let value = transform.serverValue, value != 1 {
      throw .invalid("ServerValue type must be specified for set_to_server_value transformation.")
    }
    guard let operation = transform.operation else {
      throw .invalid("Operation type must be specified for field transformation.")
    }
    switch operation {
    case .serverTimestamp: break
    case .increment(let operand), .maximum(let operand), .minimum(let operand): try RequestReader.check(operand)
    case .arrayUnion(let operands), .arrayRemove(let operands):
      for operand in operands { try RequestReader.check(operand) }
    }
    self.init(path: try FieldPath(request: transform.path), operation: operation)
  }
}

extension FieldMask {
  /// - Parameter paths: `nil` for no mask.
  init?(request paths: [String]?) throws(RPCStatus) {
    guard let paths else { return nil }
    self.init(try paths.map { path throws(RPCStatus) in try FieldPath(request: path) })
  }
}

extension FieldPath {
  /// - Throws: `invalid-argument` with the real service's text.
  init(request text: String) throws(RPCStatus) {
    if text.isEmpty { throw .invalid("Invalid empty property path string.") }
    do throws(ModelError) { self = try FieldPath(wireText: text) } catch {
      // This parser only determines which of two error messages applies.
      if let path = try? FieldPath(canonicalText: text), let name = path.segments.first(where: \.isReservedName) {
        throw .invalid("Invalid reserved name in field path \(name)")
      }
      throw .invalid(
        "Invalid property path \"\(text)\". Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), and "
          + "quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)")
    }
  }
}
