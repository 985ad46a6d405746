// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The id of a watch stream of this backend.
package struct WatchSessionID: Hashable, Sendable {
  let rawValue: Int64
}

/// The messages to send now on a watch stream.
package struct WatchDelivery: Sendable {
  /// The size of a full delivery's documents in bytes.
  package static let bytes = QueryPiece.bytes

  package var changes: [WatchChange]
  /// The version that a snapshot declares complete.
  package var readTime: SnapshotVersion
  /// Whether more messages follow immediately: a target is still being read, or not all changes fit.
  package var hasMore: Bool
}

/// One watch stream: its targets, and the messages not yet delivered to its client.
///
/// Rules enforced here (PROTOCOL §2.3):
/// - One ADD or REMOVE is sent per request, in order, before any other message about the target.
/// - Only the newest state of a document is sent.
/// - No snapshot is sent while a target is incomplete. The next snapshot then covers all messages before it, and has
///   the version of the last commit. So read times never decrease, and a commit is never split.
struct WatchSession {
  let id: WatchSessionID
  let database: DatabaseID
  private(set) var targets: [TargetID: SessionTarget] = [:]
  private var acknowledgements: [WatchChange] = []
  private var pending = PendingChanges()
  /// The targets that are not live, in the order of their addition.
  private var unfinished: [TargetID] = []
  private var owesSnapshot = false
  /// The version up to which the client has received everything; `nil` while it has received only a part of the next
  /// snapshot.
  private var complete: Int64?
  /// The failed targets. A removal that the client sent before it received the failure is not answered.
  private var failed: Set<TargetID> = []

  init(id: WatchSessionID, database: DatabaseID) {
    self.id = id
    self.database = database
  }

  /// Whether `take` would return anything.
  var isReady: Bool {
    !acknowledgements.isEmpty || !pending.isEmpty || !unfinished.isEmpty || owesSnapshot
  }

  /// - Parameter others: the remaining documents of a target that names several documents.
  /// - Returns: the newly watched target; `nil` for an invalid query, whose rejection is scheduled.
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

  /// Rejects the request for a target that cannot be watched.
  mutating func refuse(_ id: TargetID, _ cause: RPCStatus) throws(RPCStatus) {
    try checkUnused(id)
    acknowledgements += [.added([id]), .removed([id], cause: cause)]
    failed.insert(id)
  }

  /// Removes an active target and confirms it. The removal of any other target needs no answer.
  /// - Returns: the removed target.
  mutating func remove(_ id: TargetID) -> SessionTarget? {
    guard failed.remove(id) == nil, targets[id] != nil else { return nil }
    acknowledgements.append(.removed([id], cause: nil))
    unfinished.removeAll { $0 == id }
    pending.forget(id)
    return targets.removeValue(forKey: id)
  }

  /// Ends a target that may no longer be watched.
  /// - Returns: the removed target.
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

  /// Makes the target read its client's missing changes from the log, as if the client resumed. Starts the target over
  /// if the client's version is unknown.
  private mutating func readAgain(_ id: TargetID) {
    guard let complete, targets[id]?.isLive == true else { return restart(id) }
    targets[id]?.resume(after: complete)
    unfinished.append(id)
  }

  /// Starts a target over after a change too large to send document by document.
  mutating func restart(_ id: TargetID) {
    guard targets[id] != nil else { return }
    targets[id]?.restart()
    pending.forget(id)
    if !unfinished.contains(id) { unfinished.append(id) }
  }

  /// Schedules a new position even without changes, so that the client knows that the stream is alive.
  mutating func heartbeat() { owesSnapshot = true }

  /// Whether a target's matches or changed documents must still be read.
  var needsReading: Bool { !unfinished.isEmpty || pending.needsReading }

