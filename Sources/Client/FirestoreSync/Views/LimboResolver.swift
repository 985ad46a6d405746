// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol

/// Looks up documents in limbo: documents that a view shows although the backend did not list them. Each document has
/// only one lookup. Lookups start in the order in which they were requested, and at most `maximum` run at a time.
/// Lookups have odd target ids, which are never reused.
package struct LimboResolver: Sendable {
  private struct Resolution: Sendable {
    var key: DocumentKey
    /// Whether the backend has reported that the document exists.
    var hasReceivedDocument = false
  }

  /// The same maximum as in the SDK (firestore_client: kMaxConcurrentLimboResolutions).
  package static let defaultMaximum = 100

  private let maximum: Int
  private var nextID: Int32 = 1
  private var interest: [DocumentKey: Set<ViewID>] = [:]
  private var keysOfView: [ViewID: Set<DocumentKey>] = [:]
  private var waiting = WaitingList()
  private var resolutions: [TargetID: Resolution] = [:]
  private var targetOfKey: [DocumentKey: TargetID] = [:]

  package init(maximum: Int = LimboResolver.defaultMaximum) { self.maximum = maximum }

  package var active: [DocumentKey: TargetID] { targetOfKey }
  package var enqueued: [DocumentKey] { waiting.keys }

  /// The key of the document that a resolution looks up.
  package func key(of resolution: TargetID) -> DocumentKey? { resolutions[resolution]?.key }

  /// The keys that the backend confirmed for a resolution (S2).
  package func syncedKeys(of resolution: TargetID) -> Set<DocumentKey>? {
    resolutions[resolution].map { $0.hasReceivedDocument ? [$0.key] : [] }
  }

  /// Records that the document is in limbo for the view.
  mutating func add(_ key: DocumentKey, for view: ViewID) {
    interest[key, default: []].insert(view)
    keysOfView[view, default: []].insert(key)
    if targetOfKey[key] == nil { waiting.append(key) }
  }

  /// Records that the document is no longer in limbo for this view.
  /// - Returns: the resolution, if no view needs it any more; otherwise `nil`.
  mutating func remove(_ key: DocumentKey, for view: ViewID) -> TargetID? {
    keysOfView[view]?.remove(key)
    interest[key]?.remove(view)
    guard interest[key]?.isEmpty ?? true else { return nil }
    interest[key] = nil
    waiting.remove(key)
    guard let resolution = targetOfKey.removeValue(forKey: key) else { return nil }
    resolutions[resolution] = nil
    return resolution
  }

  /// Records that the view was closed, or no longer has any document in limbo.
  /// - Returns: the resolutions that no view needs any more.
  mutating func removeAll(for view: ViewID) -> [TargetID] {
    let keys = keysOfView.removeValue(forKey: view) ?? []
    return keys.sorted().compactMap { remove($0, for: view) }
  }

  /// Ends a resolution that the backend rejected. The document remains in limbo in the views.
  mutating func refused(_ resolution: TargetID) {
    guard let key = resolutions.removeValue(forKey: resolution)?.key else { return }
    targetOfKey[key] = nil
  }

  /// Records whether the backend has sent the document.
  mutating func receive(_ change: TargetChange, for resolution: TargetID) {
    if !change.added.isEmpty || !change.modified.isEmpty {
      resolutions[resolution]?.hasReceivedDocument = true
    } else if !change.removed.isEmpty {
      resolutions[resolution]?.hasReceivedDocument = false
    }
  }

  /// Starts waiting resolutions until the maximum is reached.
  mutating func start() -> [(id: TargetID, key: DocumentKey)] {
    var started: [(TargetID, DocumentKey)] = []
    while targetOfKey.count < maximum, let key = waiting.popFirst() {
      let id = TargetID(nextID)
      nextID += 2
      resolutions[id] = Resolution(key: key)
      targetOfKey[key] = id
      started.append((id, key))
    }
    return started
  }
}

/// A queue of keys without duplicates. Any key can be removed in constant time.
private struct WaitingList: Sendable {
  /// The queue. Entries whose tickets were removed are still in it and are skipped later.
  private var queue: [(ticket: Int, key: DocumentKey)] = []
  private var head = 0
  private var tickets: [DocumentKey: Int] = [:]
  private var nextTicket = 0

  var keys: [DocumentKey] { queue[head...].filter { tickets[$0.key] == $0.ticket }.map(\.key) }

  mutating func append(_ key: DocumentKey) {
    guard tickets[key] == nil else { return }
    tickets[key] = nextTicket
    queue.append((nextTicket, key))
    nextTicket += 1
  }

  mutating func remove(_ key: DocumentKey) { tickets[key] = nil }

  mutating func popFirst() -> DocumentKey? {
    while head < queue.count {
      let (ticket, key) = queue[head]
      head += 1
      if tickets[key] == ticket {
        tickets[key] = nil
        return key
      }
    }
    (queue, head) = ([], 0)
    return nil
  }
}
