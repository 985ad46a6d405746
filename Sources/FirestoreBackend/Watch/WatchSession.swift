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
  /// What its documents hold, but for the last of them.
  package static let bytes = QueryPiece.bytes

  package var changes: [WatchChange]
  /// The version that the changes are complete up to once a snapshot says so.
  package var readTime: SnapshotVersion
  /// There is more without waiting: a target is still being read, or more has changed than goes at once.
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
  /// The version up to which the client has been told everything; `nil` while it has been told a part of what is next.
  private var complete: Int64?
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
      for id in concerned { readAgain(id) }
    }
  }

  /// Has what a target's client does not know read from the log when it is told, as if it came back; anew where it is not
  /// known how far it is.
  private mutating func readAgain(_ id: TargetID) {
    guard let complete, targets[id]?.isLive == true else { return restart(id) }
    targets[id]?.resume(after: complete)
    unfinished.append(id)
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

  /// Whether a target is still being read, or a document that changed.
  var needsReading: Bool { !unfinished.isEmpty || pending.needsReading }

  /// Everything there is to say, or as much as one step of reading gives.
  /// - Parameters:
  ///   - bytes: what its documents hold, but for the last of them.
  ///   - historyStart: what was before is not known.
  mutating func take(
    _ reader: DocumentReader, upTo bytes: Int, instance: [UInt8], historyStart: Int64
  ) throws(StoreError) -> WatchDelivery {
    let token = ResumePosition(version: reader.state.version).token(instance: instance)
    var changes = try takeKnown(upTo: bytes, reader)
    // What is pending goes first: a target that becomes complete is then told in the order in which things happened.
    if pending.isEmpty, let id = unfinished.first, var target = targets.removeValue(forKey: id) {
      defer { targets[id] = target }
      changes += try target.step(reader, upTo: bytes, instance: instance, historyStart: historyStart)
      if target.isLive {
        unfinished.removeFirst()
        changes.append(.current([id], token))
        owesSnapshot = true
      }
    }
    finishSnapshot(&changes, reader.state, token)
    return WatchDelivery(changes: changes, readTime: reader.readTime, hasMore: hasMore)
  }

  /// Everything there is to say while nothing needs reading.
  mutating func take(_ state: DatabaseState, upTo bytes: Int, instance: [UInt8]) throws(StoreError) -> WatchDelivery {
    let readTime = SnapshotVersion(microseconds: state.version)
    var changes = try takeKnown(upTo: bytes, nil)
    finishSnapshot(&changes, state, ResumePosition(version: state.version).token(instance: instance))
    return WatchDelivery(changes: changes, readTime: readTime, hasMore: hasMore)
  }

  private var hasMore: Bool { !unfinished.isEmpty || !pending.isEmpty }

  private mutating func takeKnown(upTo bytes: Int, _ reader: DocumentReader?) throws(StoreError) -> [WatchChange] {
    var changes = acknowledgements
    acknowledgements = []
    if !pending.isEmpty {
      changes += try pending.take(upTo: bytes, reader)
      owesSnapshot = true
    }
    return changes
  }

  private mutating func finishSnapshot(
    _ changes: inout [WatchChange], _ state: DatabaseState, _ token: ResumeToken?
  ) {
    complete = hasMore ? nil : state.version
    guard owesSnapshot, !hasMore else { return }
    owesSnapshot = false
    changes.append(.snapshot(SnapshotVersion(microseconds: state.version), token))
  }
}
