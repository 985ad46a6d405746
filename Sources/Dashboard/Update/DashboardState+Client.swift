// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension DashboardState {
  mutating func receive(_ event: ClientEvent) -> [Effect] {
    switch event {
    case .snapshot(let snapshot): receive(snapshot)
    case .listenerFailed(let tag, let status): fail(tag, status)
    case .windowLoaded(let tag, let documents, let isFromCache, let total):
      return browser.load(tag, documents, isFromCache: isFromCache, total: total, at: now)
    case .windowFailed(let tag, let status): browser.fail(tag, status)
    case .located(let tag, let key, let count): return receive(located: key, by: tag, cachedCount: count)
    case .collections(let parent, let ids): return receive(collections: ids, below: parent)
    case .missingDocuments(let path, let keys): browser.missing[path] = keys.sorted()
    case .counted(let path, let count): receive(count: count, of: path)
    case .status(let status): receive(status)
    case .storage(let notice):
      storage = notice
      toast(.warning, notice.message)
    case .pendingWrites(let waiting, let size): receive(waiting, of: size)
    case .writeAcknowledged(let batch, let time): acknowledge(batch, after: time)
    case .writeRejected(let batch, let status): reject(batch, status)
    case .writeCancelled(let batch): cancelled(batch)
    case .rejectedWrites(let rejected): writes.replaceRejected(with: rejected)
    case .rejectedWritesForgotten(let batches): forget(batches)
    case .detail(let key, let remote, let overlay, let local):
      guard detail?.key == key else { return [] }
      detail?.remote = remote
      detail?.overlay = overlay
      detail?.local = local
      detail?.isLoaded = true
    case .editorFailed(let request, let line, let column, let reason):
      overlay = .confirm(
        Confirmation(
          title: "Not written", body: ["line \(line), column \(column): \(reason)", "Your text is kept."],
          action: "Edit again", subject: .editAgain(request), isActionSelected: true))
    case .explained(let query, let result): receive(result, of: query)
    case .indexes(let states): return receive(states)
    case .notice(let kind, let text): toast(kind, text)
    }
    return []
  }

  /// Whether an event is one in the user's words: the connection's own figures are not.
  func isNews(_ event: ClientEvent) -> Bool {
    guard case .status(let status) = event else { return true }
    return status.isOffline != network.isOffline || status.onlineState != network.onlineState
  }

  /// Of a snapshot with more changes the first teach enough about the fields.
  private static let mostNoted = 20

  private mutating func receive(_ snapshot: ListenerSnapshot) {
    guard let index = listeners.firstIndex(where: { $0.tag == snapshot.listener }) else { return }
    for change in snapshot.changes.prefix(Self.mostNoted) where browser.document(change.document.key) == nil {
      browser.noteFields(of: change.document, previous: change.previous)
    }
    let collections = Set(snapshot.changes.lazy.map(\.document.key.collection))
    let interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, interest(in: $0)) })
    let builder = SnapshotRows(
      snapshot: snapshot, listener: listeners[index], time: now, glyphs: configuration.glyphs,
      acknowledgements: writes.acknowledgements, confirmedBatch: writes.confirmedBatch(of:),
      interest: { interests[$0] ?? FieldInterest(FieldStatistics(), picked: nil) })
    let rows = builder.rows()
    rows.forEach { feed.append($0) }
    rate.note(rows.count, at: now)
    listeners[index].count = snapshot.count
    listeners[index].isFromCache = snapshot.isFromCache
    listeners[index].hasPendingWrites = snapshot.hasPendingWrites
    noteCount(of: listeners[index], snapshot)
  }

  private mutating func fail(_ tag: ListenerTag, _ status: RPCStatus) {
    guard let index = listeners.firstIndex(where: { $0.tag == tag }) else { return }
    listeners[index].failure = status
    let name = listeners[index].name
    feed.append(
      FeedRow(
        time: now, kind: .failed, listener: tag, listenerName: name, summary: "listener ended: \(status.description)"))
    toast(.error, "\(name): \(status.description)")
  }

  private mutating func receive(collections ids: [String], below parent: ResourcePath) -> [Effect] {
    let sorted = ids.sorted { $0.compareUTF8($1) == .ascending }
    guard parent.isRoot else {
      browser.subcollections[parent] = sorted
      return []
    }
    let isFirst = browser.roots?.isEmpty != false
    browser.roots = sorted
    let uncounted = sorted.map { ResourcePath($0) }.filter { browser.windows[$0]?.total == nil }
    var effects = uncounted.map { Effect.client(.count($0)) }
    // A collection is opened at once, so that the first screen shows data: one that moves, where that is known.
    if isFirst, let first = sorted.first {
      let listened = listeners.lazy.map(\.query.path.text)
      let path = ResourcePath(listened.first { sorted.contains($0) } ?? first)
      let expansion = expand(path)
      browser.cursor.select(.collection(path))
      effects += expansion.filter { !effects.contains($0) }
    }
    return effects
  }

  private mutating func receive(_ status: ClientStatus) {
    let was = network
    network = status
    outages.note(isOffline: status.isOffline, isKnown: status.onlineState != .unknown, at: now)
    if was.isOffline != status.isOffline {
      let time = TimeText.clock(now, offset: configuration.utcOffset)
      let outage = status.reason == .storageFailed ? "the cache cannot be written" : "server out of reach"
      let why = status.isOffline ? (status.isNetworkEnabled ? outage : "by you") : ""
      let text = [status.isOffline ? "offline" : "online", time, why].filter { !$0.isEmpty }.joined(separator: " ")
      feed.append(FeedRow(time: now, kind: .divider, summary: text))
      // What was counted meanwhile was what the cache has.
      if !status.isOffline { for path in browser.windows.keys { browser.noteChange(in: path, at: now) } }
    }
  }

  private mutating func receive(_ waiting: [PendingWrite], of size: QueueSize?) {
    let known = Set(writes.live.filter { $0.isHeld && $0.isNonIdempotent }.map(\.batch))
    writes.replace(with: waiting, of: size)
    for row in writes.live where row.isHeld && row.isNonIdempotent && !known.contains(row.batch) {
      toast(.warning, "held: \(row.batch) is an increment and not idempotent: watch it on reconnect")
    }
  }

  private mutating func acknowledge(_ batch: BatchID, after time: Duration) {
    let row = writes.row(batch)
    writes.acknowledge(batch, after: time, at: now)
    for key in row?.documents ?? [] { browser.noteChange(in: key.collection, at: now) }
    guard let key = row?.documents.first, !isWatched(key) else { return }
    // No listener will report it, so the feed does.
    feed.append(
      FeedRow(time: now, kind: .modified, key: key, summary: "ack \(batch) in \(TimeText.latency(time))"))
    rate.note(1, at: now)
  }

  /// Whether a listener fires when a write to the document is acknowledged.
  private func isWatched(_ key: DocumentKey) -> Bool {
    listeners.contains { listener in
      guard listener.failure == nil, listener.options.includeMetadataChanges else { return false }
      return listener.query.path == key.path || (!listener.query.path.isDocument && listener.covers(key.collection))
    }
  }

  private mutating func reject(_ batch: BatchID, _ status: RPCStatus) {
    let row = writes.row(batch)
    writes.reject(batch, status)
    feed.append(
      FeedRow(
        time: now, kind: .failed, key: row?.documents.first, summary: "\(batch) rejected: \(status.description)"))
    rate.note(1, at: now)
    toast(.error, "\(batch) \(row?.operation.rawValue ?? "write") rejected: \(status.description)")
  }

  private mutating func cancelled(_ batch: BatchID) {
    let row = writes.row(batch)
    writes.cancel(batch)
    guard let key = row?.documents.first, !isWatched(key) else { return }
    feed.append(FeedRow(time: now, kind: .modified, key: key, isLocal: true, summary: "\(batch) taken back"))
    rate.note(1, at: now)
  }
}
