// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

// Queries and targets are stored as a relative path and a `google.firestore.v1.StructuredQuery`.

extension Query {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, string: path.text)
    writer.field(2) { $0.structuredQuery(self) }
    if limitType == .last { writer.field(3, boolean: true) }
    return writer.bytes
  }

  /// Decodes a value from its stored form.
  /// - Throws: `data-loss` if `encoded()` did not write the bytes.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "query") { reader throws(WireError) in
      var message = QueryMessage()
      var limitType = LimitType.first
      var path = ResourcePath.root
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .lengthDelimited): path = ResourcePath(try reader.string())
        case (2, .lengthDelimited):
          var inner = try reader.message()
          message = try inner.structuredQuery()
        case (3, .varint): limitType = try reader.boolean() ? .last : .first
        default: try reader.skip(tag.type)
        }
      }
      return try Query(message, path: path, limitType: limitType)
    }
  }

  /// - Parameter path: the path of the collection. For a collection group, the path of the group's ancestor.
  package init(_ message: QueryMessage, path: ResourcePath, limitType: LimitType) throws(WireError) {
    let group = message.selectors.last.flatMap { $0.allDescendants ? $0.collectionID : nil }
    let filter = try message.filter.map { filter throws(WireError) in try Filter(stored: filter) }
    let orderBy = try message.orderBy.map { order throws(WireError) in
      OrderBy(try FieldPath(stored: order.path), order.direction == 2 ? .descending : .ascending)
    }
    self.init(
      path: path, collectionGroup: group, filters: filter?.conjuncts ?? [], explicitOrderBy: orderBy,
      limit: message.limit.map { Int($0) }, limitType: limitType,
      start: message.start.map { Bound(values: $0.values, isInclusive: $0.before) },
      end: message.end.map { Bound(values: $0.values, isInclusive: !$0.before) })
  }
}

extension Target {
  package func encoded() -> [UInt8] { query.encoded() }

  /// Decodes a value from its stored form.
  /// - Throws: `data-loss` if `encoded()` did not write the bytes.
  package init(decoding bytes: [UInt8]) throws(ModelError) { self = try Query(decoding: bytes).target }
}

extension Filter {
  fileprivate init(stored condition: QueryMessage.Condition) throws(WireError) {
    switch condition {
    case .composite(let op, let conditions):
      let filters = try conditions.map { condition throws(WireError) in try Filter(stored: condition) }
      self = op == 2 ? .or(filters) : .and(filters)
    case .field(let path, let op, let value):
      guard let op = FieldFilter.Operator(wireNumber: Int(op)), let value else {
        throw WireError("a field filter lacks its operator or value")
      }
      self = .field(FieldFilter(try FieldPath(stored: path), op, value))
    case .unary(let path, let op):
      guard let filter = FieldFilter(try FieldPath(stored: path), unaryNumber: op) else {
        throw WireError("a unary filter lacks its operator")
      }
      self = .field(filter)
    case .none: throw WireError("a filter has no type")
    case .tooDeep: throw WireError("filters are nested too deep")
    }
  }

  /// The conditions that an outermost AND combines.
  fileprivate var conjuncts: [Filter] {
    if case .and(let filters) = self { filters } else { [self] }
  }
}

// Mutations are stored in the format in which they are sent, but with relative document names, since a cache belongs to
// one database.

extension Mutation {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.mutation(self, .relative)
    return writer.bytes
  }

  /// Decodes a value from its stored form.
  /// - Throws: `data-loss` if `encoded()` did not write the bytes.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "write") { reader throws(WireError) in try reader.mutation(.relative) }
  }
}

extension MutationBatch {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, integer: id.rawValue)
    writer.field(2, timestamp: localWriteTime)
    for mutation in baseMutations { writer.field(3) { $0.mutation(mutation, .relative) } }
    for mutation in mutations { writer.field(4) { $0.mutation(mutation, .relative) } }
    writer.field(5, integer: generation)
    return writer.bytes
  }

  /// Decodes a value from its stored form.
  /// - Throws: `data-loss` if `encoded()` did not write the bytes.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "batch") { reader throws(WireError) in
      var batch = MutationBatch(id: BatchID(0), localWriteTime: Timestamp(seconds: 0), mutations: [])
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .varint): batch.id = BatchID(try reader.integer())
        case (2, .lengthDelimited): batch.localWriteTime = try reader.timestamp()
        case (3, .lengthDelimited):
          var inner = try reader.message()
          batch.baseMutations.append(try inner.mutation(.relative))
        case (4, .lengthDelimited):
          var inner = try reader.message()
          batch.mutations.append(try inner.mutation(.relative))
        case (5, .varint): batch.generation = try reader.integer()
        default: try reader.skip(tag.type)
        }
      }
      return batch
    }
  }
}
