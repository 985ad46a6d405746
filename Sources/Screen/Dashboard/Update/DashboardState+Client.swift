// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension DashboardState {
  mutating func receive(_ event: ClientEvent) -> [Effect] {
    let now = now
    switch event {
    case .listenerStarted(let listener): receive(started: listener)
    case .snapshot(let snapshot):
      if !snapshot.changes.isEmpty { notePreviewChange() }
      receive(snapshot)
      browser.refreshHits(snapshot.changes)
      noteInside(snapshot.changes)
      guard let listener = listening[snapshot.listener] else { return [] }
      return settleOrder(of: listener.query.path) + (snapshot.isFromCache ? [] : askDeniedAgain(coveredBy: listener))
    case .listenerFailed(let tag, let status): fail(tag, status)
    case .listenerStopped(let tag): receive(stopped: tag)
    case .snapshotsMissed(let count, let results): receive(missed: count, results)
    case .faults(let settings, let waiting): faults = ClientFaults(settings: settings, waiting: waiting)
    case .traffic(let event): feed.append(FeedRow(event))
    case .closed: endAttachment("\(configuration.attached?.title ?? "the program") has closed its client")
    case .attachmentEnded(let reason): endAttachment(reason)
    case .requestFailed(let status): toast(.error, "\(status)")
    case .windowLoaded(let tag, let documents, let isRead, let total):
      let isFromCache = isRead && !isHeard(tag)
      if browser.result?.receive(tag, documents, isFromCache: isFromCache, at: now) == true { return [] }
      noteWindow(tag, documents)
      notePreviewChange()
      let path = browser.path(of: tag)
      let effects = browser.load(tag, documents, isFromCache: isFromCache, total: total, at: now)
      return effects + (path.map { settleOrder(of: $0) + reopenOutgrown($0) } ?? [])
    case .searched(let tag, let news): browser.take(news, of: tag)
    case .windowFailed(let tag, let status):
      if browser.result?.fail(tag, status) == true { return [] }
      giveUpSearch(tag, status)
      browser.fail(tag, status)
    case .located(let tag, let key, let count): return receive(located: key, by: tag, cachedCount: count)
    case .collections(let parent, let ids): return receive(collections: ids, below: parent)
    case .collectionsUnlisted(let parent, let status): if parent.isRoot { noteUnlisted(status) }
    case .missingDocuments(let path, let keys): browser.missing[path] = keys.sorted()
    case .counted(let path, let count, let isFromCache):
      receive(count: count, of: path, isFromCache: isFromCache)
    case .committed(let news): return receive(news)
    case .commitsUnheard: browser.hearsCommits = false
    case .status(let status): receive(status)
    case .reads(let meters):
      network.reads = meters
      listening.note(meters, at: now)
    case .storage(let notice):
      storage.note(notice)
      toast(.warning, notice.message)
    case .peers(let peers): if let news = storage.note(peers) { toast(.info, news) }
    case .pendingWrites(let waiting, let size):
      notePreviewChange()
      receive(waiting, of: size)
    case .writeAcknowledged(let batch, let time, let documents): acknowledge(batch, after: time, of: documents)
    case .writeRejected(let batch, let status): reject(batch, status)
    case .writeCancelled(let batch): cancelled(batch)
    case .outcomesMissed(let count):
      let name = configuration.attached?.title ?? "the program"
      toast(
        .warning,
        "The result\(count == 1 ? "" : "s") of \(grouped(count)) write\(count == 1 ? " is" : "s are") unknown: \(name) reported too late."
      )
    case .rejectedWrites(let rejected):
      writes.replaceRejected(with: rejected)
      // A write that was queued and rejected between two reads of the queue was unknown when its end was reported.
      for write in rejected { if let key = write.mutations.first?.key { feed.complete(write.id, with: key) } }
    case .rejectedWritesForgotten(let batches): forget(batches)
    case .detail(let key, let remote, let overlay, let local, let isFromCache):
      guard detail?.key == key else { return [] }
      detail?.remote = remote
      detail?.overlay = overlay
      detail?.local = local
      detail?.isLoaded = true
      detail?.failure = nil
      detail?.source = isFromCache.map { DocumentSource(isFromCache: $0, time: now) }
      if let local { note(local, in: Query(path: key.path), readBy: "the open document") }
      if let fields = local?.data?.fields, self.overlay?.fieldEditor?.key == key {
        self.overlay?.fieldEditor?.note(fields)
      }
    case .detailFailed(let key, let status): noteDenial(of: key, status)
    case .conflict(let conflict): receive(conflict)
    case .answered: break
    case .contested(let conflict): receive(conflict)
    case .explained(let query, let result): receive(result, of: query)
    case .decisions(let result): receive(result)
    case .previewed(let query, let preview): receive(preview, about: query)
    case .inside(let result): receive(result)
    case .surveyed(let result): receive(result)
    case .fieldTypes(let path, let result): receive(result, of: path)
    case .indexes(let states): return receive(states)
    case .retentions(let retentions): return receive(retentions)
    }
    return []
  }

  /// Whether an event tells the user something new. Updates of the connection's figures do not count.
  func isNews(_ event: ClientEvent) -> Bool {
    switch event {
    case .status(let status): status.isOffline != network.isOffline || status.onlineState != network.onlineState
    case .counted(let path, let count, isFromCache: _):
      browser.windows[path].map { $0.total != nil && $0.total != count } ?? false
    case .committed(let news): news != .everything
    case .collections(.root, let ids): Set(ids) != browser.roots.map(Set.init)
    case .collectionsUnlisted(let parent, let status): parent.isRoot && browser.rootsFailure != status
    case .windowLoaded(let tag, let documents, _, _): isNews(documents, in: tag)
    case .detail(let key, _, _, let local, _):
      detail.map { $0.key == key && $0.isLoaded && $0.local?.data != local?.data } ?? false
    case .detailFailed(let key, let status): detail.map { $0.key == key && $0.failure != status } ?? false
    case .reads, .commitsUnheard, .answered, .collections, .missingDocuments, .located, .windowFailed, .explained,
      .decisions,
      .previewed,
      .inside, .surveyed, .fieldTypes, .indexes, .retentions:
      // Replies to keys.
      false
    default: true
    }
  }

  /// Whether the shown documents of a collection window have changed for a reason other than a pressed key.
  private func isNews(_ documents: [Document], in tag: WindowTag) -> Bool {
    guard let path = browser.path(of: tag), let shown = browser.windows[path]?.shown, shown.tag == tag,
      let loaded = browser.windows[path]?.loaded, !loaded.isEmpty
    else { return false }
    return loaded.map(\.key) != documents.map(\.key) || loaded.map(\.data) != documents.map(\.data)
  }

  /// The maximum count of changes per snapshot whose fields are examined.
  private static let mostNoted = 20

  private mutating func receive(_ snapshot: ListenerSnapshot) {
    guard let listener = listening[snapshot.listener] else { return }
    // The next status has the same time, but may arrive much later.
    if snapshot.causes.contains(where: \.isFromServer) { network.lastSnapshotAt = now }
    for change in snapshot.changes.prefix(Self.mostNoted) where browser.document(change.document.key) == nil {
      browser.noteFields(of: change.document, previous: change.previous)
    }
    let collections = Set(snapshot.changes.lazy.map(\.document.key.collection))
    let interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, interest(in: $0)) })
    var rows = SnapshotRows(
      snapshot: snapshot, listener: listener, time: now, glyphs: configuration.glyphs, writes: writes,
      interest: { interests[$0] ?? FieldInterest(FieldStatistics(), picked: nil) }
    ).rows()
    note(&rows)
    if !rows.contains(where: { $0.key != nil }) { noteKnown(snapshot.changes, of: listener.query) }
    for row in rows { feed.append(row) }
    let events = rows.reduce(0) { $0 + $1.count }
    feed.countEvents(events, at: now)
    wall.note(events: events, of: snapshot.listener, at: now)
    // The first snapshot of another program's listener is not reported.
    let earlier = listening.result(of: snapshot.listener)
    if let listener = listening.note(snapshot, keepsResults: configuration.attached == nil) {
      noteCount(of: listener, snapshot)
    }
    noteResult(snapshot, from: earlier)
    let others = ChangesByOthers(snapshot, writes)
    let firstRow = (feed.rows.last?.id ?? 0) + 1 - rows.count
    let isEarly = !others.changes.isEmpty || !snapshot.isFromCache
    noteReconnection {
      if $0.end == nil, isEarly { $0.noteRow(firstRow) }
      $0.noteSnapshot(
        of: snapshot.listener, others.changes, lookedUp: others.lookedUp, isFromCache: snapshot.isFromCache)
    }
  }

  private mutating func receive(collections ids: [String], below parent: ResourcePath) -> [Effect] {
    let sorted = ids.sorted { $0.compareUTF8($1) == .ascending }
    guard parent.isRoot else {
      browser.subcollections[parent] = sorted
      return []
    }
    let isFirst = browser.roots?.isEmpty != false
    if let known = browser.roots, known != sorted { browser.hasNewsFromOthers = true }
    browser.roots = sorted
    browser.rootsFailure = nil
    beginReviews()
    let uncounted = sorted.map { ResourcePath($0) }.filter { browser.windows[$0]?.total == nil }
    var effects = uncounted.map { Effect.client(.count($0)) }
    // Opens one collection immediately so that the first screen shows data: one with a listener, else the first.
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
    network.reads = was.reads
    let ended = outages.note(status, after: was, at: now)
    if was.isOffline != status.isOffline {
      feed.note(isOffline: status.isOffline, at: now)
      if status.isOffline {
        let outage = status.reason == .storageFailed ? "the cache cannot be written" : "server out of reach"
        let clock = TimeText.clock(now, offset: configuration.utcOffset)
        let reason = status.isNetworkEnabled ? outage : "by \(plugHolder)"
        feed.append(FeedRow(time: now, kind: .divider, summary: "offline \(clock) \(reason)"))
        outages.begin(Reconnection(from: now))
      }
      if let ended { endOutage(ended) }
      // Counts made meanwhile came from the cache.
      if !status.isOffline {
        for path in browser.windows.keys {
          browser.windows[path]?.count.forgetCached()
          browser.noteChange(in: path, at: now)
        }
      }
    }
  }

  private mutating func receive(_ waiting: [PendingWrite], of size: QueueSize?) {
    let known = Set(writes.live.filter { $0.isHeld && $0.isNonIdempotent }.map(\.batch))
    let newest = writes.live.last?.batch
    writes.replace(with: isInScenario ? onScreenClock(waiting) : waiting, of: size)
    writes.noteProgress(at: now)
    // The cache's own count includes a write immediately.
    let recent = now.advanced(seconds: -Self.justMade)
    let made = writes.live.count { row in
      row.write.localWriteTime > recent && newest.map { $0 < row.batch } ?? true
    }
    if made > 0 { feed.note(.write, at: now) }
    wall.note(made: made, at: now)
    let new = network.isOffline ? writes.live.filter { row in newest.map { $0 < row.batch } ?? true } : []
    for key in new.flatMap(\.documents) { browser.noteChange(in: key.collection, at: now) }
    for row in writes.live where row.isHeld && row.isNonIdempotent && !known.contains(row.batch) {
      toast(.warning, "pending: \(row.batch) is an increment and not idempotent: watch it on reconnect")
    }
  }

  /// The pending writes of a scenario, with the times when the screen first showed them. The writes' own times are not
  /// used, because the scenario's clock stops while the scenario waits between two steps.
  private func onScreenClock(_ waiting: [PendingWrite]) -> [PendingWrite] {
    let known = Dictionary(
      writes.live.map { ($0.batch, $0.write.localWriteTime) }, uniquingKeysWith: { first, _ in first })
    return waiting.map { write in
      var write = write
      write.localWriteTime = known[write.id] ?? now
      return write
    }
  }

  /// A queued write that is at most this many seconds old counts as made in this session.
  private static let justMade: Int64 = 5

  /// - Parameter told: the documents that the client reports for a batch, if the server acknowledged the batch before
  ///   the client listed it in the queue.
  private mutating func acknowledge(_ batch: BatchID, after time: Duration?, of told: WrittenDocuments?) {
    let row = writes.row(batch)
    noteEarlyRow()
    writes.acknowledge(batch, after: time, at: now, of: told)
    outages.noteAnswer(to: batch, after: time, at: now)
    feed.note(.acknowledged, at: now)
    wall.noteAcknowledged(after: time, at: now)
    let answer = writes.answers[batch] ?? WriteAnswer(batch, after: time)
    feed.note(answer)
    versions.note(answer)
    let known = row.map { WrittenDocuments(of: $0.write.mutations, naming: .max) }
    let written = known ?? told ?? WrittenDocuments(of: [])
    for document in written.first { browser.noteChange(in: document.key.collection, at: now) }
    let silent = written.first.filter { !isReported($0, by: batch) }
    for document in silent.prefix(Self.mostAcknowledged) { note(answer, to: document) }
    let more = max(0, silent.count - Self.mostAcknowledged) + written.unnamed
    if more > 0 {
      feed.append(
        FeedRow(
          time: now, kind: .modified,
          summary: answer.text + " \(configuration.glyphs.bullet) "
            + "\(grouped(more)) more document\(more == 1 ? "" : "s")"))
      feed.countEvents(at: now)
    }
    // The row of a reconnection comes below the rows of its writes.
    noteReconnection { [now] in $0.noteAcknowledged(batch, at: now, after: answer.age) }
  }

  /// The maximum count of documents in a batch that each get a feed row for the acknowledgement.
  private static let mostAcknowledged = 20

  /// Adds a feed row for an acknowledgement that no listener will report. This happens if the document does not exist
  /// or no listener covers it.
  private mutating func note(_ answer: WriteAnswer, to document: WrittenDocument) {
    let echoes = feed.echoes(of: answer.batch, in: document.key)
    var row = FeedRow(time: now, kind: document.effect.feedKind, key: document.key, summary: answer.text)
    row.acknowledges = answer.batch
    if document.effect == .deleted { row.summary += " \(configuration.glyphs.bullet) deleted" }
    if echoes.isEmpty { feed.append(row) }
    for echo in echoes {
      row.listener = echo.listener
      row.listenerName = echo.listenerName
      feed.append(row)
    }
    feed.countEvents(max(1, echoes.count), at: now)
  }

  /// Whether a listener has reported that a write to a document was acknowledged, or will report it.
  private func isReported(_ written: WrittenDocument, by batch: BatchID) -> Bool {
    let key = written.key
    if feed.rows.suffix(256).contains(where: { $0.acknowledges == batch && $0.key == key }) { return true }
    // Listeners do not report a nonexistent document, or one that another write still covers.
    guard written.effect != .deleted, writes.batch(touching: key) == nil, let document = document(key) else {
      return false
    }
    if !document.exists { return false }
    return listeners.contains { listener in
      guard listener.failure == nil, listener.options.includeMetadataChanges,
        DetailContent.watches(listener, key, document)
      else { return false }
      // A document outside the limit is not reported.
      return listener.query.limit == nil || feed.echoes(of: batch, in: key).contains { $0.listener == listener.tag }
    }
  }

  /// Whether a listener fires when a write to the document is canceled.
  private func isWatched(_ key: DocumentKey) -> Bool {
    listeners.contains { listener in
      guard listener.failure == nil, listener.options.includeMetadataChanges else { return false }
      return listener.query.path == key.path || (!listener.query.path.isDocument && listener.covers(key.collection))
    }
  }

  private mutating func receive(_ conflict: WriteConflict) {
    writes.note(conflict)
    let shown = conflict.fields.prefix(2).map { field in
      let (theirs, base) = (text(of: field.theirs), text(of: field.base))
      let what = field.mine.map { "wrote \(ValueText.short($0)) over \(theirs)" } ?? "removed \(theirs)"
      return "\(field.path.canonicalText): \(what), saw \(base)"
    }
    let left = conflict.fields.count - 2
    let more = left > 0 ? "\(left) more field\(left == 1 ? "" : "s")" : nil
    let words = ["conflict \(conflict.batch)"] + shown + [more].compactMap(\.self)
    var row = FeedRow(
      time: now, kind: .conflict, key: conflict.key,
      summary: words.joined(separator: " \(configuration.glyphs.bullet) "))
    row.ends = conflict.batch
    feed.append(row)
    noteReconnection { $0.note(conflict) }
    feed.note(.conflict, at: now)
    feed.countEvents(at: now)
    toast(.warning, "\(conflict.batch) replaced changes that you had not seen in \(conflict.key.path.text)")
  }

  private func text(of value: Value?) -> String { value.map(ValueText.short) ?? "nothing" }

  /// Stores the versions of the documents that the tree in pane 1 shows next.
  private mutating func noteWindow(_ tag: WindowTag, _ documents: [Document]) {
    guard let path = browser.path(of: tag) else { return }
    for document in documents { note(document, in: Query(path: path), readBy: "the tree") }
  }

  private mutating func reject(_ batch: BatchID, _ status: RPCStatus) {
    let row = writes.row(batch)
    noteEarlyRow()
    writes.reject(batch, status, at: now)
    feed.note(.rejected, at: now)
    wall.noteRejected(at: now)
    var told = FeedRow(
      time: now, kind: .failed, key: row?.documents.first,
      summary: "\(batch) rejected: \(status.lineText(beside: row?.documents.first))")
    told.ends = batch
    feed.append(told)
    let age = row.map { Duration.milliseconds(now.milliseconds(since: $0.write.localWriteTime)) }
    noteReconnection { [now] in $0.noteRejected(batch, row?.documents.first, status, at: now, after: age) }
    feed.countEvents(at: now)
    let subject = row?.documents.first?.path.text ?? row?.operation.rawValue ?? "write"
    toast(.error, "\(batch) \(subject) rejected: \(status.lineText(beside: row?.documents.first))")
  }

  private mutating func cancelled(_ batch: BatchID) {
    let row = writes.row(batch)
    writes.cancel(batch, at: now)
    noteReconnection { $0.noteCancelled(batch) }
    guard let key = row?.documents.first, !isWatched(key) else { return }
    feed.append(FeedRow(time: now, kind: .modified, key: key, isLocal: true, summary: "\(batch) canceled"))
    feed.countEvents(at: now)
  }
}

extension WrittenDocument.Effect {
  /// The kind of the feed rows that report the effect.
  fileprivate var feedKind: FeedRow.Kind {
    switch self {
    case .created: .added
    case .changed: .modified
    case .deleted: .removed
    }
  }
}
