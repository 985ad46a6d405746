// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// The watch stream: the targets to watch, the requests for them, the messages since the last snapshot, and the numbers
/// of received documents.
///
///     closed ──start──► starting ──opened──► open ──takeRequest, answered, receive, takeEvent──┐
///       ▲                  │                  │ ▲                                              │
///       └── stop, failed ──┴──────────────────┘ └──────────────────────────────────────────────┘
///
/// Requests and messages belong to one stream and are dropped when that stream ends. The targets remain. Callers must
/// perform the effects that transitions return.
struct WatchPipeline: Sendable {
  /// A function that returns a target with the keys that the backend has confirmed for it (S2).
  typealias Lookup = (TargetData) -> WatchedTarget

  private(set) var stream = ClientStream()
  private(set) var plan = WatchPlan()
  private var aggregator: WatchChangeAggregator
  private var reads = ReadMeters()
  private let database: DatabaseID

  init(database: DatabaseID) {
    self.database = database
    aggregator = WatchChangeAggregator(database: database)
  }

  /// The document counts of the listeners' targets.
  var meters: [ReadMeter] { reads.meters(of: plan.targets.values) }

  /// The number of documents that the backend sent for a target, and the number of cached documents that it did not
  /// need to send again.
  func meter(of id: TargetID) -> (sent: Int, kept: Int)? { reads.meter(of: id) }

  /// The state of a target on the current stream.
  func progress(of id: TargetID) -> TargetState.Progress {
    plan.watched(id) == nil ? .unasked : aggregator.progress(of: id)
  }

  /// The number of responses for a target that the backend must still send (S5).
  func responsesOwed(_ id: TargetID) -> Int { aggregator.responsesOwed(id) }

  // MARK: Targets

  mutating func want(_ data: TargetData) -> [SyncEffect] {
    plan.want(data)
    guard stream.isOpen else { return [] }
    aggregator.leave(data.id)
    plan.requestAdd(data.id)
    return [.cancel(.watchIdle), .wake(.watch)]
  }

  /// Records that a view was added for a watched target. The view waits for the target's next position.
  mutating func expectPosition(of id: TargetID) { aggregator.name(id) }

  mutating func drop(_ id: TargetID) -> [SyncEffect] {
    plan.drop(id)
    reads.forget(id)
    guard stream.isOpen else { return [] }
    aggregator.leave(id)
    plan.requestRemove(id)
    return (plan.hasRequests ? [.wake(.watch)] : []) + idleEffects
  }

  /// Removes a target while the stream is closed.
  mutating func forget(_ id: TargetID) { plan.drop(id) }

  /// Removes all targets while the stream is closed, because another client watches them.
  mutating func forgetAll() {
    for id in plan.targets.keys { reads.forget(id) }
    plan = WatchPlan()
  }

  /// Records that the backend ended a target. The client may have removed the target before this message arrived, and
  /// may have requested it again since. In that case, only the earlier request has ended, and the backend will not
  /// confirm the removal.
  /// - Returns: whether the backend rejected the current request for the target, and not an earlier one.
  mutating func ended(_ id: TargetID) -> Bool {
    if plan.forgetRemovalRequest(of: id) {
      aggregator.forget(id)
    } else if plan.watched(id) != nil, aggregator.responsesOwed(id) <= 1 {
      return true
    } else {
      aggregator.confirmRemoval(of: id)
    }
    return false
  }

  /// Removes a target that the backend rejected. No request to the backend is needed.
  mutating func refused(_ id: TargetID) -> [SyncEffect] {
    plan.drop(id)
    aggregator.forget(id)
    return idleEffects
  }

  private var idleEffects: [SyncEffect] {
    plan.isEmpty ? [.schedule(.watchIdle, after: ClientStream.idleTimeout)] : []
  }

  // MARK: The stream

  /// Whether a stream must be opened, because there are targets but no stream.
  var isDue: Bool { !stream.isStarted && !plan.isEmpty }
  /// Whether the stream is open although there are no targets.
  var isIdle: Bool { stream.isOpen && plan.isEmpty }

  mutating func start(using generator: inout some RandomNumberGenerator) -> SyncEffect {
    forgetMessages()
    let delay = stream.start(using: &generator)
    return .open(.watch, stream.epoch, after: delay)
  }

  /// Requests all targets on the new stream.
  /// - Returns: `nil` if the epoch is not the current one (S8).
  mutating func opened(in epoch: StreamEpoch) -> SyncEffect? {
    guard stream.opened(epoch) else { return nil }
    plan.streamOpened()
    return plan.hasRequests ? .wake(.watch) : .schedule(.watchIdle, after: ClientStream.idleTimeout)
  }

