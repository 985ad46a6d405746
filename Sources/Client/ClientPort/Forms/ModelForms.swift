// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery

// Documents, writes and queries. Their forms apply the redaction, also within other forms.

extension Fields: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    DocumentJSON.exact(context.redaction?.fields(self) ?? self, relativeTo: context.database)
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    self = try DocumentJSON.exactFields(of: json, database: context.readDatabase)
  }
}

extension Document: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Document(
      key: try form("path", it?.key), version: try form.optional("updated", it?.version),
      createTime: try form.optional("created", it?.createTime), state: try state(&form, it?.state),
      pending: try form.optional("pending", it.flatMap { $0.pending == .none ? nil : $0.pending }) ?? .none)
  }

  /// Reads or writes the member `data` for an existing document, or `exists` with the value false for a missing
  /// document. If the state is unknown, the object has neither member.
  private static func state(_ form: inout JSONForm, _ it: State?) throws(JSONError) -> State {
    let fields: Fields? = if case .found(let data)? = it { data.fields } else { nil }
    let isMissing: Bool? = it == .missing ? false : nil
    if let fields = try form.optional("data", fields) { return it ?? .found(DocumentData(fields)) }
    return try form.optional("exists", isMissing) == false ? .missing : .unknown
  }
}

extension Document.PendingWrites: JSONNamed {
  static let names: [(Self, String)] = [(.none, "none"), (.local, "local"), (.committed, "committed")]
}

/// The same JSON form in which users write mutations: `{"update": "orders/a", "data": {…}}`.
extension Mutation: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    WriteJSON.exact(context.redaction?.mutation(self) ?? self, relativeTo: context.database)
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    self = try WriteJSON.exactMutation(of: json, database: context.readDatabase)
  }
}

extension OrderBy.Direction: JSONFormed {}

extension OrderBy: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    OrderBy(try form("field", it?.path), try form("direction", it?.direction))
  }
}

extension FieldFilter.Operator: JSONFormed {}

extension FieldFilter: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let path: FieldPath = try form("field", it?.path)
    let op: Operator = try form("op", it?.op)
    guard let value = try form.value("value", it?.value, at: path) else { throw form.error("\"value\" is missing.") }
    return FieldFilter(path, op, value)
  }
}

/// The form of a filter: a single condition, or a list of conditions under `all` or `any`.
extension Filter: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    switch self {
    case .field(let filter): filter.json(context)
    case .and(let filters): JSONSyntax(.object([.init("all", filters.json(context))]))
    case .or(let filters): JSONSyntax(.object([.init("any", filters.json(context))]))
    }
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    if let all = json["all"] {
      self = .and(try [Filter](json: all, context))
    } else if let any = json["any"] {
      self = .or(try [Filter](json: any, context))
    } else {
      self = .field(try FieldFilter(json: json, context))
    }
  }
}

extension Bound {
  /// - Parameter orders: the orderings to which the bound's values belong.
  fileprivate static func form(
    _ form: inout JSONForm, _ name: String, _ it: Bound?, _ orders: [OrderBy]
  ) throws(JSONError) -> Bound? {
    let bounded = it.map { BoundForm(values: $0.values, isInclusive: $0.isInclusive, paths: orders.map(\.path)) }
    return try form.optional(name, bounded).map { Bound(values: $0.values, isInclusive: $0.isInclusive) }
  }
}

/// A query bound and the fields of its values. Redaction needs these fields.
private struct BoundForm: JSONFormed {
  var values: [Value]
  var isInclusive: Bool
  var paths: [FieldPath]

  func json(_ context: JSONContext) -> JSONSyntax {
    let shown = values.enumerated().map { index, value in
      guard let redaction = context.redaction else { return value }
      return paths.indices.contains(index) ? redaction.value(value, at: paths[index]) : redaction.value(value)
    }
    return JSONSyntax(
      .object([
        .init("values", JSONSyntax(.array(shown.map { DocumentJSON.exact($0, relativeTo: context.database) }))),
        .init("inclusive", isInclusive.json(context)),
      ]))
  }

  init(values: [Value], isInclusive: Bool, paths: [FieldPath]) {
    (self.values, self.isInclusive, self.paths) = (values, isInclusive, paths)
  }

  init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard case .array(let elements)? = json["values"]?.kind, let inclusive = json["inclusive"] else {
      throw json.error("Expected \"values\" and \"inclusive\".")
    }
    let values = try elements.map { element throws(JSONError) in
      try DocumentJSON.exactValue(of: element, database: context.readDatabase)
    }
    self.init(values: values, isInclusive: try Bool(json: inclusive, context), paths: [])
  }
}

extension Query: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let path: ResourcePath = try form("path", it?.path)
    let group = try form.optionalWord("group", it?.collectionGroup)
    let filters = try form.optional("where", it?.filters.nilIfEmpty) ?? []
    let orders = try form.optional("orderBy", it?.explicitOrderBy.nilIfEmpty) ?? []
    let limit = try form.optional("limit", it?.limit)
    let isLast = try form.optional("last", it.flatMap { $0.limitType == .last ? true : nil }) ?? false
    return Query(
      path: path, collectionGroup: group, filters: filters, explicitOrderBy: orders, limit: limit,
      limitType: isLast ? .last : .first, start: try Bound.form(&form, "start", it?.start, orders),
      end: try Bound.form(&form, "end", it?.end, orders))
  }
}

extension Target: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let path: ResourcePath = try form("path", it?.path)
    let group = try form.optionalWord("group", it?.collectionGroup)
    let filters = try form.optional("where", it?.filters.nilIfEmpty) ?? []
    let orders = try form.optional("orderBy", it?.orderBy.nilIfEmpty) ?? []
    return Target(
      path: path, collectionGroup: group, filters: filters, orderBy: orders,
      limit: try form.optional("limit", it?.limit), start: try Bound.form(&form, "start", it?.start, orders),
      end: try Bound.form(&form, "end", it?.end, orders))
  }
}

extension Array {
  var nilIfEmpty: Self? { isEmpty ? nil : self }
}

extension CollectionNotice: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Self(
      try form("collection", it?.collection), created: try form("created", it?.created),
      deleted: try form("deleted", it?.deleted), changed: try form("changed", it?.changed))
  }
}

extension DocumentChange.Kind: JSONNamed {
  static let names: [(Self, String)] = [
    (.removed, "removed"), (.added, "added"), (.modified, "modified"), (.metadata, "metadata"),
  ]
}
