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
    /// The value's hash: values with other hashes are not compared.
    let hash: Int
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
    guard let position = position(of: id) else { return nil }
    return entries.withUnsafeBufferPointer { body($0[position].view) }
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
      return Equality(path: path, value: filter.value, hash: filter.value.hashValue)
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
    // The present document's values with their hashes, as far as they have been looked up.
    var values: [(value: Value?, hash: Int)?] = []
    // Ids come ascending, as the views lie: the next one is mostly the next view.
    var next = 0
    func isLeftOut(_ id: ViewID, _ document: Document) -> Bool {
      guard concernedOnly else { return false }
      if next >= entries.count || entries[next].id != id {
        guard let position = position(of: id) else { return false }
        next = position
      }
      defer { next += 1 }
      return entries.withUnsafeBufferPointer { entries in
        let path = entries[next].equality?.path
        guard let path else { return !entries[next].view.isConcerned(by: document) }
        if values.isEmpty { values = Array(repeating: nil, count: equalityPaths.count) }
        if values[path] == nil {
          let value = document[equalityPaths[path]]
          values[path] = (value, value?.hashValue ?? 0)
        }
        if values[path]?.hash == entries[next].equality?.hash, values[path]?.value == entries[next].equality?.value {
          return !entries[next].view.isConcerned(by: document)
        }
        return !entries[next].view.isConcerned(byNotMatching: document.key)
      }
    }
    var affected: [ViewID: [Document]] = [:]
    // Documents that change together are mostly of one collection.
    var collection: (path: ResourcePath, views: [ViewID])?
    for (key, document) in changes {
      if !values.isEmpty { values = [] }
      if !byDocument.isEmpty {
        for id in byDocument[key] ?? [] { affected[id, default: []].append(document) }
      }
      if !byCollection.isEmpty {
        if collection?.path.isParent(of: key.path) != true {
          let path = key.collection
          collection = (path, byCollection[path] ?? [])
        }
        for id in collection?.views ?? [] where !isLeftOut(id, document) {
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
}
