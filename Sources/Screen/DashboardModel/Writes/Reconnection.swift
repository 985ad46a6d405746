// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// The summary of an outage and of the reconnection after it. It is created when the outage starts, because updates can
/// arrive before the client reports that the server is reachable. It is first shown above the feed, later as a feed
/// row. It is updated until all pending batches are acknowledged or rejected and every listener has caught up.
package struct Reconnection: Sendable {
  /// The maximum count of documents that are listed.
  static let mostListed = 500
  /// The time for which the summary is shown above the feed, in seconds. The feed row is added at the latest after this
  /// time.
  private static let patience: Int64 = 10

  /// The id of the feed row with the summary; `nil` until the row is added.
  package private(set) var row: Int?
  /// The id of the first feed row that the reconnection caused.
  package private(set) var firstRow: Int?
  package private(set) var start: Timestamp
  /// The time when the server was reachable again; `nil` until then.
  package private(set) var end: Timestamp?
  /// The newest batch that was pending when the server was reachable again. The summary does not cover later batches.
  package private(set) var newest: BatchID?
  /// The count of batches that were pending when the server was reachable again.
  package private(set) var waited: Int
  /// The listeners that have not caught up.
  package private(set) var behind: Set<ListenerTag>
  package private(set) var listeners: Int
  package private(set) var acknowledged = 0
  private(set) var lastAnswer: Timestamp?
  /// The longest time from making a write to the server's response.
  private(set) var longestWait = Duration.zero
  package private(set) var rejected: [(batch: BatchID, key: DocumentKey?, status: RPCStatus)] = []
  package private(set) var conflicts: [WriteConflict] = []
  /// The documents that other clients changed, with the kind of the last change.
  private(set) var changed: [DocumentKey: FeedRow.Kind] = [:]
  /// The documents that other clients changed, by the listener that reported them.
  private(set) var changedFor: [ListenerTag: Set<DocumentKey>] = [:]
  private(set) var lookedUp: Set<DocumentKey> = []

  /// The summary of an outage that is starting.
  package init(from start: Timestamp) {
    self.start = start
    waited = 0
    behind = []
    listeners = 0
  }

  /// The summary of a finished outage.
  package init(
    row: Int, from start: Timestamp, to end: Timestamp, waited: Int, newest: BatchID?, listeners: Set<ListenerTag>
  ) {
    self.init(from: start)
    self.row = row
    cameBack(at: end, waiting: waited, newest: newest, behind: listeners, listeners: listeners.count)
  }

  // MARK: Steps

  /// Records that the server is reachable again.
  /// - Parameters:
  ///   - waiting: the count of batches that are still pending. Batches that already have a response were counted before
  ///     this call.
  ///   - behind: the listeners that have only cached documents.
  package mutating func cameBack(
    at now: Timestamp, waiting: Int, newest: BatchID?, behind: Set<ListenerTag>, listeners: Int
  ) {
    end = now
    waited = answered + waiting
    self.newest = [self.newest, newest].compactMap(\.self).max()
    self.behind = behind
    self.listeners = listeners
  }

  /// Records the first feed row that the reconnection caused. Ignores later rows.
  package mutating func noteRow(_ id: Int) { firstRow = firstRow ?? id }

  package mutating func tell(in row: Int) { self.row = row }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    start = moved(start)
    end = end.map(moved)
    lastAnswer = lastAnswer.map(moved)
  }

  private var answered: Int { acknowledged + rejected.count }

  /// Whether a batch was pending when the server was reachable again. Until the client reports this, every acknowledged
  /// or rejected batch counts as pending.
  private func waited(_ batch: BatchID) -> Bool {
    end == nil || answered < waited && newest.map { batch <= $0 } ?? false
  }

  private mutating func noteAnswer(_ batch: BatchID, at now: Timestamp, after age: Duration?) {
    if end == nil { newest = max(newest ?? batch, batch) }
    lastAnswer = now
    longestWait = max(longestWait, age ?? .zero)
  }

  /// - Parameter age: the time since the write was made.
  package mutating func noteAcknowledged(_ batch: BatchID, at now: Timestamp, after age: Duration? = nil) {
    guard waited(batch) else { return }
    acknowledged += 1
    noteAnswer(batch, at: now, after: age)
  }

  package mutating func noteRejected(
    _ batch: BatchID, _ key: DocumentKey?, _ status: RPCStatus, at now: Timestamp, after age: Duration? = nil
  ) {
    guard waited(batch), !rejected.contains(where: { $0.batch == batch }) else { return }
    rejected.append((batch, key, status))
    noteAnswer(batch, at: now, after: age)
  }

  /// Records that a batch was canceled, so that the summary does not wait for its response.
  package mutating func noteCancelled(_ batch: BatchID) {
    if end != nil, newest.map({ batch <= $0 }) ?? false { waited = max(answered, waited - 1) }
  }

  package mutating func note(_ conflict: WriteConflict) {
    guard newest.map({ conflict.batch <= $0 }) ?? false else { return }
    conflicts.append(conflict)
    // Another client wrote the replaced values, so it changed the document.
    if changed[conflict.key] == nil { changed[conflict.key] = .modified }
  }

  /// Records that a listener was stopped, so that the summary does not wait until it catches up.
  package mutating func forget(_ listener: ListenerTag) { behind.remove(listener) }

  /// - Parameter changes: the documents that other clients changed.
  package mutating func noteSnapshot(
    of listener: ListenerTag, _ changes: [(key: DocumentKey, kind: FeedRow.Kind)], lookedUp keys: [DocumentKey] = [],
    isFromCache: Bool
  ) {
    guard end == nil || behind.contains(listener) else { return }
    for change in changes {
      changed[change.key] = change.kind
      changedFor[listener, default: []].insert(change.key)
    }
    lookedUp.formUnion(keys)
    if !isFromCache { behind.remove(listener) }
  }

  // MARK: Words

  /// Whether every pending batch is acknowledged or rejected, and every listener has caught up.
  package var isSettled: Bool { end != nil && answered >= waited && behind.isEmpty }

  /// Whether there are pending batches or listeners to report about.
  package var isWorthACard: Bool { waited > 0 || listeners > 0 }

  /// The time when the summary above the feed disappears and the feed row is added.
  package var due: Timestamp? { end?.advanced(seconds: Self.patience) }

  /// The first part of the summary: `online 12:05:02 after 0:42`.
  package func title(clock: String) -> String {
    "online \(clock) after \(TimeText.elapsed(seconds: (end ?? start).wholeSeconds(since: start)))"
  }

  /// The results of the writes, then of the listeners: `7 writes answered in 1.2 s`.
  package var facts: [String] {
    var parts: [String] = []
    if waited > 0 {
      let isUnderWay = answered > 0 && answered < waited
      let figure = isUnderWay ? "\(grouped(answered)) of \(grouped(waited))" : grouped(waited)
      let time = lastAnswer.flatMap { last in
        end.flatMap { $0 < last ? " in " + TimeText.span(.milliseconds(last.milliseconds(since: $0))) : nil }
      }
      let wait = longestWait >= .seconds(1) ? ", made up to \(TimeText.span(longestWait)) before" : ""
      parts.append(
        "\(figure) write\(waited == 1 ? "" : "s")\(answered > 0 ? " answered" + (time ?? "") + wait : " to send")")
    }
    if !rejected.isEmpty { parts.append("\(grouped(rejected.count)) rejected") }
    let count = Set(conflicts.map(\.batch)).count
    if count > 0 { parts.append("\(grouped(count)) conflicting") }
    if listeners > 0 || !changed.isEmpty {
      parts.append("\(grouped(changed.count)) document\(changed.count == 1 ? "" : "s") changed by others")
      if !behind.isEmpty { parts.append("\(behind.count) listener\(behind.count == 1 ? "" : "s") behind") }
    }
    if !lookedUp.isEmpty { parts.append("\(grouped(lookedUp.count)) looked up") }
    return parts
  }

  /// The text of the feed row: `online 12:05:02 after 0:42 · 7 writes in 1.2 s · 17 documents changed by others`.
  package func text(clock: String, bullet: String) -> String {
    ([title(clock: clock)] + facts).joined(separator: " \(bullet) ")
  }

  /// The changes that each listener reported, by kind: `orders +2 ~5`.
  package func byListener(_ listeners: [ListenerRecord]) -> [String] {
    listeners.compactMap { listener in
      guard let keys = changedFor[listener.tag] else { return nil }
      let counts = [FeedRow.Kind.added, .modified, .removed].map { kind in (kind, keys.count { changed[$0] == kind }) }
      let figures = counts.filter { $0.1 > 0 }.map { "\($0.0.letter)\(grouped($0.1))" }
      return ([listener.name] + figures).joined(separator: " ")
    }
  }
}

