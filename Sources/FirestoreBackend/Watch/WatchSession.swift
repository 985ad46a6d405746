// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// Names a watch stream of this backend.
package struct WatchSessionID: Hashable, Sendable {
  let rawValue: Int64
}

/// What a watch stream has to send now.
package struct WatchDelivery: Sendable {
  package var changes: [WatchChange]
  /// The version that the changes are complete up to once a snapshot says so.
  package var readTime: SnapshotVersion
  /// There is more without waiting: a target is still being read.
  package var hasMore: Bool
}

/// One watch stream: its targets, and what its client has not been told yet.
///
/// Rules kept here (PROTOCOL §2.3): one ADD or REMOVE per request, in order, before anything else about the target; a
/// document's newest state only; no snapshot while a target is incomplete, and then one for all that was said, at the
/// version of the last commit, so that its read time never decreases and a commit is never split.
struct WatchSession {
  let id: WatchSessionID
  let database: DatabaseID
  private(set) var targets: [TargetID: SessionTarget] = [:]
  private var acknowledgements: [WatchChange] = []
  private var pending = PendingChanges()
  /// Targets that are not live, in the order in which they were added.
  private var unfinished: [TargetID] = []
  private var owesSnapshot = false
  /// Targets that failed: a removal which crossed the failure on its way is not answered again.
  private var failed: Set<TargetID> = []

  init(id: WatchSessionID, database: DatabaseID) {
    self.id = id
    self.database = database
  }

  /// Whether `take` would return anything.
  var isReady: Bool {
    !acknowledgements.isEmpty || !pending.isEmpty || !unfinished.isEmpty || owesSnapshot
  }

  /// - Parameter others: more documents that a target of documents names.
  /// - Returns: what is watched from now on; `nil` for an invalid query, which is answered and forgotten.
  mutating func add(
    _ request: WatchTarget, isChecked: Bool = false, others: [DocumentKey] = []
  ) throws(RPCStatus) -> SessionTarget? {
    try checkUnused(request.id)
    do throws(QueryError) {
      if !isChecked, !request.target.isDocumentTarget { try request.target.query.validate() }
    } catch {
      try refuse(request.id, RPCStatus(error.code, error.message))
      return nil
    }
    failed.remove(request.id)
    acknowledgements.append(.added([request.id]))
    let target = SessionTarget(request, others: others)
    targets[request.id] = target
    unfinished.append(request.id)
    return target
  }

  private func checkUnused(_ id: TargetID) throws(RPCStatus) {
    guard id.rawValue >= 0 else { throw RPCStatus(.invalidArgument, "Target id \(id) is negative.") }
    guard targets[id] == nil else {
      throw RPCStatus(.invalidArgument, "Target id \(id) is already in use on this stream.")
    }
  }

  /// Answers the request for a target that cannot be watched and forgets it.
  mutating func refuse(_ id: TargetID, _ cause: RPCStatus) throws(RPCStatus) {
    try checkUnused(id)
    acknowledgements += [.added([id]), .removed([id], cause: cause)]
    failed.insert(id)
  }

  /// Answers the removal of a target that is watched; of others the client expects nothing, or was told of the end.
  /// - Returns: the target that is no longer watched.
  mutating func remove(_ id: TargetID) -> SessionTarget? {
    guard failed.remove(id) == nil, targets[id] != nil else { return nil }
    acknowledgements.append(.removed([id], cause: nil))
    unfinished.removeAll { $0 == id }
    pending.forget(id)
    return targets.removeValue(forKey: id)
  }

  /// Ends a target that may not be watched any longer.
  /// - Returns: the target that is no longer watched.
  mutating func end(_ id: TargetID, _ cause: RPCStatus) -> SessionTarget? {
    guard let target = targets.removeValue(forKey: id) else { return nil }
    acknowledgements.append(.removed([id], cause: cause))
    unfinished.removeAll { $0 == id }
    pending.forget(id)
    failed.insert(id)
    return target
  }

  mutating func apply(
    _ transitions: [DocumentTransition], to id: TargetID, _ reader: DocumentReader
  ) throws(StoreError) {
    guard let changes = try targets[id]?.apply(transitions, reader) else { return }
    for change in changes { pending.record(change, for: id) }
    if pending.isOverfull {
      let concerned = pending.targets
      pending.removeAll()
      for id in concerned { restart(id) }
    }
  }

  /// Starts a target over, for a change too large to be told document by document.
  mutating func restart(_ id: TargetID) {
    guard targets[id] != nil else { return }
    targets[id]?.restart()
    pending.forget(id)
    if !unfinished.contains(id) { unfinished.append(id) }
  }

  /// A new position is due although nothing changed, so that the client knows the stream is alive.
  mutating func heartbeat() { owesSnapshot = true }

  /// Whether a target is still being read.
  var needsReading: Bool { !unfinished.isEmpty }

  /// Everything there is to say, or as much as one step of reading gives.
  mutating func take(_ reader: DocumentReader, instance: [UInt8]) throws(StoreError) -> WatchDelivery {
    let token = ResumePosition(version: reader.state.version).token(instance: instance)
    var changes = takeKnown()
    if let id = unfinished.first, var target = targets.removeValue(forKey: id) {
      defer { targets[id] = target }
      changes += try target.step(reader, instance: instance)
      if target.isLive {
        unfinished.removeFirst()
        changes.append(.current([id], token))
        owesSnapshot = true
      }
    }
    finishSnapshot(&changes, reader.readTime, token)
    return WatchDelivery(changes: changes, readTime: reader.readTime, hasMore: !unfinished.isEmpty)
  }

  /// Everything there is to say while no target needs reading.
  mutating func take(_ state: DatabaseState, instance: [UInt8]) -> WatchDelivery {
    let readTime = SnapshotVersion(microseconds: state.version)
    var changes = takeKnown()
    finishSnapshot(&changes, readTime, ResumePosition(version: state.version).token(instance: instance))
    return WatchDelivery(changes: changes, readTime: readTime, hasMore: false)
  }

  private mutating func takeKnown() -> [WatchChange] {
    var changes = acknowledgements
    acknowledgements = []
    if !pending.isEmpty {
      changes += pending.take()
      owesSnapshot = true
    }
    return changes
  }

  private mutating func finishSnapshot(
    _ changes: inout [WatchChange], _ readTime: SnapshotVersion, _ token: ResumeToken?
  ) {
    guard owesSnapshot, unfinished.isEmpty else { return }
    owesSnapshot = false
    changes.append(.snapshot(readTime, token))
  }
}

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
