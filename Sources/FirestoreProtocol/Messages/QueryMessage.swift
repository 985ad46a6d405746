// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A `google.firestore.v1.StructuredQuery` as it came: every part that is known, and none of them checked. Who may ask for what,
/// and in which words that is refused, is the matter of those who read it: a cache its own queries, a server anybody's.
package struct QueryMessage: Sendable {
  package struct Selector: Sendable {
    package var collectionID: String
    package var allDescendants: Bool

    package init(collectionID: String = "", allDescendants: Bool = false) {
      self.collectionID = collectionID
      self.allDescendants = allDescendants
    }
  }

  /// A `Filter`. Operators are the protocol's numbers, paths its text; both are 0 or empty where they are left out.
  package indirect enum Condition: Sendable {
    case none
    case composite(op: Int64, [Condition])
    case field(path: String, op: Int64, Value?)
    case unary(path: String, op: Int64)
    /// Nested deeper than anybody reads, so that hostile bytes cannot exhaust the stack.
    case tooDeep
  }

  package struct Order: Sendable {
    package var path = ""
    package var direction: Int64 = 0
  }

  package struct Cursor: Sendable {
    package var values: [Value] = []
    package var before = false
  }

  /// A `FindNearest`.
  package struct Nearest: Sendable {
    package var path = ""
    package var vector: Value?
    package var measure: Int64 = 0
    package var limit: Int64 = 0
    package var resultField = ""
    package var threshold: Double?
  }

  /// How deep filters may be nested.
  package static let maximumDepth = 64

  /// The paths of `select`; `nil` without one.
  package var projection: [String]?
  package var selectors: [Selector] = []
  package var filter: Condition?
  package var orderBy: [Order] = []
  package var limit: Int64?
  package var offset: Int64 = 0
  package var start: Cursor?
  package var end: Cursor?
  package var nearest: Nearest?

  package init() {}
}

extension WireReader {
  /// The content of a `google.firestore.v1.StructuredQuery`.
  package mutating func structuredQuery() throws(WireError) -> QueryMessage {
    var query = QueryMessage()
    while let tag = try tag() {
      if tag.field == 6, tag.type == .varint {
        query.offset = try integer()
        continue
      }
      guard tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      var inner = try message()
      switch tag.field {
      case 1: query.projection = try inner.projection()
      case 2: query.selectors.append(try inner.collectionSelector())
      case 3: query.filter = try inner.condition(depth: 0)
      case 4: query.orderBy.append(try inner.order())
      case 5: query.limit = try inner.wrappedInteger()
      case 7: query.start = try inner.cursor()
      case 8: query.end = try inner.cursor()
      case 9: query.nearest = try inner.nearest()
      default: break
      }
    }
    return query
  }

  /// The content of a `FieldReference`; empty if it names nothing.
  private mutating func fieldReference() throws(WireError) -> String {
    var path = ""
    while let tag = try tag() {
      if tag.field == 2, tag.type == .lengthDelimited { path = try string() } else { try skip(tag.type) }
    }
    return path
  }

  private mutating func referencedPath() throws(WireError) -> String {
    var inner = try message()
    return try inner.fieldReference()
  }

  /// The content of an `Int32Value` or `Int64Value`.
  private mutating func wrappedInteger() throws(WireError) -> Int64 {
    var value: Int64 = 0
    while let tag = try tag() {
      if tag.field == 1, tag.type == .varint { value = try integer() } else { try skip(tag.type) }
    }
    return value
  }

  /// The content of a `DoubleValue`.
  private mutating func wrappedDouble() throws(WireError) -> Double {
    var value = 0.0
    while let tag = try tag() {
      if tag.field == 1, tag.type == .fixed64 { value = try double() } else { try skip(tag.type) }
    }
    return value
  }

  private mutating func projection() throws(WireError) -> [String] {
    var paths: [String] = []
    while let tag = try tag() {
      if tag.field == 2, tag.type == .lengthDelimited {
        paths.append(try referencedPath())
      } else {
        try skip(tag.type)
      }
    }
    return paths
  }

  private mutating func collectionSelector() throws(WireError) -> QueryMessage.Selector {
    var selector = QueryMessage.Selector()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): selector.collectionID = try string()
      case (3, .varint): selector.allDescendants = try boolean()
      default: try skip(tag.type)
      }
    }
    return selector
  }

  private mutating func condition(depth: Int) throws(WireError) -> QueryMessage.Condition {
    if depth > QueryMessage.maximumDepth { return .tooDeep }
    var condition = QueryMessage.Condition.none
    while let tag = try tag() {
      guard tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      var inner = try message()
      switch tag.field {
      case 1: condition = try inner.composite(depth: depth)
      case 2: condition = try inner.fieldCondition()
      case 3: condition = try inner.unaryCondition()
      default: break
      }
    }
    return condition
  }

  private mutating func composite(depth: Int) throws(WireError) -> QueryMessage.Condition {
    var op: Int64 = 0
    var conditions: [QueryMessage.Condition] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try integer()
      case (2, .lengthDelimited):
        var inner = try message()
        conditions.append(try inner.condition(depth: depth + 1))
      default: try skip(tag.type)
      }
    }
    return .composite(op: op, conditions)
  }

  private mutating func fieldCondition() throws(WireError) -> QueryMessage.Condition {
    var (path, op, value) = ("", Int64(0), Value?.none)
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): path = try referencedPath()
      case (2, .varint): op = try integer()
      case (3, .lengthDelimited):
        var inner = try message()
        value = try inner.value()
      default: try skip(tag.type)
      }
    }
    return .field(path: path, op: op, value)
  }

  private mutating func unaryCondition() throws(WireError) -> QueryMessage.Condition {
    var (path, op) = ("", Int64(0))
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try integer()
      case (2, .lengthDelimited): path = try referencedPath()
      default: try skip(tag.type)
      }
    }
    return .unary(path: path, op: op)
  }

  private mutating func order() throws(WireError) -> QueryMessage.Order {
    var order = QueryMessage.Order()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): order.path = try referencedPath()
      case (2, .varint): order.direction = try integer()
      default: try skip(tag.type)
      }
    }
    return order
  }

  private mutating func cursor() throws(WireError) -> QueryMessage.Cursor {
    var cursor = QueryMessage.Cursor()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        var inner = try message()
        cursor.values.append(try inner.value())
      case (2, .varint): cursor.before = try boolean()
      default: try skip(tag.type)
      }
    }
    return cursor
  }

  private mutating func nearest() throws(WireError) -> QueryMessage.Nearest {
    var nearest = QueryMessage.Nearest()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): nearest.path = try referencedPath()
      case (2, .lengthDelimited):
        var inner = try message()
        nearest.vector = try inner.value()
      case (3, .varint): nearest.measure = try integer()
      case (4, .lengthDelimited):
        var inner = try message()
        nearest.limit = try inner.wrappedInteger()
      case (5, .lengthDelimited): nearest.resultField = try string()
      case (6, .lengthDelimited):
        var inner = try message()
        nearest.threshold = try inner.wrappedDouble()
      default: try skip(tag.type)
      }
    }
    return nearest
  }
}