  /// Takes the messages to send, after at most one reading step.
  /// - Parameters:
  ///   - bytes: the size in bytes after which no more documents are added.
  ///   - historyStart: the version before which the history is unknown.
  mutating func take(
    _ reader: DocumentReader, upTo bytes: Int, instance: [UInt8], historyStart: Int64
  ) throws(StoreError) -> WatchDelivery {
    let token = ResumePosition(reader.state).token(instance: instance)
    var changes = try takeKnown(upTo: bytes, reader)
    // Pending changes are sent first, so that the messages of a newly complete target follow the order of the events.
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

  /// Takes the messages to send. Call it only if `needsReading` is false.
  mutating func take(_ state: DatabaseState, upTo bytes: Int, instance: [UInt8]) throws(StoreError) -> WatchDelivery {
    let readTime = SnapshotVersion(microseconds: state.version)
    var changes = try takeKnown(upTo: bytes, nil)
    finishSnapshot(&changes, state, ResumePosition(state).token(instance: instance))
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

/// The id of one target on one watch stream.
struct TargetReference: Hashable, Sendable {
  let session: WatchSessionID
  let target: TargetID
}

/// Finds the targets that a changed document could affect by its location, so that a commit costs nothing for the
/// listeners of other collections.
struct TargetMatcher {
  private var byCollection: [CollectionName: Set<TargetReference>] = [:]
  /// The targets by collection group. The path in each key is the id of the group.
  private var byGroup: [CollectionName: Set<TargetReference>] = [:]
  private var byDocument: [CollectionName: Set<TargetReference>] = [:]

  mutating func add(_ reference: TargetReference, for target: SessionTarget, in database: Int64) {
    forEachPlace(of: target, in: database) { table, name in table[name, default: []].insert(reference) }
  }

  mutating func remove(_ reference: TargetReference, for target: SessionTarget, in database: Int64) {
    forEachPlace(of: target, in: database) { table, name in
      table[name]?.remove(reference)
      if table[name]?.isEmpty == true { table[name] = nil }
    }
  }

  private mutating func forEachPlace(
    of target: SessionTarget, in database: Int64,
    _ change: (inout [CollectionName: Set<TargetReference>], CollectionName) -> Void
  ) {
    if let group = target.target.collectionGroup {
      change(&byGroup, CollectionName(database: database, path: ResourcePath(group)))
    } else if target.documents.isEmpty {
      change(&byCollection, CollectionName(database: database, path: target.target.path))
    } else {
      for key in target.documents { change(&byDocument, CollectionName(database: database, path: key.path)) }
    }
  }

  /// Visits every target that could match the document. For a collection group, this can include targets below other
  /// ancestors.
  func forEachCandidate(_ key: DocumentKey, in database: Int64, _ body: (TargetReference) -> Void) {
    let collection = key.collection
    byDocument[CollectionName(database: database, path: key.path)]?.forEach(body)
    byCollection[CollectionName(database: database, path: collection)]?.forEach(body)
    if !byGroup.isEmpty {
      byGroup[CollectionName(database: database, path: ResourcePath(collection.last))]?.forEach(body)
    }
  }

  var isEmpty: Bool { byCollection.isEmpty && byGroup.isEmpty && byDocument.isEmpty }
}

/// The documents, other than the targets' results, that decide whether streams may continue: security rules read them.
struct WatchDependencies {
  private var keys: [WatchSessionID: Set<DocumentKey>] = [:]
  private var sessions: [DatabaseID: [DocumentKey: Set<WatchSessionID>]] = [:]
  /// The streams that depend on a document that has changed.
  private var concerned: Set<WatchSessionID> = []

  var isEmpty: Bool { keys.isEmpty }

  /// Replaces the documents that a stream depends on.
  mutating func set(_ new: Set<DocumentKey>, of session: WatchSessionID, in database: DatabaseID) {
    let old = keys[session] ?? []
    for key in old.subtracting(new) {
      sessions[database]?[key]?.remove(session)
      if sessions[database]?[key]?.isEmpty == true { sessions[database]?[key] = nil }
    }
    for key in new.subtracting(old) { sessions[database, default: [:]][key, default: []].insert(session) }
    keys[session] = new.isEmpty ? nil : new
    if sessions[database]?.isEmpty == true { sessions[database] = nil }
  }

  mutating func forget(_ session: WatchSessionID, in database: DatabaseID) {
    set([], of: session, in: database)
    concerned.remove(session)
  }

  /// Records that a document has changed.
  /// - Returns: the streams that depend on it.
  mutating func note(_ key: DocumentKey, in database: DatabaseID) -> Set<WatchSessionID> {
    guard let affected = sessions[database]?[key] else { return [] }
    concerned.formUnion(affected)
    return affected
  }

  /// Records that any document may have changed.
  mutating func noteAll(in database: DatabaseID) {
    for affected in (sessions[database] ?? [:]).values { concerned.formUnion(affected) }
  }

  /// Whether a document that a stream depends on has changed since the last call.
  mutating func takeConcern(_ session: WatchSessionID) -> Bool { concerned.remove(session) != nil }
}
