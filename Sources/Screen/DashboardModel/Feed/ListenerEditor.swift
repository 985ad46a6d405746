// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
import FirestoreText

/// The state of the listener editor: a collection, a document or a collection group, with conditions, orders and a
/// limit.
package struct ListenerEditor: Sendable {
  /// A row below `where`: a field, an operator and a value. You can also type a whole condition instead of the field,
  /// for example `status == new or status == paid`. The syntax is the same as on the command line.
  package struct Clause: Hashable, Sendable {
    package var path = TextField()
    package var op = FieldFilter.Operator.equal
    package var value = TextField()

    package var isEmpty: Bool { path.isEmpty && value.isEmpty }

    /// Whether a whole condition was typed instead of the field.
    package var isWhole: Bool {
      guard value.isEmpty else { return false }
      let parts = path.text.trimmed.split(separator: "`", omittingEmptySubsequences: false)
      return parts.enumerated().contains { index, part in
        index.isMultiple(of: 2) && part.contains { $0.isWhitespace || "=!<>(".contains($0) }
      }
    }

    /// The row as the text of a condition.
    package var text: String { isWhole ? path.text : "\(path.text) \(op.rawValue) \(value.text)" }
  }

  /// The fields of the form, in the order in which `tab` goes through them.
  package enum Slot: Hashable, Sendable {
    case name, from, group
    case path(Int)
    case op(Int)
    case value(Int)
    case order, limit, source, metadata
  }

  package var name = TextField()
  package var from = TextField()
  package var isGroup = false
  /// The conditions of the query. The last one is always empty, so that you can type another condition.
  package var clauses = [Clause()]
  package var order = TextField()
  package var limit = TextField()
  package var source = ListenerOptions.Source.default
  package var includesMetadata = true
  package var slot = Slot.from
  /// The listener that is being edited, which the new listener replaces; `nil` for a new listener.
  package var replaced: ListenerTag?
  /// The last query that was run on the cache for the preview, and its result.
  package var previewed: Query?
  package var preview: Result<QueryPreview, RPCStatus>?
  /// The time when the preview's query runs again because documents have changed; `nil` if no documents have changed.
  package var recountAt: Timestamp?

  package init() {}

  package var slots: [Slot] {
    [.name, .from, .group] + clauses.indices.flatMap { [Slot.path($0), .op($0), .value($0)] }
      + [.order, .limit, .source, .metadata]
  }

  /// The text field under the cursor; `nil` if the cursor is on an option.
  package var focusedField: TextField? {
    get {
      switch slot {
      case .name: name
      case .from: from
      case .path(let index): clauses.indices.contains(index) ? clauses[index].path : nil
      case .value(let index): clauses.indices.contains(index) ? clauses[index].value : nil
      case .order: order
      case .limit: limit
      case .group, .op, .source, .metadata: nil
      }
    }
    set {
      guard let newValue else { return }
      switch slot {
      case .name: name = newValue
      case .from: from = newValue
      case .path(let index): if clauses.indices.contains(index) { clauses[index].path = newValue }
      case .value(let index): if clauses.indices.contains(index) { clauses[index].value = newValue }
      case .order: order = newValue
      case .limit: limit = newValue
      case .group, .op, .source, .metadata: break
      }
      if clauses.last?.isEmpty != true { clauses.append(Clause()) }
    }
  }

  package mutating func move(by step: Int) {
    let slots = slots
    let index = slots.firstIndex(of: slot) ?? 0
    slot = slots[((index + step) % slots.count + slots.count) % slots.count]
    focusedField = focusedField?.selected()
  }

  /// Toggles the option under the cursor, or selects the next operator of a condition.
  package mutating func toggle() {
    switch slot {
    case .group: isGroup.toggle()
    case .source: source = source == .default ? .cache : .default
    case .metadata: includesMetadata.toggle()
    case .path(let index), .op(let index), .value(let index):
      let all = FieldFilter.Operator.allCases
      guard clauses.indices.contains(index), !clauses[index].isWhole, let at = all.firstIndex(of: clauses[index].op)
      else { return }
      clauses[index].op = all[(at + 1) % all.count]
    case .name, .from, .order, .limit: break
    }
  }

  package mutating func removeClause() {
    switch slot {
    case .path(let index), .op(let index), .value(let index):
      guard clauses.indices.contains(index), clauses.count > 1, index < clauses.count - 1 else { return }
      clauses.remove(at: index)
      slot = .path(min(index, clauses.count - 1))
    default: break
    }
  }
}

