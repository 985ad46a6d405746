// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreModel
package import FirestoreProtocol

/// The targets to watch, and the requests for them that have not yet been sent on the open stream.
///
/// Requests are taken one at a time. All waiting requests for a target are combined into one: to add it, to remove it,
/// or to remove it and add it again. Therefore the plan never has more requests than targets.
package struct WatchPlan: Sendable {
  private struct Request: Sendable {
    var removes: Bool
    var adds: TargetPurpose?
    /// Whether the target is requested without a position because its documents did not match.
    var startsOver = false
  }

  package enum Next: Sendable {
    case remove(TargetID)
    case add(TargetData, startsOver: Bool)
  }

  /// The targets to watch, each with the last position that the backend sent for it. For listeners' targets, the store
  /// may already have a newer position. If a target's documents did not match, neither this dictionary nor the store
  /// has a position for it.
  package private(set) var targets: [TargetID: TargetData] = [:]
  private var requests: [TargetID: Request] = [:]
  private var order: [TargetID] = []

  package var isEmpty: Bool { targets.isEmpty }
  package var count: Int { targets.count }
  package var hasRequests: Bool { !requests.isEmpty }

  /// The target, if it is to be watched and all requests for it have been sent on the stream. Otherwise `nil`.
  package func watched(_ id: TargetID) -> TargetData? { requests[id] == nil ? targets[id] : nil }

  package func wants(_ id: TargetID) -> Bool { targets[id] != nil }

  mutating func want(_ data: TargetData) { targets[data.id] = data }

  mutating func drop(_ id: TargetID) { targets[id] = nil }

  /// Records a newer position that the backend sent for a target.
  mutating func update(_ id: TargetID, token: ResumeToken, at version: SnapshotVersion?) {
    targets[id]?.resumeToken = token
    targets[id]?.snapshotVersion = version
  }

  // MARK: The open stream

  /// Requests all targets on a new stream.
  mutating func streamOpened() {
    streamClosed()
    for id in targets.keys.sorted() { requestAdd(id) }
  }

  mutating func streamClosed() { (requests, order) = ([:], []) }

  mutating func requestAdd(_ id: TargetID) {
    guard let data = targets[id] else { return }
    append(id) { $0.adds = data.purpose }
  }

  mutating func requestRemove(_ id: TargetID) {
    guard let waiting = requests[id] else { return append(id) { $0.removes = true } }
    if waiting.removes {
      requests[id]?.adds = nil
    } else {
      requests[id] = nil  // The addition was never sent, so no removal is needed.
      order.removeAll { $0 == id }
    }
  }

  /// Records that the backend ended the target before the client sent a removal.
  /// - Returns: whether a removal was waiting to be sent.
  mutating func forgetRemovalRequest(of id: TargetID) -> Bool {
    guard requests[id]?.removes == true else { return false }
    requests[id]?.removes = false
    if requests[id]?.adds == nil {
      requests[id] = nil
      order.removeAll { $0 == id }
    }
    return true
  }

  /// Requests a target again, without a position, because its documents did not match. Discards the old position.
  /// Otherwise the target would resume from a wrong state if the stream broke before a new position arrives.
  mutating func requestAgain(_ id: TargetID, for purpose: TargetPurpose) {
    guard targets[id] != nil else { return }
    targets[id]?.resumeToken = nil
    targets[id]?.snapshotVersion = nil
    append(id) { requests in
      requests.removes = requests.removes || requests.adds == nil
      requests.adds = purpose
      requests.startsOver = true
    }
  }

  private mutating func append(_ id: TargetID, _ edit: (inout Request) -> Void) {
    if requests[id] == nil { order.append(id) }
    edit(&requests[id, default: Request(removes: false)])
  }

  /// Returns the next request, and marks it as sent.
  mutating func takeNext() -> Next? {
    while let id = order.first, let next = requests[id] {
      if next.removes {
        requests[id]?.removes = false
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
    requests[id] = nil
    order.removeFirst()
  }
}
