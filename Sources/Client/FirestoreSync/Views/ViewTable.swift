// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The id of a view. Newer views have higher ids. Snapshots are delivered in ascending order of these ids.
struct ViewID: Hashable, Comparable, Sendable {
  let rawValue: Int
  static func < (left: ViewID, right: ViewID) -> Bool { left.rawValue < right.rawValue }
}

/// All views. They can be found by query, by target, and by the documents that they show or that may match.
struct ViewTable: Sendable {
  struct Entry: Sendable {
    let id: ViewID
    let target: TargetID
    var view: View
    /// The condition that decides which changes are passed to the view; `nil` if the query has no suitable condition.
    let equality: Equality?
    /// Whether the view shows documents, so that it must also receive documents that do not satisfy `equality`.
    fileprivate(set) var isOccupied = false
  }

  /// A field and its value, compared by strict equality.
  struct Equality: Hashable, Sendable {
    let path: FieldPath
    let value: Value
  }

  /// A view, and changed documents that may affect it.
  struct Concern: Sendable {
    let id: ViewID
    let documents: [Document]
    /// Whether the changed document matches the query, ignoring the limit. `nil` if unknown, or if there are several
    /// documents.
    var isMatch: Bool?
  }

  /// The views, in ascending order of their ids. An array allows reading a view without copying it. This matters
  /// because there may be many listeners, and copying a view takes longer than detecting that a change does not affect
  /// it.
  private var entries: [Entry] = []
  private var idOfQuery: [Query: ViewID] = [:]
  private var idsOfTarget: [TargetID: [ViewID]] = [:]
  private var byDocument: [DocumentKey: [ViewID]] = [:]
  private var byCollection: [ResourcePath: ViewRoute] = [:]
  /// The views of collection groups, by collection id. The id is stored as a path, because paths are compared byte by
  /// byte.
  private var byGroup: [ResourcePath: ViewRoute] = [:]
  /// The views that must process the backend's next snapshot even if no change affects them.
  private(set) var waiting: Set<ViewID> = []
  private var nextID = 0

  var ids: [ViewID] { entries.map(\.id) }
  var isEmpty: Bool { entries.isEmpty }
  func id(of query: Query) -> ViewID? { idOfQuery[query] }
  func ids(of target: TargetID) -> [ViewID] { idsOfTarget[target] ?? [] }
  var activeTargets: Int { idsOfTarget.count }

  /// A copy of a view.
  subscript(id: ViewID) -> Entry? { position(of: id).map { entries[$0] } }

  func target(of id: ViewID) -> TargetID? { position(of: id).map { entries[$0].target } }

  /// Reads a view without copying it.
  func read<Result>(_ id: ViewID, _ body: (View) -> Result) -> Result? {
    guard let position = position(of: id) else { return nil }
    return entries.withUnsafeBufferPointer { body($0[position].view) }
  }

  /// Changes a view in place.
  mutating func update<Result>(_ id: ViewID, _ body: (inout View) -> Result) -> Result? {
    guard let position = position(of: id) else { return nil }
    defer { noteState(position) }
    return body(&entries[position].view)
  }

  private func position(of id: ViewID) -> Int? {
    let index = entries.indices.partitioningIndex { entries[$0].id >= id }
    return index < entries.count && entries[index].id == id ? index : nil
  }

  mutating func insert(_ view: View, target: TargetID) -> ViewID {
    let id = ViewID(rawValue: nextID)
    nextID += 1
    let equality = view.query.routingEquality
    entries.append(Entry(id: id, target: target, view: view, equality: equality))
    idOfQuery[view.query] = id
    idsOfTarget[target, default: []].append(id)
    if view.query.isDocumentQuery {
      byDocument[DocumentKey(unchecked: view.query.path), default: []].append(id)
    } else {
      route(view.query) { $0.add(id, equality) }
    }
    noteState(entries.count - 1)
    return id
  }

  mutating func remove(_ id: ViewID) {
    guard let position = position(of: id) else { return }
    let entry = entries.remove(at: position)
    let query = entry.view.query
    waiting.remove(id)
    idOfQuery[query] = nil
    idsOfTarget[entry.target]?.removeAll { $0 == id }
    if idsOfTarget[entry.target]?.isEmpty ?? false { idsOfTarget[entry.target] = nil }
    if query.isDocumentQuery {
      let key = DocumentKey(unchecked: query.path)
      byDocument[key]?.removeAll { $0 == id }
      if byDocument[key]?.isEmpty ?? false { byDocument[key] = nil }
    } else {
      route(query) { $0.remove(id, entry.equality) }
    }
  }

  private mutating func route(_ query: Query, _ edit: (inout ViewRoute) -> Void) {
    let table: WritableKeyPath<Self, [ResourcePath: ViewRoute]> =
      query.collectionGroup == nil ? \.byCollection : \.byGroup
    let path = query.collectionGroup.map { ResourcePath($0) } ?? query.path
    edit(&self[keyPath: table][path, default: ViewRoute()])
    if self[keyPath: table][path]?.isEmpty == true { self[keyPath: table][path] = nil }
  }

  /// Updates how changes are passed to a view after the view's state has changed.
  private mutating func noteState(_ position: Int) {
    let (id, isWaiting) = (entries[position].id, entries[position].view.waitsForSnapshot)
    if isWaiting {
      waiting.insert(id)
    } else if !waiting.isEmpty {
      waiting.remove(id)
    }
    guard entries[position].equality != nil else { return }
    let isOccupied = isWaiting || !entries[position].view.documents.isEmpty
    guard isOccupied != entries[position].isOccupied else { return }
    entries[position].isOccupied = isOccupied
    route(entries[position].view.query) { $0.setOccupied(id, isOccupied) }
  }

