// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The changes not yet sent to a stream's client: the newest state of each document, and the targets that the document
/// has joined or left since the client's last state. The memory for a slow client is therefore proportional to the
/// number of changed documents, not of commits. Beyond `keptBytes` only the names are stored, and the documents are
/// read again when they are sent.
struct PendingChanges {
  private struct Entry {
    /// The changed document; `nil` if it must be read again before it is sent.
    var document: Document?
    /// The affected targets, usually one.
    var memberships: [Membership]
  }

  private struct Membership {
    let target: TargetID
    let was: Bool
    var `is`: Bool
  }

  /// The number of documents beyond which the affected targets read their changes from the log instead.
  static let maximumCount = 1_000
  /// The size in bytes after which no more documents are stored.
  static let keptBytes = 256 << 10

  private var entries: [DocumentKey: Entry] = [:]
  private var order: ArraySlice<DocumentKey> = []
  private var bytes = 0
  /// The number of entries without their documents.
  private var unread = 0

  var isEmpty: Bool { entries.isEmpty }
  var isOverfull: Bool { entries.count > Self.maximumCount }
  /// Whether documents must be read again before they are sent.
  var needsReading: Bool { unread > 0 }
  /// The size of the stored documents in bytes.
  var heldBytes: Int { bytes }
  /// The targets that have pending changes.
  var targets: Set<TargetID> { entries.values.reduce(into: []) { $0.formUnion($1.memberships.map(\.target)) } }

  mutating func record(_ change: MembershipChange, for target: TargetID) {
    let key = change.document.key
    let membership = Membership(target: target, was: change.wasMember, is: change.isMember)
    guard var entry = entries.removeValue(forKey: key) else {
      order.append(key)
      entries[key] = Entry(document: keep(change), memberships: [membership])
      return
    }
    letGo(entry)
    entry.document = keep(change)
    if let index = entry.memberships.firstIndex(where: { $0.target == target }) {
      entry.memberships[index].is = membership.is
    } else {
      entry.memberships.append(membership)
    }
    entries[key] = entry
  }

  private mutating func keep(_ change: MembershipChange) -> Document? {
    if bytes >= Self.keptBytes || !change.isWhole {
      unread += 1
      return nil
    }
    bytes += change.document.storedSize
    return change.document
  }

  private mutating func letGo(_ entry: Entry) {
    if let document = entry.document { bytes -= document.storedSize } else { unread -= 1 }
  }

  /// Drops the pending changes of a target.
  mutating func forget(_ target: TargetID) {
    for (key, var entry) in entries where entry.memberships.contains(where: { $0.target == target }) {
      entry.memberships.removeAll { $0.target == target }
      entries[key] = entry
    }
  }

  mutating func removeAll() { self = PendingChanges() }

  /// Takes one message per document, in the order of the first changes, until the documents reach `limit` bytes.
  /// - Parameter reader: reads documents that are not stored; can be `nil` if all documents are stored.
  mutating func take(upTo limit: Int, _ reader: DocumentReader?) throws(StoreError) -> [WatchChange] {
    var (changes, size) = ([WatchChange](), 0)
    while size < limit, let key = order.popFirst() {
      guard let entry = entries.removeValue(forKey: key) else { continue }
      letGo(entry)
      let updated = entry.memberships.filter(\.is).map(\.target).sorted()
      let removed = entry.memberships.filter { $0.was && !$0.is }.map(\.target).sorted()
      // A document that was added and then removed needs no message.
      if updated.isEmpty, removed.isEmpty { continue }
      var told = entry.document
      if told == nil { told = try reader?.document(key) }
      guard let document = told else { continue }
      changes.append(.document(document, updated: updated, removed: removed))
      size += document.storedSize
    }
    if order.isEmpty { removeAll() }
    return changes
  }
}
