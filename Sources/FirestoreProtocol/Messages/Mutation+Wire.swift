// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension WireWriter {
  /// The content of a `google.firestore.v1.Write`.
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
  /// The content of a `google.firestore.v1.Write`.
  package mutating func mutation(_ names: DocumentNames) throws(WireError) -> Mutation {
    var key: DocumentKey?
    var fields = Fields()
    var mask: FieldMask?
    var operation: Mutation.Operation?
    var precondition = Precondition.none
    var transforms: [FieldTransform] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        let content = try lengthDelimited()
        var header = WireReader(content)
        while let tag = try header.tag() {
          if tag.field == 1, tag.type == .lengthDelimited {
            key = try names.key(try header.lengthDelimited())
          } else {
            try header.skip(tag.type)
          }
        }
        var body = WireReader(content)
        fields = try body.fields(2)
        operation = .set(fields)
      case (2, .lengthDelimited):
        key = try names.key(try lengthDelimited())
        operation = .delete
      case (5, .lengthDelimited):
        key = try names.key(try lengthDelimited())
        operation = .verify
      case (3, .lengthDelimited):
        var inner = try message()
        mask = FieldMask(try inner.fieldPaths(1))
      case (4, .lengthDelimited):
        var inner = try message()
        precondition = try inner.precondition()
      case (7, .lengthDelimited):
        var inner = try message()
        transforms.append(try inner.transform())
      default: try skip(tag.type)
      }
    }
    if let mask { operation = .patch(fields, mask) }
    guard let operation, let key else { throw WireError("a write names no document") }
    return Mutation(key: key, operation: operation, precondition: precondition, transforms: transforms)
  }

  private mutating func fieldPath() throws(WireError) -> FieldPath { try FieldPath(stored: try string()) }

  private mutating func fieldPaths(_ number: Int) throws(WireError) -> [FieldPath] {
    var paths: [FieldPath] = []
    while let tag = try tag() {
      if tag.field == number, tag.type == .lengthDelimited { paths.append(try fieldPath()) } else { try skip(tag.type) }
    }
    return paths
  }

  private mutating func precondition() throws(WireError) -> Precondition {
    var result = Precondition.none
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): result = .exists(try boolean())
      case (2, .lengthDelimited): result = .updateTime(SnapshotVersion(try timestamp()))
      default: try skip(tag.type)
      }
    }
    return result
  }

  private mutating func transform() throws(WireError) -> FieldTransform {
    var path: FieldPath?
    var operation: FieldTransform.Operation?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): path = try fieldPath()
      case (2, .varint):
        _ = try varint()
        operation = .serverTimestamp
      case (3, .lengthDelimited): operation = .increment(try operand())
      case (4, .lengthDelimited): operation = .maximum(try operand())
      case (5, .lengthDelimited): operation = .minimum(try operand())
      case (6, .lengthDelimited): operation = .arrayUnion(try elements())
      case (7, .lengthDelimited): operation = .arrayRemove(try elements())
      default: try skip(tag.type)
      }
    }
    guard let path, let operation else { throw WireError("a transform lacks its field or operation") }
    return FieldTransform(path: path, operation: operation)
  }

  private mutating func operand() throws(WireError) -> Value {
    var inner = try message()
    return try inner.value()
  }

  private mutating func elements() throws(WireError) -> [Value] {
    var inner = try message()
    var values: [Value] = []
    while let tag = try inner.tag() {
      if tag.field == 1, tag.type == .lengthDelimited {
        values.append(try inner.operand())
      } else {
        try inner.skip(tag.type)
      }
    }
    return values
  }
}

extension FieldPath {
  /// - Parameter text: what `canonicalText` wrote.
  init(stored text: String) throws(WireError) {
    do throws(ModelError) { try self.init(canonicalText: text) } catch { throw WireError(error.message) }
  }
}
