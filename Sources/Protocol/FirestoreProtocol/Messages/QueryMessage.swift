// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The content of a `google.firestore.v1.StructuredQuery` as received: all known parts, not validated. The caller
/// decides which queries to support. A cache only reads its own queries, whereas a server reads any query.
package struct QueryMessage: Sendable {
  package struct Selector: Sendable {
    package var collectionID: String
    package var allDescendants: Bool

    package init(collectionID: String = "", allDescendants: Bool = false) {
      self.collectionID = collectionID
      self.allDescendants = allDescendants
    }
  }

  /// The content of a `Filter`. Operators are protocol numbers, and paths are texts. If the request omits an operator,
  /// it is 0; if it omits a path, the path is empty.
  package indirect enum Condition: Sendable {
    case none
    case composite(op: Int64, [Condition])
    case field(path: String, op: Int64, Value?)
    case unary(path: String, op: Int64)
    /// A condition that is nested too deeply to be read. The depth is limited to protect the stack from malicious
    /// messages.
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

  /// The content of a `FindNearest`.
  package struct Nearest: Sendable {
    package var path = ""
    package var vector: Value?
    package var measure: Int64 = 0
    package var limit: Int64 = 0
    package var resultField = ""
    package var threshold: Double?
  }

  /// The maximum depth of nested filters.
  package static let maximumDepth = 64

  /// The paths in `select`; `nil` if the query has no `select`.
  package var projection: [String]?
  package var selectors: [Selector] = []
  package var filter: Condition?
  package var orderBy: [Order] = []
  package var limit: Int64?
  package var offset: Int64 = 0
  package var start: Cursor?
  package var end: Cursor?
  package var nearest: Nearest?
}

extension WireReader {
  /// Reads a field that contains a message in which only one field is relevant.
  mutating func message(
    with number: Int, _ type: WireType, _ read: (inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    var reader = try message()
    while let tag = try reader.tag() {
      if tag.field == number, tag.type == type { try read(&reader) } else { try reader.skip(tag.type) }
    }
  }

  /// Reads the content of a `google.firestore.v1.StructuredQuery`.
  package mutating func structuredQuery() throws(WireError) -> QueryMessage {
    var query = QueryMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): query.projection = try projection()
      case (2, .lengthDelimited): query.selectors.append(try collectionSelector())
      case (3, .lengthDelimited): query.filter = try condition(depth: 0)
      case (4, .lengthDelimited): query.orderBy.append(try order())
      case (5, .lengthDelimited): query.limit = try wrappedInteger()
      case (6, .varint): query.offset = try integer()
      case (7, .lengthDelimited): query.start = try cursorField()
      case (8, .lengthDelimited): query.end = try cursorField()
      case (9, .lengthDelimited): query.nearest = try nearest()
      default: try skip(tag.type)
      }
    }
    return query
  }

  /// Reads a field that contains a `google.firestore.v1.StructuredQuery`.
  mutating func queryMessage() throws(WireError) -> QueryMessage {
    var inner = try message()
    return try inner.structuredQuery()
  }

  /// Reads a field that contains a `FieldReference`. The result is empty if the reference has no path.
  mutating func fieldReference() throws(WireError) -> String {
    var path = ""
    try message(with: 2, .lengthDelimited) { reader throws(WireError) in path = try reader.string() }
    return path
  }

  /// Reads a field that contains an `Int32Value` or `Int64Value`.
  mutating func wrappedInteger() throws(WireError) -> Int64 {
    var value: Int64 = 0
    try message(with: 1, .varint) { reader throws(WireError) in value = try reader.integer() }
    return value
  }

  /// Reads a field that contains a `DoubleValue`.
  private mutating func wrappedDouble() throws(WireError) -> Double {
    var value = 0.0
    try message(with: 1, .fixed64) { reader throws(WireError) in value = try reader.double() }
    return value
  }

  private mutating func projection() throws(WireError) -> [String] {
    var paths: [String] = []
    try message(with: 2, .lengthDelimited) { reader throws(WireError) in paths.append(try reader.fieldReference()) }
    return paths
  }

  private mutating func collectionSelector() throws(WireError) -> QueryMessage.Selector {
    var (selector, reader) = (QueryMessage.Selector(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): selector.collectionID = try reader.string()
      case (3, .varint): selector.allDescendants = try reader.boolean()
      default: try reader.skip(tag.type)
      }
    }
    return selector
  }

  private mutating func condition(depth: Int) throws(WireError) -> QueryMessage.Condition {
    var (condition, reader) = (QueryMessage.Condition.none, try message())
    if depth > QueryMessage.maximumDepth { return .tooDeep }
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): condition = try reader.composite(depth: depth)
      case (2, .lengthDelimited): condition = try reader.fieldCondition()
      case (3, .lengthDelimited): condition = try reader.unaryCondition()
      default: try reader.skip(tag.type)
      }
    }
    return condition
  }

  private mutating func composite(depth: Int) throws(WireError) -> QueryMessage.Condition {
    var (op, conditions, reader) = (Int64(0), [QueryMessage.Condition](), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try reader.integer()
      case (2, .lengthDelimited): conditions.append(try reader.condition(depth: depth + 1))
      default: try reader.skip(tag.type)
      }
    }
    return .composite(op: op, conditions)
  }

  private mutating func fieldCondition() throws(WireError) -> QueryMessage.Condition {
    var (path, op, value, reader) = ("", Int64(0), Value?.none, try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): path = try reader.fieldReference()
      case (2, .varint): op = try reader.integer()
      case (3, .lengthDelimited): value = try reader.valueField()
      default: try reader.skip(tag.type)
      }
    }
    return .field(path: path, op: op, value)
  }

  private mutating func unaryCondition() throws(WireError) -> QueryMessage.Condition {
    var (path, op, reader) = ("", Int64(0), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try reader.integer()
      case (2, .lengthDelimited): path = try reader.fieldReference()
      default: try reader.skip(tag.type)
      }
    }
    return .unary(path: path, op: op)
  }

  private mutating func order() throws(WireError) -> QueryMessage.Order {
    var (order, reader) = (QueryMessage.Order(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): order.path = try reader.fieldReference()
      case (2, .varint): order.direction = try reader.integer()
      default: try reader.skip(tag.type)
      }
    }
    return order
  }

  private mutating func cursorField() throws(WireError) -> QueryMessage.Cursor {
    var inner = try message()
    return try inner.cursor()
  }

  /// Reads the content of a `google.firestore.v1.Cursor`.
  package mutating func cursor() throws(WireError) -> QueryMessage.Cursor {
    var cursor = QueryMessage.Cursor()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): cursor.values.append(try valueField())
      case (2, .varint): cursor.before = try boolean()
      default: try skip(tag.type)
      }
    }
    return cursor
  }

  private mutating func nearest() throws(WireError) -> QueryMessage.Nearest {
    var (nearest, reader) = (QueryMessage.Nearest(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): nearest.path = try reader.fieldReference()
      case (2, .lengthDelimited): nearest.vector = try reader.valueField()
      case (3, .varint): nearest.measure = try reader.integer()
      case (4, .lengthDelimited): nearest.limit = try reader.wrappedInteger()
      case (5, .lengthDelimited): nearest.resultField = try reader.string()
      case (6, .lengthDelimited): nearest.threshold = try reader.wrappedDouble()
      default: try reader.skip(tag.type)
      }
    }
    return nearest
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.StructuredQuery`. It contains the collection's id, but not the
  /// collection's parent.
  package mutating func structuredQuery(_ query: Query) {
    if let id = query.collectionGroup ?? (query.path.isCollection ? query.path.last : nil) {
      field(2) { writer in
        writer.field(2, string: id)
        if query.collectionGroup != nil { writer.field(3, boolean: true) }
      }
    }
    // A single condition is written without an AND, unless it would then be read as a list of conditions.
    switch (query.filters.count, query.filters.first) {
    case (0, _): break
    case (1, .field(let filter)?): field(3) { $0.filter(.field(filter)) }
    case (1, .or(let filters)?): field(3) { $0.filter(.or(filters)) }
    default: field(3) { $0.filter(.and(query.filters)) }
    }
    for order in query.explicitOrderBy {
      field(4) { writer in
        writer.fieldReference(1, order.path)
        writer.field(2, varint: order.direction == .ascending ? 1 : 2)
      }
    }
    if let limit = query.limit { field(5) { $0.field(1, integer: Int64(limit)) } }
    if let start = query.start { field(7) { $0.cursor(start.values, before: start.isInclusive) } }
    if let end = query.end { field(8) { $0.cursor(end.values, before: !end.isInclusive) } }
  }

  /// Writes a field that contains a `google.firestore.v1.StructuredQuery.FieldReference`.
  mutating func fieldReference(_ number: Int, _ path: FieldPath) {
    field(number) { $0.field(2, string: path.canonicalText) }
  }

  private mutating func filter(_ filter: Filter) {
    switch filter {
    case .field(let filter):
      if let unary = filter.unaryNumber {
        field(3) { writer in
          writer.field(1, varint: unary)
          writer.fieldReference(2, filter.path)
        }
        return
      }
      field(2) { writer in
        writer.fieldReference(1, filter.path)
        writer.field(2, varint: UInt64(filter.op.wireNumber))
        writer.field(3) { $0.value(filter.value) }
      }
    case .and(let filters): composite(1, filters)
    case .or(let filters): composite(2, filters)
    }
  }

  private mutating func composite(_ op: UInt64, _ filters: [Filter]) {
    field(1) { writer in
      writer.field(1, varint: op)
      for filter in filters { writer.field(2) { $0.filter(filter) } }
    }
  }

  /// Writes the content of a `google.firestore.v1.Cursor`.
  package mutating func cursor(_ values: [Value], before: Bool) {
    for value in values { field(1) { $0.value(value) } }
    if before { field(2, boolean: true) }
  }
}

extension FieldFilter {
  /// The operator's number in `google.firestore.v1.StructuredQuery.UnaryFilter.Operator`, which is required for
  /// comparisons with null and NaN (PROTOCOL §3.7).
  fileprivate var unaryNumber: UInt64? {
    switch (op, value) {
    case (.equal, .double(let number)) where number.isNaN: 2
    case (.equal, .null): 3
    case (.notEqual, .double(let number)) where number.isNaN: 4
    case (.notEqual, .null): 5
    default: nil
    }
  }

  /// Creates the filter that a unary operator represents.
  /// - Returns: `nil` if the number is unknown.
  package init?(_ path: FieldPath, unaryNumber: Int64) {
    switch unaryNumber {
    case 2: self.init(path, .equal, .double(.nan))
    case 3: self.init(path, .equal, .null)
    case 4: self.init(path, .notEqual, .double(.nan))
    case 5: self.init(path, .notEqual, .null)
    default: return nil
    }
  }
}

extension FieldFilter.Operator {
  /// The operator's number in `google.firestore.v1.StructuredQuery.FieldFilter.Operator`.
  var wireNumber: Int {
    switch self {
    case .lessThan: 1
    case .lessThanOrEqual: 2
    case .greaterThan: 3
    case .greaterThanOrEqual: 4
    case .equal: 5
    case .notEqual: 6
    case .arrayContains: 7
    case .in: 8
    case .arrayContainsAny: 9
    case .notIn: 10
    }
  }

  /// Creates the operator that has this protocol number.
  /// - Returns: `nil` if the number is unknown.
  package init?(wireNumber: Int) {
    guard let op = Self.allCases.first(where: { $0.wireNumber == wireNumber }) else { return nil }
    self = op
  }
}
