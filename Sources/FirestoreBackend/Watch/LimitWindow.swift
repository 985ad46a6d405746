// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// The documents that a target with a limit shows, and some that come after them, so that a document which leaves the
/// window is mostly replaced without asking the store.
///
/// ```
/// documents in target order:   shown (limit) │ reserve │ not held
///                              ◄──── held ────────────►│ only if `isComplete` is false
/// ```
/// Invariant: whatever matches and is not held comes after the last held document. Where the documents are large, only the
/// fields are held by which they are sorted.
struct LimitWindow {
  /// Documents in the target's order, whole or with the fields by which they are sorted.
  typealias Result = (documents: [Document], isThin: Bool)

  /// What a window's documents hold that are whole.
  static let wholeBytes = 256 << 10
  /// A document that comes later and is larger is not held whole.
  private static let smallBytes = 1 << 10

  let target: Target
  let limit: Int
  private var held: [Document] = []
  /// Those that are held without all of their fields.
  private var thin: Set<DocumentKey> = []
  /// Nothing matches that is not held.
  private var isComplete = false
  private(set) var shown: Set<DocumentKey> = []

  init(_ target: Target, limit: Int) {
    self.target = target
    self.limit = limit
  }

  /// How many documents are held at most: the limit and as many again, within reason.
  var capacity: Int { limit + min(max(limit, 16), 256, .max - limit) }

  var shownDocuments: ArraySlice<Document> { held.prefix(limit) }

  /// Starts over with what the store holds.
  /// - Parameter read: the first documents in target order, up to a number.
  mutating func fill(_ read: (Int) throws(StoreError) -> Result) throws(StoreError) {
    let result = try read(capacity)
    held = result.documents
    thin = result.isThin ? Set(held.map(\.key)) : []
    isComplete = held.count < capacity
    shown = Set(shownDocuments.lazy.map(\.key))
  }

  /// Applies the transitions of one commit.
  /// - Parameter read: as for `fill`, after the commit; asked only when the reserve is used up.
  /// - Returns: what the client must be told.
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
      // Neither touched nor held any more it cannot be: it was held before the commit.
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
    if let edge, target.compare(transition.after, edge) == .descending { return false }
    let isSmall = transition.after.storedSize <= Self.smallBytes
    if !isSmall { thin.insert(transition.key) }
    held.insert(
      isSmall ? transition.after : transition.after.thinned(for: target), at: insertionIndex(of: transition.after))
    return true
  }

  private func insertionIndex(of document: Document) -> Int {
    held.indices.partitioningIndex { target.compare(held[$0], document) != .ascending }
  }

  private func position(of document: Document) -> Int? {
    let index = insertionIndex(of: document)
    return index < held.count && held[index].key == document.key ? index : nil
  }
}

/// What a target's client is told about one document.
struct MembershipChange {
  /// As it is now.
  var document: Document
  var wasMember: Bool
  var isMember: Bool
  /// Otherwise it is to be read when it is told.
  var isWhole = true
}
