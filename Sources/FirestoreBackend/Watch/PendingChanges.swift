// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// What a stream's client has not been told yet: the newest state of each document and how it stands to each target,
/// compared with what the client knows. A slow client thus costs memory per document, not per commit.
struct PendingChanges {
  private struct Entry {
    var document: Document
    var membership: [TargetID: (was: Bool, is: Bool)]
  }

  /// Above either, the targets concerned are reset instead.
  static let maximumCount = 5_000
  static let maximumBytes = 16 << 20

  private var entries: [DocumentKey: Entry] = [:]
  private var order: [DocumentKey] = []
  private var bytes = 0

  var isEmpty: Bool { entries.isEmpty }
  var isOverfull: Bool { entries.count > Self.maximumCount || bytes > Self.maximumBytes }
  /// The targets that something is pending for.
  var targets: Set<TargetID> { entries.values.reduce(into: []) { $0.formUnion($1.membership.keys) } }

  mutating func record(_ change: MembershipChange, for target: TargetID) {
    let key = change.document.key
    let membership = (was: change.wasMember, is: change.isMember)
    bytes += change.document.storedSize
    guard var entry = entries[key] else {
      entries[key] = Entry(document: change.document, membership: [target: membership])
      order.append(key)
      return
    }
    bytes -= entry.document.storedSize
    entry.document = change.document
    entry.membership[target] = (was: entry.membership[target]?.was ?? membership.was, is: membership.is)
    entries[key] = entry
  }

  /// Forgets what is pending for a target.
  mutating func forget(_ target: TargetID) {
    for (key, var entry) in entries where entry.membership[target] != nil {
      entry.membership[target] = nil
      entries[key] = entry
    }
  }

  mutating func removeAll() { self = PendingChanges() }

  /// One message per document, in the order in which they first changed; then nothing is pending.
  mutating func take() -> [WatchChange] {
    let changes = order.compactMap { key -> WatchChange? in
      guard let entry = entries[key] else { return nil }
      let updated = entry.membership.filter(\.value.is).keys.sorted()
      let removed = entry.membership.filter { $0.value.was && !$0.value.is }.keys.sorted()
      // It came and went while the client was not looking.
      if updated.isEmpty, removed.isEmpty { return nil }
      return .document(entry.document, updated: updated, removed: removed)
    }
    removeAll()
    return changes
  }
}
