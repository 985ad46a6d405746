// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

extension WireWriter {
  /// The content of a `google.firestore.v1.StructuredQuery`, which names the collection but not where it lies.
  package mutating func structuredQuery(_ query: Query) {
    if let id = query.collectionGroup ?? (query.path.isCollection ? query.path.last : nil) {
      field(2) { writer in
        writer.field(2, string: id)
        if query.collectionGroup != nil { writer.field(3, boolean: true) }
      }
    }
    // A single condition goes alone, unless it would be taken for the list of conditions.
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
    if let start = query.start { field(7) { $0.cursor(start, before: start.isInclusive) } }
    if let end = query.end { field(8) { $0.cursor(end, before: !end.isInclusive) } }
  }

  /// A field with a `google.firestore.v1.StructuredQuery.FieldReference`.
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

  private mutating func cursor(_ bound: Bound, before: Bool) {
    for value in bound.values { field(1) { $0.value(value) } }
    if before { field(2, boolean: true) }
  }
}

extension FieldFilter {
  /// `google.firestore.v1.StructuredQuery.UnaryFilter.Operator`: comparisons with null and NaN are only understood as
  /// these (PROTOCOL §3.7).
  fileprivate var unaryNumber: UInt64? {
    switch (op, value) {
    case (.equal, .double(let number)) where number.isNaN: 2
    case (.equal, .null): 3
    case (.notEqual, .double(let number)) where number.isNaN: 4
    case (.notEqual, .null): 5
    default: nil
    }
  }

  /// - Returns: `nil` for a number that is no unary operator.
  package init?(_ path: FieldPath, unaryNumber: UInt64) {
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
  /// `google.firestore.v1.StructuredQuery.FieldFilter.Operator`.
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

  /// - Returns: `nil` for a number that is no operator.
  package init?(wireNumber: Int) {
    guard let op = Self.allCases.first(where: { $0.wireNumber == wireNumber }) else { return nil }
    self = op
  }
}

extension WireReader {
  /// The content of a `google.firestore.v1.StructuredQuery`; the path is the caller's.
  package mutating func structuredQuery() throws(WireError) -> Query {
    var query = Query(path: .root)
    while let tag = try tag() {
      guard tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      var inner = try message()
      switch tag.field {
      case 2: query.collectionGroup = try inner.collectionGroup()
      case 3: query.filters = try inner.filter(depth: 0).conjuncts
      case 4: query.explicitOrderBy.append(try inner.order())
      case 5: query.limit = try inner.wrappedInteger()
      case 7:
        let (values, before) = try inner.cursor()
        query.start = Bound(values: values, isInclusive: before)
      case 8:
        let (values, before) = try inner.cursor()
        query.end = Bound(values: values, isInclusive: !before)
      default: break
      }
    }
    return query
  }

  private mutating func collectionGroup() throws(WireError) -> String? {
    var id = ""
    var allDescendants = false
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): id = try string()
      case (3, .varint): allDescendants = try boolean()
      default: try skip(tag.type)
      }
    }
    return allDescendants ? id : nil
  }

  private mutating func wrappedInteger() throws(WireError) -> Int {
    var value = 0
    while let tag = try tag() {
      if tag.field == 1, tag.type == .varint { value = Int(try integer()) } else { try skip(tag.type) }
    }
    return value
  }

  private mutating func fieldReference() throws(WireError) -> FieldPath {
    var inner = try message()
    var path: FieldPath?
    while let tag = try inner.tag() {
      if tag.field == 2, tag.type == .lengthDelimited { path = try inner.fieldPath() } else { try inner.skip(tag.type) }
    }
    guard let path else { throw WireError("a field reference names no field") }
    return path
  }

  private mutating func filter(depth: Int) throws(WireError) -> Filter {
    guard depth < 64 else { throw WireError("filters are nested too deep") }
    while let tag = try tag() {
      guard tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      var inner = try message()
      if tag.field == 1 { return try inner.composite(depth: depth) }
      if tag.field == 2 { return .field(try inner.fieldFilter()) }
      if tag.field == 3 { return .field(try inner.unaryFilter()) }
    }
    throw WireError("a filter has no type")
  }

  private mutating func composite(depth: Int) throws(WireError) -> Filter {
    var op: UInt64 = 0
    var filters: [Filter] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try varint()
      case (2, .lengthDelimited):
        var inner = try message()
        filters.append(try inner.filter(depth: depth + 1))
      default: try skip(tag.type)
      }
    }
    return op == 2 ? .or(filters) : .and(filters)
  }

  private mutating func fieldFilter() throws(WireError) -> FieldFilter {
    var path: FieldPath?
    var op: FieldFilter.Operator?
    var value: Value?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): path = try fieldReference()
      case (2, .varint): op = FieldFilter.Operator(wireNumber: Int(truncatingIfNeeded: try varint()))
      case (3, .lengthDelimited):
        var inner = try message()
        value = try inner.value()
      default: try skip(tag.type)
      }
    }
    guard let path, let op, let value else { throw WireError("a field filter lacks its field, operator or value") }
    return FieldFilter(path, op, value)
  }

  private mutating func unaryFilter() throws(WireError) -> FieldFilter {
    var path: FieldPath?
    var op: UInt64 = 0
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): op = try varint()
      case (2, .lengthDelimited): path = try fieldReference()
      default: try skip(tag.type)
      }
    }
    guard let path, let filter = FieldFilter(path, unaryNumber: op) else {
      throw WireError("a unary filter lacks its field or operator")
    }
    return filter
  }

  private mutating func order() throws(WireError) -> OrderBy {
    var path: FieldPath?
    var direction = OrderBy.Direction.ascending
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): path = try fieldReference()
      case (2, .varint): direction = try varint() == 2 ? .descending : .ascending
      default: try skip(tag.type)
      }
    }
    guard let path else { throw WireError("an ordering names no field") }
    return OrderBy(path, direction)
  }

  private mutating func cursor() throws(WireError) -> (values: [Value], before: Bool) {
    var values: [Value] = []
    var before = false
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        var inner = try message()
        values.append(try inner.value())
      case (2, .varint): before = try boolean()
      default: try skip(tag.type)
      }
    }
    return (values, before)
  }
}

extension Filter {
  /// The conditions of an outermost AND.
  fileprivate var conjuncts: [Filter] {
    if case .and(let filters) = self { filters } else { [self] }
  }
}