/// Finds the documents in a snapshot that other clients changed. A document that this client also wrote is included if
/// it differs in more than the fields that the server computes.
package struct ChangesByOthers {
  package let changes: [(key: DocumentKey, kind: FeedRow.Kind)]
  /// The documents that the client looked up because the server no longer reported them for the target.
  package let lookedUp: [DocumentKey]

  package init(_ snapshot: ListenerSnapshot, _ writes: WriteQueue) {
    lookedUp = snapshot.causes.compactMap { if case .limboResolved(let key) = $0 { key } else { nil } }
    guard snapshot.causes.contains(where: \.isFromServer) else {
      changes = []
      return
    }
    let causes = CausesOfChanges(snapshot.causes, writes)
    changes = snapshot.changes.compactMap { change in
      let key = change.document.key
      guard causes.localWrite(to: key) == nil, causes.end(of: key) == nil else { return nil }
      let acknowledged = causes.acknowledgement(of: key, wasPending: change.previous?.hasPendingWrites == true)
      let isChanged =
        change.kind == .modified || change.kind == .metadata
        ? Self.differs(change, transforms: acknowledged.flatMap { writes.transforms(of: $0, to: key) } ?? [])
        : acknowledged == nil
      return isChanged ? (key, FeedRow.Kind(change.kind)) : nil
    }
  }

  private static func differs(_ change: ListenerSnapshot.Change, transforms: Set<FieldPath>) -> Bool {
    let (old, new) = (change.previous?.data?.fields ?? Fields(), change.after.data?.fields ?? Fields())
    return FieldChange.between(old, new).contains { change in
      // The server sets timestamps and computes requested transforms.
      if case .serverTimestamp? = change.old { return false }
      return !transforms.contains { $0.isPrefix(of: change.path) || change.path.isPrefix(of: $0) }
    }
  }
}
