// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// What a stream's client has not been told yet: the newest state of each document and how it stands to each target,
/// compared with what the client knows. A slow client thus costs memory per document, not per commit; of more than a few
/// documents it costs that of their names, and they are read again when they are told.
struct PendingChanges {
  private struct Entry {
    /// `nil` for one that is read when it is told.
    var document: Document?
    /// Of one target mostly.
    var memberships: [Membership]
  }

  private struct Membership {
    let target: TargetID
    let was: Bool
    var `is`: Bool
  }

  /// Above this the targets concerned read from the log what changed, once it is told.
  static let maximumCount = 1_000
  /// What the documents hold that are kept, but for the last of them.
  static let keptBytes = 256 << 10

  private var entries: [DocumentKey: Entry] = [:]
  private var order: ArraySlice<DocumentKey> = []
  private var bytes = 0
  /// Entries without their documents.
  private var unread = 0

  var isEmpty: Bool { entries.isEmpty }
  var isOverfull: Bool { entries.count > Self.maximumCount }
  /// Whether documents have to be read to be told.
  var needsReading: Bool { unread > 0 }
  /// What the documents hold that are kept.
  var heldBytes: Int { bytes }
  /// The targets that something is pending for.
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

  /// Forgets what is pending for a target.
  mutating func forget(_ target: TargetID) {
    for (key, var entry) in entries where entry.memberships.contains(where: { $0.target == target }) {
      entry.memberships.removeAll { $0.target == target }
      entries[key] = entry
    }
  }

  mutating func removeAll() { self = PendingChanges() }

  /// One message per document, in the order in which they first changed, until they hold as much as asked for.
  /// - Parameter reader: needed where documents have to be read.
  mutating func take(upTo limit: Int, _ reader: DocumentReader?) throws(StoreError) -> [WatchChange] {
    var (changes, size) = ([WatchChange](), 0)
    while size < limit, let key = order.popFirst() {
      guard let entry = entries.removeValue(forKey: key) else { continue }
      letGo(entry)
      let updated = entry.memberships.filter(\.is).map(\.target).sorted()
      let removed = entry.memberships.filter { $0.was && !$0.is }.map(\.target).sorted()
      // It came and went while the client was not looking.
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