  // MARK: Changes

  /// The views that the changes may affect, in ascending order of their ids. Does not read other views.
  func concerns(of changes: [DocumentKey: Document]) -> [Concern] {
    if changes.count == 1, let (key, document) = changes.first { return concerns(of: document, key) }
    var affected: [ViewID: [Document]] = [:]
    // Documents that change together are usually in one collection.
    var collection: (path: ResourcePath, route: ViewRoute?)?
    for (key, document) in changes {
      if !byDocument.isEmpty {
        for id in byDocument[key] ?? [] { affected[id, default: []].append(document) }
      }
      if !byCollection.isEmpty {
        if collection?.path.isParent(of: key.path) != true {
          let path = key.collection
          collection = (path, byCollection[path])
        }
        if let route = collection?.route { add(document, to: &affected, on: route) }
      }
      if !byGroup.isEmpty, let route = byGroup[ResourcePath(key.collectionGroup)] {
        add(document, to: &affected, on: route)
      }
    }
    return affected.map { Concern(id: $0, documents: $1) }.sorted { $0.id < $1.id }
  }

  private func add(_ document: Document, to affected: inout [ViewID: [Document]], on route: ViewRoute) {
    for id in route.candidates(for: document) { affected[id, default: []].append(document) }
    for id in route.occupied {
      if otherwiseOccupied(id, document) != nil { affected[id, default: []].append(document) }
    }
  }

  /// The position of a view that must receive a document although the document does not satisfy the view's `equality`.
  private func otherwiseOccupied(_ id: ViewID, _ document: Document) -> Int? {
    guard let position = position(of: id), let equality = entries[position].equality,
      document[equality.path] != equality.value
    else { return nil }
    return position
  }

  /// The views that one document affects, because they show it or because it matches.
  private func concerns(of document: Document, _ key: DocumentKey) -> [Concern] {
    let documents = [document]
    var found = (byDocument.isEmpty ? [] : byDocument[key] ?? []).map { Concern(id: $0, documents: documents) }
    for route in [
      byCollection.isEmpty ? nil : byCollection[key.collection],
      byGroup.isEmpty ? nil : byGroup[ResourcePath(key.collectionGroup)],
    ] {
      guard let route else { continue }
      for id in route.candidates(for: document) {
        guard let position = position(of: id) else { continue }
        let isMatch = entries.withUnsafeBufferPointer { $0[position].view.matches(document) }
        if isMatch || isConcerned(position, key) {
          found.append(Concern(id: id, documents: documents, isMatch: isMatch))
        }
      }
      for id in route.occupied {
        guard let position = otherwiseOccupied(id, document), isConcerned(position, key) else { continue }
        found.append(Concern(id: id, documents: documents, isMatch: false))
      }
    }
    found.sort { $0.id < $1.id }
    return found
  }

  private func isConcerned(_ position: Int, _ key: DocumentKey) -> Bool {
    entries.withUnsafeBufferPointer { $0[position].view.isConcerned(byNotMatching: key) }
  }
}

extension Query {
  /// A condition of the query that requires a field to be strictly equal to a value; `nil` if the query has no such
  /// condition.
  fileprivate var routingEquality: ViewTable.Equality? {
    for case .field(let filter) in filters where filter.op == .equal && !filter.path.isDocumentID {
      switch filter.value {
      case .string, .boolean, .timestamp: return ViewTable.Equality(path: filter.path, value: filter.value)
      default: continue
      }
    }
    return nil
  }
}

/// The views of one collection or group, grouped by the value that their queries require for a field. Queries that
/// require a value that a document does not have are skipped for this document.
struct ViewRoute: Sendable {
  /// The views whose queries do not require a certain value for a field.
  private var others: [ViewID] = []
  private var byValue: [FieldPath: [Value: [ViewID]]] = [:]
  /// The views that show documents. They must also receive documents that do not satisfy their condition.
  private(set) var occupied: Set<ViewID> = []

  var isEmpty: Bool { others.isEmpty && byValue.isEmpty }

  mutating func add(_ id: ViewID, _ equality: ViewTable.Equality?) {
    guard let equality else { return others.append(id) }
    byValue[equality.path, default: [:]][equality.value, default: []].append(id)
  }

  mutating func remove(_ id: ViewID, _ equality: ViewTable.Equality?) {
    occupied.remove(id)
    guard let equality else { return others.removeAll { $0 == id } }
    byValue[equality.path]?[equality.value]?.removeAll { $0 == id }
    if byValue[equality.path]?[equality.value]?.isEmpty == true { byValue[equality.path]?[equality.value] = nil }
    if byValue[equality.path]?.isEmpty == true { byValue[equality.path] = nil }
  }

  mutating func setOccupied(_ id: ViewID, _ isOccupied: Bool) {
    if isOccupied { occupied.insert(id) } else { occupied.remove(id) }
  }

  /// The views that a document may match.
  func candidates(for document: Document) -> [ViewID] {
    if byValue.isEmpty { return others }
    var ids = others
    for (path, views) in byValue {
      if let value = document[path], let equal = views[value] { ids += equal }
    }
    return ids
  }
}
