// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// A listener being written: a collection, a document or a collection group, with clauses, orders and a limit.
package struct ListenerEditor: Sendable {
  struct Clause: Hashable, Sendable {
    var path = TextField()
    var op = FieldFilter.Operator.equal
    var value = TextField()

    var isEmpty: Bool { path.isEmpty && value.isEmpty }
  }

  /// The places that `tab` visits, in order.
  enum Slot: Hashable, Sendable {
    case name, from, group
    case path(Int)
    case op(Int)
    case value(Int)
    case order, limit, source, metadata
  }

  var name = TextField()
  var from = TextField()
  var isGroup = false
  /// Always ends with an empty clause to type into.
  var clauses = [Clause()]
  var order = TextField()
  var limit = TextField()
  var source = ListenerOptions.Source.default
  var includesMetadata = true
  var slot = Slot.from
  /// The listener whose place it is to take; `nil` for a new one.
  var replaced: ListenerTag?
  /// What the cache was asked about last, and what it said of that.
  var previewed: Query?
  var preview: ClientEvent.PreviewResult?
  /// When the cache is asked again, since documents have changed; `nil` if none have.
  var recountAt: Timestamp?

  init() {}

  var slots: [Slot] {
    [.name, .from, .group] + clauses.indices.flatMap { [Slot.path($0), .op($0), .value($0)] }
      + [.order, .limit, .source, .metadata]
  }

  /// The line under the cursor; `nil` on an option.
  var focusedField: TextField? {
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

  mutating func move(by step: Int) {
    let slots = slots
    let index = slots.firstIndex(of: slot) ?? 0
    slot = slots[((index + step) % slots.count + slots.count) % slots.count]
  }

  /// Switches the option under the cursor; in a clause, the operator.
  mutating func toggle() {
    switch slot {
    case .group: isGroup.toggle()
    case .source: source = source == .default ? .cache : .default
    case .metadata: includesMetadata.toggle()
    case .path(let index), .op(let index), .value(let index):
      let all = FieldFilter.Operator.allCases
      guard clauses.indices.contains(index), let at = all.firstIndex(of: clauses[index].op) else { return }
      clauses[index].op = all[(at + 1) % all.count]
    case .name, .from, .order, .limit: break
    }
  }

  mutating func removeClause() {
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
  /// The text of a listener, to be changed; `nil` for one that has what the editor has no fields for.
  init?(_ definition: ListenerDefinition, in database: DatabaseID) {
    let query = definition.query
    name = TextField(definition.name)
    from = TextField(query.collectionGroup ?? query.path.text)
    isGroup = query.collectionGroup != nil
    clauses = query.filters.compactMap { filter in
      guard case .field(let filter) = filter else { return nil }
      return Clause(
        path: TextField(filter.path.canonicalText), op: filter.op, value: TextField(TypedValue.text(of: filter.value)))
    }
    clauses.append(Clause())
    let orders = query.explicitOrderBy.map { order in
      order.path.canonicalText + (order.direction == .descending ? " desc" : "")
    }
    order = TextField(orders.joined(separator: ", "))
    limit = TextField(query.limit.map { "\($0)" } ?? "")
    source = definition.options.source
    includesMetadata = definition.options.includeMetadataChanges
    // Cursors, alternatives and names with commas do not come back as they were.
    guard (try? self.query(in: database)) == query, options == definition.options else { return nil }
  }
}

/// Why the editor's text is not a listener yet.
struct ListenerEditorError: Error, Hashable {
  var reason: String
}

extension ListenerEditor {
  var options: ListenerOptions {
    ListenerOptions(includeMetadataChanges: includesMetadata, source: source)
  }

  /// The query that the text means, checked as Firestore would.
  func query(in database: DatabaseID) throws(ListenerEditorError) -> Query {
    var query: Query
    do throws(ModelError) {
      let path = try ResourcePath(validating: from.text)
      if isGroup {
        guard path.count == 1 else { throw ModelError("a collection group is one id, such as \(path.last)") }
        query = Query(path: .root, collectionGroup: path.text)
      } else {
        query = Query(path: path)
      }
      for clause in clauses where !clause.isEmpty { query.filters.append(.field(try filter(clause, in: database))) }
      query.explicitOrderBy = try orderings()
    } catch {
      throw ListenerEditorError(reason: from.isEmpty ? "from: type a collection, such as orders" : error.message)
    }
    if query.path.isDocument, !isGroup, !query.filters.isEmpty || !query.explicitOrderBy.isEmpty || !limit.isEmpty {
      throw ListenerEditorError(reason: "a document listener has no clauses, order or limit")
    }
    if !limit.isEmpty {
      guard let number = Int(limit.text), number > 0 else {
        throw ListenerEditorError(reason: "limit: \(limit.text) is not a positive number")
      }
      query.limit = number
    }
    do throws(QueryError) { try query.validate() } catch { throw ListenerEditorError(reason: error.message) }
    return query
  }

  private func filter(_ clause: Clause, in database: DatabaseID) throws(ModelError) -> FieldFilter {
    let path = try FieldPath(validating: clause.path.text)
    let value: Value
    do { value = try TypedValue.any(clause.value.text, database: database) } catch {
      throw ModelError("\(clause.path.text): \(error.reason)")
    }
    return FieldFilter(path, clause.op, value)
  }

  /// `total desc, name`
  private func orderings() throws(ModelError) -> [OrderBy] {
    var orderings: [OrderBy] = []
    for part in order.text.split(separator: ",") {
      let words = part.split(separator: " ")
      guard let first = words.first else { continue }
      let direction = words.count > 1 ? words[1].lowercased() : "asc"
      guard words.count <= 2, direction == "asc" || direction == "desc" else {
        throw ModelError("order by: write a field and asc or desc, not \(part)")
      }
      let path = try FieldPath(validating: String(first))
      orderings.append(OrderBy(path, direction == "desc" ? .descending : .ascending))
    }
    return orderings
  }
}