extension ListenerEditor {
  /// An editor for an existing listener. Returns `nil` if the form cannot express a part of the listener.
  package init?(_ definition: ListenerDefinition, in database: DatabaseID) {
    let query = definition.query
    name = TextField(definition.name)
    from = TextField(query.collectionGroup ?? query.path.text)
    isGroup = query.collectionGroup != nil
    clauses = query.filters.map { filter in
      guard case .field(let filter) = filter else {
        return Clause(path: TextField(ConditionText.text(of: filter, in: database)))
      }
      return Clause(
        path: TextField(filter.path.canonicalText), op: filter.op,
        value: TextField(ValueReader.text(of: filter.value, in: database)))
    }
    clauses.append(Clause())
    let orders = query.explicitOrderBy.map { order in
      order.path.canonicalText + (order.direction == .descending ? " desc" : "")
    }
    order = TextField(orders.joined(separator: ", "))
    limit = TextField(query.limit.map { (query.limitType == .last ? "last " : "") + "\($0)" } ?? "")
    source = definition.options.source
    includesMetadata = definition.options.includeMetadataChanges
    // Cursors and texts that are too long for a line do not survive the conversion.
    guard (try? self.query(in: database)) == query, options == definition.options else { return nil }
  }
}

/// The reason why the form does not describe a valid listener.
package struct ListenerEditorError: Error, Hashable {
  package var reason: String
}

/// The listener that the editor describes.
extension ListenerEditor {
  package var options: ListenerOptions {
    ListenerOptions(includeMetadataChanges: includesMetadata, source: source)
  }

  /// The query in the editor, validated by Firestore's rules for queries.
  package func query(in database: DatabaseID) throws(ListenerEditorError) -> Query {
    var query = try place()
    for clause in clauses where !clause.isEmpty {
      query.filters += try read("where", clause.text) { text throws(TextError) in
        try ConditionText.parse(text, of: query, database: database)
      }
    }
    if !order.text.trimmed.isEmpty { query.explicitOrderBy = try read("order by", order.text, OrderText.parse) }
    if query.path.isDocument, !isGroup, !query.filters.isEmpty || !query.explicitOrderBy.isEmpty || !limit.isEmpty {
      throw ListenerEditorError(reason: "a document listener has no clauses, order or limit")
    }
    try readLimit(into: &query)
    do throws(QueryError) { try query.validate() } catch { throw ListenerEditorError(reason: error.message) }
    return query
  }

  private func place() throws(ListenerEditorError) -> Query {
    if from.isEmpty { throw ListenerEditorError(reason: "from: type a collection, such as orders") }
    do throws(ModelError) {
      let path = try ResourcePath(validating: from.text)
      guard isGroup else { return Query(path: path) }
      guard path.count == 1 else { throw ModelError("a collection group is one id, such as \(path.last)") }
      return Query(path: .root, collectionGroup: path.text)
    } catch { throw ListenerEditorError(reason: error.message) }
  }

  /// Parses a number, or `last` followed by a number (`limitToLast`).
  private func readLimit(into query: inout Query) throws(ListenerEditorError) {
    let words = limit.text.split(whereSeparator: \.isWhitespace)
    guard !words.isEmpty else { return }
    let isLast = words.count == 2 && words[0].lowercased() == "last"
    let number = isLast ? String(words[1]) : limit.text.trimmed
    query.limit = try read("limit", number, LimitText.parse)
    if isLast { query.limitType = .last }
  }

  /// - Parameter name: the name of the text in error messages.
  private func read<Result>(
    _ name: String, _ text: String, _ parse: (String) throws(TextError) -> Result
  ) throws(ListenerEditorError) -> Result {
    do throws(TextError) { return try parse(text) } catch {
      // The reason comes first because a narrow screen cuts the end.
      let place = error.column.map { ", column \($0)" } ?? ""
      throw ListenerEditorError(reason: "\(error.reason) (\(name) '\(text.trimmed)'\(place))")
    }
  }
}
