// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// The watch stream and all that goes over it: the targets to be watched, the requests for them, the messages since the
/// last snapshot, and how many documents came.
///
///     closed ──start──► starting ──opened──► open ──takeRequest, answered, receive, takeEvent──┐
///       ▲                  │                  │ ▲                                              │
///       └── stop, failed ──┴──────────────────┘ └──────────────────────────────────────────────┘
///
/// Requests and messages belong to one stream, and are forgotten with it; the targets stay. Transitions that return
/// effects want them performed.
struct WatchPipeline: Sendable {
  /// Looks up the keys that the backend has confirmed for a target (S2).
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

  /// The figures of the targets that listeners want.
  var meters: [ReadMeter] { reads.meters(of: plan.targets.values) }

  /// The numbers of documents that were sent for a target, and that were kept.
  func meter(of id: TargetID) -> (sent: Int, kept: Int)? { reads.meter(of: id) }

  /// The state of a wanted target on the present stream.
  func progress(of id: TargetID) -> TargetState.Progress {
    plan.watched(id) == nil ? .unasked : aggregator.progress(of: id)
  }

  /// The number of answers to requests for a target that have not come (S5).
  func responsesOwed(_ id: TargetID) -> Int { aggregator.responsesOwed(id) }

  // MARK: Targets

  mutating func want(_ data: TargetData) -> [SyncEffect] {
    plan.want(data)
    guard stream.isOpen else { return [] }
    aggregator.leave(data.id)
    plan.requestAdd(data.id)
    return [.cancel(.watchIdle), .wake(.watch)]
  }

  /// Notes that a view has come for a target that is watched already, and is not known to be in sync.
  mutating func expectPosition(of id: TargetID) { aggregator.name(id) }

  mutating func drop(_ id: TargetID) -> [SyncEffect] {
    plan.drop(id)
    reads.forget(id)
    guard stream.isOpen else { return [] }
    aggregator.leave(id)
    plan.requestRemove(id)
    return (plan.hasRequests ? [.wake(.watch)] : []) + idleEffects
  }

  /// Drops a target while there is no stream, and will be none.
  mutating func forget(_ id: TargetID) { plan.drop(id) }

  /// Drops all targets, which another client watches, while there is no stream.
  mutating func forgetAll() {
    for id in plan.targets.keys { reads.forget(id) }
    plan = WatchPlan()
  }

  /// Notes that the backend ended a target by itself. This end may have crossed a removal by the client, after which
  /// the same target may be wanted anew: then only the earlier one has ended, and its removal is not confirmed any
  /// more.
  /// - Returns: whether the target that is wanted now was refused.
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

  /// Forgets a target that the backend refused, without a request to remove it.
  mutating func refused(_ id: TargetID) -> [SyncEffect] {
    plan.drop(id)
    aggregator.forget(id)
    return idleEffects
  }

  private var idleEffects: [SyncEffect] {
    plan.isEmpty ? [.schedule(.watchIdle, after: ClientStream.idleTimeout)] : []
  }

  // MARK: The stream

  /// Whether there is something to watch and no stream for it.
  var isDue: Bool { !stream.isStarted && !plan.isEmpty }
  /// Whether there is a stream and nothing to watch.
  var isIdle: Bool { stream.isOpen && plan.isEmpty }

  mutating func start(using generator: inout some RandomNumberGenerator) -> SyncEffect {
    forgetMessages()
    let delay = stream.start(using: &generator)
    return .open(.watch, stream.epoch, after: delay)
  }

  /// Requests all targets on the new stream.
  /// - Returns: `nil` for an old epoch (S8).
  mutating func opened(in epoch: StreamEpoch) -> SyncEffect? {
    guard stream.opened(epoch) else { return nil }
    plan.streamOpened()
    return plan.hasRequests ? .wake(.watch) : .schedule(.watchIdle, after: ClientStream.idleTimeout)
  }

  /// Notes that the stream ended by itself.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func failed(_ status: RPCStatus, in epoch: StreamEpoch) -> Bool {
    guard epoch == stream.epoch, stream.isStarted else { return false }
    stream.failed(status)
    forgetMessages()
    return true
  }

  /// Gives the stream up; the next start is immediate.
  mutating func stop() -> [SyncEffect] {
    let epoch = stream.isStarted ? stream.epoch : nil
    stream.stop()
    forgetMessages()
    return epoch.map { [.close(.watch, $0)] } ?? []
  }

  /// Gives up a stream that waits to be opened, so that it is started anew without a backoff.
  mutating func skipBackoff() -> [SyncEffect] { stream.skipBackoff().map { [.close(.watch, $0)] } ?? [] }

  private mutating func forgetMessages() {
    aggregator = WatchChangeAggregator(database: database)
    plan.streamClosed()
  }

  // MARK: Requests and messages

  /// Takes the next request for the stream. The confirmation is owed from here on (S5).
  /// - Parameter stored: tells where a listener's target stands.
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

  /// Notes that a message came.
  /// - Returns: whether its epoch is the current one (S8).
  mutating func answered(in epoch: StreamEpoch) -> Bool {
    guard epoch == stream.epoch, stream.isOpen else { return false }
    stream.succeeded()
    return true
  }

  /// Takes a message into account. A target counts when everything about it has been said (S5).
  /// - Throws: `internal` for a message that breaks the protocol; the stream has to be given up.
  mutating func receive(_ change: WatchChange, _ watched: Lookup) throws(RPCStatus) {
    try aggregator.receive(change) { id in plan.watched(id).map(watched) }
    reads.receive(change)
  }

  /// Takes everything since the last event, as one consistent change.
  mutating func takeEvent(at version: SnapshotVersion, _ watched: Lookup) -> RemoteEvent {
    aggregator.takeEvent(at: version) { id in plan.watched(id).map(watched) }
  }

  /// Notes that an event is stored: the positions of its targets, and which have to be sent again.
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

/// Counts the documents that the watch stream brings, by target.
struct ReadMeters: Sendable {
  private struct Entry {
    var sent = 0
    var kept = 0
    /// The start of a resumed target that is not current yet: the documents that the cache had, and those sent before.
    var resumption: (had: Int, sentBefore: Int)?
  }

  private var entries: [TargetID: Entry] = [:]

  /// Notes that a request for the target goes out.
  /// - Parameter had: the number of its documents that the cache has, if it is resumed.
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

  /// The numbers of documents that were sent for a target, and that were kept.
  func meter(of id: TargetID) -> (sent: Int, kept: Int)? { entries[id].map { ($0.sent, $0.kept) } }

  /// The figures of the targets that listeners want.
  func meters(of targets: some Sequence<TargetData>) -> [ReadMeter] {
    targets.filter { $0.purpose != .limboResolution }.compactMap { data in
      entries[data.id].map { ReadMeter(target: data.target, sent: $0.sent, kept: $0.kept) }
    }
  }
}