  /// Records that the backend or the transport ended the stream.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func failed(_ status: RPCStatus, in epoch: StreamEpoch) -> Bool {
    guard epoch == stream.epoch, stream.isStarted else { return false }
    stream.failed(status)
    forgetMessages()
    return true
  }

  /// Closes the stream. The next start has no delay.
  mutating func stop() -> [SyncEffect] {
    let epoch = stream.isStarted ? stream.epoch : nil
    stream.stop()
    forgetMessages()
    return epoch.map { [.close(.watch, $0)] } ?? []
  }

  /// Abandons a stream that is not open yet, so that its next start has no delay.
  mutating func skipBackoff() -> [SyncEffect] { stream.skipBackoff().map { [.close(.watch, $0)] } ?? [] }

  private mutating func forgetMessages() {
    aggregator = WatchChangeAggregator(database: database)
    plan.streamClosed()
  }

  // MARK: Requests and messages

  /// Returns the next request for the stream. The backend must then confirm it (S5).
  /// - Parameter stored: returns the stored position of a listener's target.
  mutating func takeRequest(
    in epoch: StreamEpoch, stored: (TargetID) -> TargetData?, _ watched: Lookup
  ) -> WatchRequest? {
    guard epoch == stream.epoch, stream.isOpen, let next = plan.takeNext() else { return nil }
    switch next {
    case .remove(let id):
      aggregator.requestHandedOut(id)
      return .remove(id)
    case .add(let data, let startsOver):
      var target = WatchTarget(id: data.id, target: data.target, purpose: data.purpose)
      if !startsOver {
        let position = stored(data.id) ?? data
        target.resume = position.resumeToken.map { .token($0) } ?? position.snapshotVersion.map { .readTime($0) }
      }
      if target.resume != nil { target.expectedCount = watched(data).count }
      aggregator.requestHandedOut(data.id, isWhole: target.resume == nil)
      reads.requested(data.id, resumingWith: target.expectedCount)
      return .add(target)
    }
  }

  /// Records that a message arrived on the stream.
  /// - Returns: whether the message's epoch is the current one (S8).
  mutating func answered(in epoch: StreamEpoch) -> Bool {
    guard epoch == stream.epoch, stream.isOpen else { return false }
    stream.succeeded()
    return true
  }

  /// Adds a message to the next event. The event includes a target only after all expected responses for it have
  /// arrived (S5).
  /// - Throws: `internal` if a message violates the protocol. The stream must then be closed.
  mutating func receive(_ change: WatchChange, _ watched: Lookup) throws(RPCStatus) {
    try aggregator.receive(change) { id in plan.watched(id).map(watched) }
    reads.receive(change)
  }

  /// Returns all changes since the last event, combined into one consistent event.
  mutating func takeEvent(at version: SnapshotVersion, _ watched: Lookup) -> RemoteEvent {
    aggregator.takeEvent(at: version) { id in plan.watched(id).map(watched) }
  }

  /// Records that the store has applied an event. Updates the positions of its targets, and requests the targets with
  /// mismatched documents again.
  mutating func applied(_ event: RemoteEvent) -> [SyncEffect] {
    for (id, change) in event.targetChanges {
      if let token = change.resumeToken { plan.update(id, token: token, at: event.version) }
    }
    for (id, purpose) in event.targetMismatches.sorted(by: { $0.key < $1.key }) {
      aggregator.leave(id)
      plan.requestAgain(id, for: purpose)
    }
    return plan.hasRequests ? [.wake(.watch)] : []
  }
}

/// Counts the documents that the backend sends on the watch stream, by target.
struct ReadMeters: Sendable {
  private struct Entry {
    var sent = 0
    var kept = 0
    /// The number of cached documents and the number of documents already sent when the target was resumed. `nil` once
    /// the resumed target is current.
    var resumption: (had: Int, sentBefore: Int)?
  }

  private var entries: [TargetID: Entry] = [:]

  /// Records that a request for the target was sent.
  /// - Parameter had: the number of cached documents if the target is resumed; otherwise `nil`.
  mutating func requested(_ id: TargetID, resumingWith had: Int?) {
    var entry = entries[id] ?? Entry()
    entry.resumption = had.map { ($0, entry.sent) }
    entries[id] = entry
  }

  mutating func receive(_ change: WatchChange) {
    switch change {
    case .document(let document, let updated, let removed):
      for id in updated {
        if document.exists { entries[id]?.sent += 1 } else { entries[id]?.resumption?.had -= 1 }
      }
      for id in removed { entries[id]?.resumption?.had -= 1 }
    case .documentRemoved(_, let removed): for id in removed { entries[id]?.resumption?.had -= 1 }
    case .current(let ids, _): for id in ids.isEmpty ? Array(entries.keys) : ids { finishResumption(of: id) }
    case .reset(let ids, _): for id in ids.isEmpty ? Array(entries.keys) : ids { entries[id]?.resumption = nil }
    default: break
    }
  }

  private mutating func finishResumption(of id: TargetID) {
    guard let entry = entries[id], let (had, before) = entry.resumption else { return }
    entries[id]?.kept += max(0, had - (entry.sent - before))
    entries[id]?.resumption = nil
  }

  mutating func forget(_ id: TargetID) { entries[id] = nil }

  /// The number of documents that the backend sent for a target, and the number of cached documents that it did not
  /// need to send again.
  func meter(of id: TargetID) -> (sent: Int, kept: Int)? { entries[id].map { ($0.sent, $0.kept) } }

  /// The document counts of the listeners' targets.
  func meters(of targets: some Sequence<TargetData>) -> [ReadMeter] {
    targets.filter { $0.purpose != .limboResolution }.compactMap { data in
      entries[data.id].map { ReadMeter(target: data.target, sent: $0.sent, kept: $0.kept) }
    }
  }
}
