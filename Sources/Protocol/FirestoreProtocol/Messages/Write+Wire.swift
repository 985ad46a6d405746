// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of a `google.firestore.v1.Write` as received, not validated (PROTOCOL §3.2). Document names and field
/// paths are texts.
package struct WriteMessage: Sendable {
  package enum Operation: Sendable {
    case update(DocumentMessage)
    case delete(name: String)
    case verify(name: String)
    /// A `DocumentTransform`, which older clients send.
    case transform(name: String, [Transform])
  }

  package struct Transform: Sendable {
    package var path = ""
    package var operation: FieldTransform.Operation?
    /// The protocol number of the value that the server sets. The only defined number is 1, which means the time of the
    /// request.
    package var serverValue: Int64?
  }

  package var operation: Operation?
  package var mask: [String]?
  package var precondition = Precondition.none
  package var transforms: [Transform] = []

  package init(_ document: DocumentMessage? = nil) { operation = document.map { .update($0) } }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.Write`.
  package mutating func mutation(_ mutation: Mutation, _ names: DocumentNames) {
    let key = mutation.key
    switch mutation.operation {
    case .set(let fields):
      field(1) { writer in
        names.write(key, as: 1, to: &writer)
        writer.entries(2, fields)
      }
    case .patch(let fields, let mask):
      field(1) { writer in
        names.write(key, as: 1, to: &writer)
        writer.entries(2, fields)
      }
      field(3) { writer in for path in mask.paths.sorted() { writer.field(1, string: path.canonicalText) } }
    case .delete: names.write(key, as: 2, to: &self)
    case .verify: names.write(key, as: 5, to: &self)
    }
    switch mutation.precondition {
    case .none: break
    case .exists(let exists): field(4) { $0.field(1, boolean: exists) }
    case .updateTime(let version): field(4) { $0.field(2, timestamp: version.timestamp) }
    }
    for transform in mutation.transforms { field(7) { $0.transform(transform) } }
  }

  private mutating func transform(_ transform: FieldTransform) {
    field(1, string: transform.path.canonicalText)
    switch transform.operation {
    case .serverTimestamp: field(2, varint: 1)
    case .increment(let operand): field(3) { $0.value(operand) }
    case .maximum(let operand): field(4) { $0.value(operand) }
    case .minimum(let operand): field(5) { $0.value(operand) }
    case .arrayUnion(let values): field(6) { writer in for value in values { writer.field(1) { $0.value(value) } } }
    case .arrayRemove(let values): field(7) { writer in for value in values { writer.field(1) { $0.value(value) } } }
    }
  }
}

extension WireReader {
  /// Reads a field that contains a `google.firestore.v1.Write`.
  package mutating func writeMessage() throws(WireError) -> WriteMessage {
    var reader = try message()
    return try reader.write(isToStore: true)
  }

  /// Reads the content of a `google.firestore.v1.Write`.
  /// - Parameter isToStore: whether the fields will probably be stored unchanged.
  private mutating func write(isToStore: Bool = false) throws(WireError) -> WriteMessage {
    var write = WriteMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): write.operation = .update(try documentMessage(isToStore: isToStore))
      case (2, .lengthDelimited): write.operation = .delete(name: try string())
      case (3, .lengthDelimited): write.mask = try documentMask()
      case (4, .lengthDelimited): write.precondition = try precondition()
      case (5, .lengthDelimited): write.operation = .verify(name: try string())
      case (6, .lengthDelimited): write.operation = try documentTransform()
      case (7, .lengthDelimited): write.transforms.append(try transform())
      default: try skip(tag.type)
      }
    }
    return write
  }

  /// Reads a field that contains a `google.firestore.v1.Precondition`.
  mutating func precondition() throws(WireError) -> Precondition {
    var (result, reader) = (Precondition.none, try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): result = .exists(try reader.boolean())
      case (2, .lengthDelimited): result = .updateTime(SnapshotVersion(try reader.timestamp()))
      default: try reader.skip(tag.type)
      }
    }
    return result
  }

  private mutating func documentTransform() throws(WireError) -> WriteMessage.Operation {
    var (name, transforms, reader) = ("", [WriteMessage.Transform](), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try reader.string()
      case (2, .lengthDelimited): transforms.append(try reader.transform())
      default: try reader.skip(tag.type)
      }
    }
    return .transform(name: name, transforms)
  }

  private mutating func transform() throws(WireError) -> WriteMessage.Transform {
    var (transform, reader) = (WriteMessage.Transform(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): transform.path = try reader.string()
      case (2, .varint):
        transform.serverValue = try reader.integer()
        transform.operation = .serverTimestamp
      case (3, .lengthDelimited): transform.operation = .increment(try reader.valueField())
      case (4, .lengthDelimited): transform.operation = .maximum(try reader.valueField())
      case (5, .lengthDelimited): transform.operation = .minimum(try reader.valueField())
      case (6, .lengthDelimited): transform.operation = .arrayUnion(try reader.elements())
      case (7, .lengthDelimited): transform.operation = .arrayRemove(try reader.elements())
      default: try reader.skip(tag.type)
      }
    }
    return transform
  }

  /// Reads a field that contains a `google.firestore.v1.ArrayValue`.
  private mutating func elements() throws(WireError) -> [Value] {
    var values: [Value] = []
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in values.append(try reader.valueField()) }
    return values
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.Write` that this client wrote earlier. Field paths are not checked.
  package mutating func mutation(_ names: DocumentNames) throws(WireError) -> Mutation {
    let write = try write()
    let (name, operation): (String, Mutation.Operation) =
      switch write.operation {
      case .update(let document): (document.name, .set(document.fields))
      case .delete(let name): (name, .delete)
      case .verify(let name): (name, .verify)
      case .transform, nil: throw WireError("a write names no document")
      }
    var mutation = Mutation(key: try names.key(name), operation: operation, precondition: write.precondition)
    if let mask = write.mask, case .set(let fields) = operation {
      mutation.operation = .patch(
        fields, FieldMask(try mask.map { path throws(WireError) in try FieldPath(stored: path) }))
    }
    mutation.transforms = try write.transforms.map { transform throws(WireError) in
      guard let operation = transform.operation else { throw WireError("a transform lacks its operation") }
      return FieldTransform(path: try FieldPath(stored: transform.path), operation: operation)
    }
    return mutation
  }
}

extension FieldPath {
  /// Parses a path that was stored as text.
  /// - Parameter text: a text that `canonicalText` produced.
  init(stored text: String) throws(WireError) {
    do throws(ModelError) { try self.init(canonicalText: text) } catch { throw WireError(error.message) }
  }
}
