// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Names a view; later views have higher ids, which is the order in which snapshots are made.
struct ViewID: Hashable, Comparable, Sendable {
  let rawValue: Int
  static func < (left: ViewID, right: ViewID) -> Bool { left.rawValue < right.rawValue }
}

/// All views, found by query, by target, and by the documents that could match.
struct ViewTable: Sendable {
  struct Entry: Sendable {
    let id: ViewID
    let target: TargetID
    var view: View
    /// A condition of the query.
    let equality: Equality?
  }

  /// A field that has a value; the field is given by its place in `equalityPaths`. Among many queries, most ask for
  /// another value than a document has, which is found out without asking each of them.
  struct Equality: Sendable {
    let path: Int
    let value: Value
  }

  /// The views, ascending by id. They are in an array, so that a view is read without a copy: there may be many
  /// listeners, and copying a view costs more than finding out that a change does not concern it.
  private var entries: [Entry] = []
  private var idOfQuery: [Query: ViewID] = [:]
  private var idsOfTarget: [TargetID: [ViewID]] = [:]
  private var byDocument: [DocumentKey: [ViewID]] = [:]
  private var byCollection: [ResourcePath: [ViewID]] = [:]
  /// Views of collection groups, by the collection id as a path, whose identity is bytewise.
  private var byGroup: [ResourcePath: [ViewID]] = [:]
  private var equalityPaths: [FieldPath] = []
  private var nextID = 0

  var ids: [ViewID] { entries.map(\.id) }
  var isEmpty: Bool { entries.isEmpty }
  func id(of query: Query) -> ViewID? { idOfQuery[query] }
  func ids(of target: TargetID) -> [ViewID] { idsOfTarget[target] ?? [] }
  var activeTargets: Int { idsOfTarget.count }

  /// A copy of a view.
  subscript(id: ViewID) -> Entry? { position(of: id).map { entries[$0] } }

  func target(of id: ViewID) -> TargetID? { position(of: id).map { entries[$0].target } }

  /// Looks at a view without copying it.
  func read<Result>(_ id: ViewID, _ body: (View) -> Result) -> Result? {
    position(of: id).map { body(entries[$0].view) }
  }

  /// Changes a view in place.
  mutating func update<Result>(_ id: ViewID, _ body: (inout View) -> Result) -> Result? {
    guard let position = position(of: id) else { return nil }
    return body(&entries[position].view)
  }

  private func position(of id: ViewID) -> Int? {
    let index = entries.indices.partitioningIndex { entries[$0].id >= id }
    return index < entries.count && entries[index].id == id ? index : nil
  }

  mutating func insert(_ view: View, target: TargetID) -> ViewID {
    let id = ViewID(rawValue: nextID)
    nextID += 1
    entries.append(Entry(id: id, target: target, view: view, equality: equality(in: view.query)))
    idOfQuery[view.query] = id
    idsOfTarget[target, default: []].append(id)
    route(view.query) { $0.append(id) }
    return id
  }

  mutating func remove(_ id: ViewID) {
    guard let position = position(of: id) else { return }
    let entry = entries.remove(at: position)
    idOfQuery[entry.view.query] = nil
    idsOfTarget[entry.target]?.removeAll { $0 == id }
    if idsOfTarget[entry.target]?.isEmpty ?? false { idsOfTarget[entry.target] = nil }
    route(entry.view.query) { $0.removeAll { $0 == id } }
  }

  /// - Returns: `nil` if the query has no such condition that strict equality of values decides.
  private mutating func equality(in query: Query) -> Equality? {
    for case .field(let filter) in query.filters where filter.op == .equal && !filter.path.isDocumentID {
      switch filter.value {
      case .string, .boolean, .timestamp: break
      default: continue
      }
      let path = equalityPaths.firstIndex(of: filter.path) ?? equalityPaths.count
      if path == equalityPaths.count { equalityPaths.append(filter.path) }
      return Equality(path: path, value: filter.value)
    }
    return nil
  }

  private mutating func route(_ query: Query, _ edit: (inout [ViewID]) -> Void) {
    func edited(_ ids: [ViewID]?) -> [ViewID]? {
      var ids = ids ?? []
      edit(&ids)
      return ids.isEmpty ? nil : ids
    }
    if let group = query.collectionGroup {
      let group = ResourcePath(group)
      byGroup[group] = edited(byGroup[group])
    } else if query.isDocumentQuery {
      let key = DocumentKey(unchecked: query.path)
      byDocument[key] = edited(byDocument[key])
    } else {
      byCollection[query.path] = edited(byCollection[query.path])
    }
  }

  /// The changed documents by the views that could show them, as far as their paths tell; no other view is looked at.
  /// - Parameter concernedOnly: leaves out views that do not show the document and do not match it.
  func affected(by changes: [DocumentKey: Document], concernedOnly: Bool) -> [ViewID: [Document]] {
    // The present document's values, as far as they have been looked up.
    var values: [Value??] = []
    func isLeftOut(_ id: ViewID, _ document: Document) -> Bool {
      guard concernedOnly, let position = position(of: id) else { return false }
      return entries.withUnsafeBufferPointer { entries in
        guard let equality = entries[position].equality else {
          return !entries[position].view.isConcerned(by: document)
        }
        if values.isEmpty { values = Array(repeating: nil, count: equalityPaths.count) }
        let value: Value?
        if let known = values[equality.path] {
          value = known
        } else {
          value = document[equalityPaths[equality.path]]
          values[equality.path] = .some(value)
        }
        if value == equality.value { return !entries[position].view.isConcerned(by: document) }
        return !entries[position].view.isConcerned(byNotMatching: document.key)
      }
    }
    var affected: [ViewID: [Document]] = [:]
    for (key, document) in changes {
      values = []
      for id in byDocument[key] ?? [] { affected[id, default: []].append(document) }
      if !byCollection.isEmpty {
        for id in byCollection[key.collection] ?? [] where !isLeftOut(id, document) {
          affected[id, default: []].append(document)
        }
      }
      if !byGroup.isEmpty {
        for id in byGroup[ResourcePath(key.collectionGroup)] ?? [] where !isLeftOut(id, document) {
          affected[id, default: []].append(document)
        }
      }
    }
    return affected
  }

  /// The keys that the backend confirmed for a target, one set per view (S2).
  func syncedKeys(of target: TargetID) -> [Set<DocumentKey>] {
    ids(of: target).compactMap { read($0, \.syncedKeys) }
  }
}
