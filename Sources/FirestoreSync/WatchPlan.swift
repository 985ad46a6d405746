// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreModel
package import FirestoreProtocol

/// What is to be watched, and what of it has not been said on the open stream yet.
///
/// Requests are pulled one by one. Those not taken yet coalesce: a target is added, removed, or removed and added
/// again, never more, so the plan never outgrows the number of targets.
package struct WatchPlan: Sendable {
  private struct Unsaid: Sendable {
    var removes: Bool
    var adds: TargetPurpose?
    /// Send the target without a position: its documents did not add up.
    var startsOver = false
  }

  package enum Next: Sendable {
    case remove(TargetID)
    case add(TargetData, startsOver: Bool)
  }

  /// The wanted targets with their newest positions.
  package private(set) var targets: [TargetID: TargetData] = [:]
  private var unsaid: [TargetID: Unsaid] = [:]
  private var order: [TargetID] = []

  package var isEmpty: Bool { targets.isEmpty }
  package var count: Int { targets.count }
  package var hasUnsaid: Bool { !unsaid.isEmpty }

  /// The target, if it is wanted and everything about it has been said on the stream.
  package func watched(_ id: TargetID) -> TargetData? { unsaid[id] == nil ? targets[id] : nil }

  package func wants(_ id: TargetID) -> Bool { targets[id] != nil }

  mutating func want(_ data: TargetData) { targets[data.id] = data }

  mutating func unwant(_ id: TargetID) { targets[id] = nil }

  /// The backend has a newer position for a target.
  mutating func update(_ id: TargetID, token: ResumeToken, at version: SnapshotVersion?) {
    targets[id]?.resumeToken = token
    targets[id]?.snapshotVersion = version
  }

  // MARK: The open stream

  /// A new stream knows nothing: everything has to be said.
  mutating func streamOpened() {
    streamClosed()
    for id in targets.keys.sorted() { sayAdd(id) }
  }

  mutating func streamClosed() { (unsaid, order) = ([:], []) }

  mutating func sayAdd(_ id: TargetID) {
    guard let data = targets[id] else { return }
    append(id) { $0.adds = data.purpose }
  }

  mutating func sayRemove(_ id: TargetID) {
    guard let waiting = unsaid[id] else { return append(id) { $0.removes = true } }
    if waiting.removes {
      unsaid[id]?.adds = nil
    } else {
      unsaid[id] = nil  // The addition was never said, so there is nothing to take back.
      order.removeAll { $0 == id }
    }
  }

  /// The backend ended the target before it was told to.
  /// - Returns: whether a removal had yet to be said.
  mutating func forgetUnsaidRemoval(of id: TargetID) -> Bool {
    guard unsaid[id]?.removes == true else { return false }
    unsaid[id]?.removes = false
    if unsaid[id]?.adds == nil {
      unsaid[id] = nil
      order.removeAll { $0 == id }
    }
    return true
  }

  /// The documents of a target did not add up: say it again, without a position. The old position is forgotten, so
  /// that a stream that breaks before the new one is known does not resume from a wrong state.
  mutating func sayAgain(_ id: TargetID, for purpose: TargetPurpose) {
    guard targets[id] != nil else { return }
    targets[id]?.resumeToken = nil
    targets[id]?.snapshotVersion = nil
    append(id) { unsaid in
      unsaid.removes = unsaid.removes || unsaid.adds == nil
      unsaid.adds = purpose
      unsaid.startsOver = true
    }
  }

  private mutating func append(_ id: TargetID, _ edit: (inout Unsaid) -> Void) {
    if unsaid[id] == nil { order.append(id) }
    edit(&unsaid[id, default: Unsaid(removes: false)])
  }

  /// Takes the next request; it counts as said from here on.
  mutating func takeNext() -> Next? {
    while let id = order.first, let next = unsaid[id] {
      if next.removes {
        unsaid[id]?.removes = false
        if next.adds == nil { finish(id) }
        return .remove(id)
      }
      finish(id)
      guard let purpose = next.adds, var data = targets[id] else { continue }
      data.purpose = purpose
      return .add(data, startsOver: next.startsOver)
    }
    return nil
  }

  private mutating func finish(_ id: TargetID) {
    unsaid[id] = nil
    order.removeFirst()
  }
}
