// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// The documents that a target with a limit shows, and some documents after them, so that a document that leaves the
/// window can usually be replaced without reading the store.
///
/// ```
/// documents in target order:   shown (limit) │ reserve │ not held
///                              ◄──── held ────────────►│ only if `isComplete` is false
/// ```
/// Invariant: matches that are not held sort after the last held document. For large documents, only the sort fields
/// are held.
struct LimitWindow {
  /// Documents in the target's order, whole or with only the sort fields.
  typealias Result = (documents: [Document], isThin: Bool)

  /// The maximum size in bytes of a window's whole documents. A larger window contains only their sort fields.
  static let wholeBytes = 256 << 10
  /// The maximum size in bytes of a whole document that is added later. Of a larger document, only the sort fields are
  /// stored.
  private static let smallBytes = 1 << 10

  let target: Target
  let limit: Int
  private var held: [Document] = []
  /// The keys of the documents that are stored with only their sort fields.
  private var thin: Set<DocumentKey> = []
  /// Whether the window contains all matches.
  private var isComplete = false
  private(set) var shown: Set<DocumentKey> = []

  init(_ target: Target, limit: Int) {
    self.target = target
    self.limit = limit
  }

  /// The maximum number of documents in the window: the limit plus a reserve, which is as large as the limit but at
  /// least 16 and at most 256.
  var capacity: Int { limit + min(max(limit, 16), 256, .max - limit) }

  var shownDocuments: ArraySlice<Document> { held.prefix(limit) }

  /// Reads the window again from the store.
  /// - Parameter read: returns the first documents in target order, up to a number.
  mutating func fill(_ read: (Int) throws(StoreError) -> Result) throws(StoreError) {
    let result = try read(capacity)
    held = result.documents
    thin = result.isThin ? Set(held.map(\.key)) : []
    isComplete = held.count < capacity
    shown = Set(shownDocuments.lazy.map(\.key))
  }

  /// Applies the transitions of one commit.
  /// - Parameter read: as for `fill`, at the version of the commit; called only if the reserve is used up.
  /// - Returns: the changes to send to the client.
  mutating func apply(
    _ transitions: [DocumentTransition], read: (Int) throws(StoreError) -> Result
  ) throws(StoreError) -> [MembershipChange] {
    var touched: [DocumentKey: Document] = [:]
    let edge = isComplete ? nil : held.last
    for transition in transitions {
      let removed = remove(transition)
      let inserted = insert(transition, before: edge)
      if removed || inserted { touched[transition.key] = transition.after }
    }
    if touched.isEmpty { return [] }

    let before = shown
    let previous = before.subtracting(touched.keys)
    var leaving: [DocumentKey: MembershipChange] = [:]
    for document in held.dropFirst(limit) where previous.contains(document.key) {
      leaving[document.key] = change(of: document, wasMember: true, isMember: false)
    }
    if held.count > capacity {
      for document in held[capacity...] { thin.remove(document.key) }
      held.removeLast(held.count - capacity)
      isComplete = false
    }
    if held.count < limit, !isComplete { try fill(read) } else { shown = Set(shownDocuments.lazy.map(\.key)) }

    var changes: [MembershipChange] = []
    for key in before where !shown.contains(key) {
      // A document that left the window and was held before the commit is in `touched` or `leaving`.
      if let document = touched[key] {
        changes.append(MembershipChange(document: document, wasMember: true, isMember: false))
      } else if let change = leaving[key] {
        changes.append(change)
      }
    }
    for document in shownDocuments where touched[document.key] != nil || !before.contains(document.key) {
      let wasMember = before.contains(document.key)
      changes.append(
        touched[document.key].map { MembershipChange(document: $0, wasMember: wasMember, isMember: true) }
          ?? change(of: document, wasMember: wasMember, isMember: true))
    }
    return changes
  }

  private func change(of document: Document, wasMember: Bool, isMember: Bool) -> MembershipChange {
    MembershipChange(
      document: document, wasMember: wasMember, isMember: isMember, isWhole: !thin.contains(document.key))
  }

  private mutating func remove(_ transition: DocumentTransition) -> Bool {
    guard let before = transition.before, target.holds(before), let index = position(of: before) else { return false }
    held.remove(at: index)
    thin.remove(transition.key)
    return true
  }

  private mutating func insert(_ transition: DocumentTransition, before edge: Document?) -> Bool {
    guard target.holds(transition.after) else { return false }
    if let edge, target.compare(transition.after, edge, by: .backend) == .descending { return false }
    let isSmall = transition.after.storedSize <= Self.smallBytes
    if !isSmall { thin.insert(transition.key) }
    held.insert(
      isSmall ? transition.after : transition.after.thinned(for: target), at: insertionIndex(of: transition.after))
    return true
  }

  private func insertionIndex(of document: Document) -> Int {
    held.indices.partitioningIndex { target.compare(held[$0], document, by: .backend) != .ascending }
  }

  private func position(of document: Document) -> Int? {
    let index = insertionIndex(of: document)
    return index < held.count && held[index].key == document.key ? index : nil
  }
}

/// A change to one document, to be sent to a target's client.
struct MembershipChange {
  /// The document's current state.
  var document: Document
  var wasMember: Bool
  var isMember: Bool
  /// Whether the document has all its fields; otherwise it is read again when it is sent.
  var isWhole = true
}

/// A scan in slices for the first documents of a target with a limit. All slices read one version. Unless the target is
/// sorted in storage order, all matches must be read.
struct WindowScan {
  /// The ratio of the bytes read in one slice to the bytes sent in one step.
  private static let bytesRead = 16

  let version: Int64
  private var top: TopDocuments
  private var position: DocumentPosition?
  /// The documents that changed since the scan's version.
  private(set) var touched: Set<DocumentKey> = []
  private(set) var isDone = false

  /// - Parameter bytes: the maximum size in bytes of all whole documents together; beyond it, only the sort fields are
  ///   stored.
  init(_ target: Target, limit: Int, at version: Int64, holding bytes: Int) {
    self.version = version
    top = TopDocuments(target, limit: limit, holding: bytes)
  }

  /// Records the documents that a commit changed.
  mutating func note(_ transitions: [DocumentTransition]) { touched.formUnion(transitions.lazy.map(\.key)) }

  /// Reads the next slice.
  /// - Parameter limit: the size of the documents sent in one step, in bytes.
  mutating func read(_ target: Target, _ reader: DocumentReader, upTo limit: Int) throws(StoreError) {
    // Documents selected by name are few, and read together.
    let readable = KeyRange(target).keys == nil ? min(limit, 1 << 40) * Self.bytesRead : .max
    var bytes = 0
    position = try reader.at(version).scanMatches(
      of: ServedQuery(target), after: position, rows: SessionTarget.stepSize
    ) { document in
      bytes += document.storedSize
      top.add(document)
      return bytes < readable
    }
    isDone = position == nil
  }

  mutating func finish() -> LimitWindow.Result { top.finish() }

  /// The changes of the recorded documents since the scan's version.
  func transitions(_ reader: DocumentReader) throws(StoreError) -> [DocumentTransition] {
    var transitions: [DocumentTransition] = []
    for key in touched {
      transitions.append(
        DocumentTransition(
          key: key, position: DocumentPosition(collection: 0, name: DocumentName(key.documentID)),
          before: try reader.at(version).stored(key)?.document, after: try reader.document(key)))
    }
    return transitions
  }
}
