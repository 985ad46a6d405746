// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// One target of a watch stream, and the state of its synchronization with the client.
///
/// ```
///  starting ──► reading ─────┐       no position; or, after a RESET, one too old or unknown
///     │  ├────► catchingUp ──┼──► live     a known position
///     │  ├────► telling ─────┤       documents by name
///     │  └► filling ► (recalling) ► telling ► live     a window: found, compared with its old state, sent
///     └──────────────────────┘
///  any other phase ──► starting      too many pending changes (then from the client's position), or a cleared database
/// ```
struct SessionTarget {
  enum Phase {
    /// The phase before the first read. Commits are ignored, since their changes will be read.
    case starting(WatchTarget.Resume?, resets: Bool)
    /// The phase that sends all matches in storage order. Commits add pending changes only for documents up to the
    /// reached position.
    case reading(after: DocumentPosition?)
    /// The phase that sends the changes that the client missed while disconnected. Commits add pending changes.
    case catchingUp(MissedChanges)
    /// The phase that searches for the current documents of a target with a limit. Changed documents are recorded and
    /// applied at its end.
    case filling(WindowScan, since: Int64?)
    /// The phase that searches for the documents that the target had in the client's last state. Commits add pending
    /// changes.
    case recalling(WindowScan)
    /// The phase that sends the current state of these documents. Commits add pending changes.
    case telling(ArraySlice<DocumentKey>, alsoOthers: Bool, FilterNeed)
    case live
  }

  /// The cases in which a resumed client receives the document count.
  enum FilterNeed {
    case never, always
    /// The client receives the count only if its own count after the sent changes would differ from the real count.
    case unless(count: Int)
  }

  /// The number of rows read in one step on the backend's actor.
  static let stepSize = 1_000

  let id: TargetID
  let target: Target
  /// The keys of a document target, without duplicates; empty for a query.
  let documents: [DocumentKey]
  private(set) var expectedCount: Int?
  private(set) var phase: Phase
  private var window: LimitWindow?
  /// The document count of the reading phase; valid only if there was no commit since the phase began.
  private var read: (count: Int, version: Int64) = (0, 0)

  init(_ request: WatchTarget, others: [DocumentKey] = []) {
    id = request.id
    target = request.target
    documents = request.target.isDocumentTarget ? [DocumentKey(unchecked: request.target.path)] + others : []
    expectedCount = request.resume == nil ? nil : request.expectedCount
    phase = .starting(request.resume, resets: false)
    window = target.isDocumentTarget ? nil : target.limit.map { LimitWindow(request.target, limit: $0) }
  }

  var isLive: Bool { if case .live = phase { true } else { false } }

  /// Starts the target over. The client of a query then discards its documents.
  mutating func restart() {
    (phase, expectedCount) = (.starting(nil, resets: !target.isDocumentTarget), nil)
  }

  /// Schedules the changes after a version to be read from the log and sent. The client has everything up to that
  /// version.
  mutating func resume(after version: Int64) {
    let resume = WatchTarget.Resume.readTime(SnapshotVersion(microseconds: version))
    (phase, expectedCount) = (.starting(resume, resets: false), nil)
  }

  /// Applies one commit. Returns the changes to send to the target's client.
  mutating func apply(
    _ transitions: [DocumentTransition], _ reader: DocumentReader
  ) throws(StoreError) -> [MembershipChange] {
    var reached: DocumentPosition?
    switch phase {
    case .starting, .reading(after: nil): return []
    case .reading(let position?): reached = position
    case .filling(var scan, let since):
      scan.note(transitions)
      // The search for the window starts again, when the client reads, if more documents than this have changed.
      phase =
        scan.touched.count <= PendingChanges.maximumCount
        ? .filling(scan, since: since)
        : .starting(since.map { .readTime(SnapshotVersion(microseconds: $0)) }, resets: false)
      return []
    case .catchingUp, .recalling, .telling, .live: break
    }
    if window != nil {
      let target = target
      return try window?.apply(transitions) { limit throws(StoreError) in
        try reader.ordered(target, limit: limit, holding: LimitWindow.wholeBytes)
      } ?? []
    }
    return transitions.compactMap { transition in
      if let reached, reached < transition.position { return nil }
      let wasMember = transition.before.map(holds) ?? false
      let isMember = holds(transition.after)
      guard wasMember || isMember else { return nil }
      return MembershipChange(document: transition.after, wasMember: wasMember, isMember: isMember)
    }
  }

  private func holds(_ document: Document) -> Bool {
    documents.count > 1 ? document.exists && documents.contains(document.key) : target.holds(document)
  }

  /// Does one slice of the work that makes the target live. Returns the messages to send.
  /// - Parameters:
  ///   - limit: the size in bytes after which no more documents are added.
  ///   - historyStart: the version before which the history is unknown.
  mutating func step(
    _ reader: DocumentReader, upTo limit: Int, instance: [UInt8], historyStart: Int64
  ) throws(StoreError) -> [WatchChange] {
    var changes: [WatchChange] = []
    if case .starting(let resume, let resets) = phase {
      if resets { changes.append(.reset([id], nil)) }
      try start(resume, reader, instance, historyStart, &changes)
    }
    try stepWindow(reader, upTo: limit, historyStart)
    switch phase {
    case .reading(let position):
      var bytes = 0
      if position == nil { read = (0, reader.state.committed) }
      let next = try reader.scanMatches(of: ServedQuery(target), after: position, rows: Self.stepSize) { document in
        changes.append(.document(document, updated: [id], removed: []))
        read.count += 1
        bytes += document.storedSize
        return bytes < limit
      }
      phase = next.map { .reading(after: $0) } ?? .live
      if isLive, read.version == reader.state.committed { reader.counts?.note(read.count, of: target, reader) }
    case .catchingUp(let missed): try catchUp(missed, reader, upTo: limit, historyStart, &changes)
    case .telling(let keys, let alsoOthers, let need):
      try tell(keys, alsoOthers: alsoOthers, need, reader, upTo: limit, historyStart, &changes)
    case .starting, .filling, .recalling, .live: break
    }
    return changes
  }

  private mutating func start(
    _ resume: WatchTarget.Resume?, _ reader: DocumentReader, _ instance: [UInt8], _ historyStart: Int64,
    _ changes: inout [WatchChange]
  ) throws(StoreError) {
    var since = resume.flatMap { reader.version(of: $0, instance: instance) }
    if target.isDocumentTarget {
      phase = .telling(try unknownDocuments(since, reader)[...], alsoOthers: true, .never)
      return
    }
    // The history no longer has removed documents of that time. A client that sent a count can detect them; any other
    // client must start over.
    if let known = since, known < historyStart, expectedCount == nil { since = nil }
    if resume != nil, since == nil { changes.append(.reset([id], nil)) }
    if let window {
      try startWindow(window, since, reader)
    } else if let since {
      phase = .catchingUp(MissedChanges(since: since))
    } else {
      readAll()
    }
  }

  private mutating func readAll() {
    phase = KeyRange(target).keys.map { .telling($0[...], alsoOthers: false, .never) } ?? .reading(after: nil)
  }

  /// The documents of a document target whose current state the client may not have.
  private func unknownDocuments(_ since: Int64?, _ reader: DocumentReader) throws(StoreError) -> [DocumentKey] {
    // The client does not report which of several documents it has.
    guard let since, documents.count == 1, expectedCount != 0 else { return documents }
    let document = try reader.document(documents[0])
    return document.exists && document.isNotNewer(than: since) ? [] : documents
  }

  private mutating func catchUp(
    _ missed: MissedChanges, _ reader: DocumentReader, upTo limit: Int, _ historyStart: Int64,
    _ changes: inout [WatchChange]
  ) throws(StoreError) {
    // The target starts over if the log no longer has the unread changes, or if the client's documents are unknown.
    guard !missed.isCut(reader.state), missed.since >= historyStart || expectedCount != nil else {
      changes.append(.reset([id], nil))
      return readAll()
    }
    var missed = missed
    for change in try missed.next(of: target, upTo: limit, historyStart: historyStart, reader) {
      changes.append(state(of: change.document, isMember: change.isMember))
    }
    guard missed.isDone else {
      phase = .catchingUp(missed)
      return
    }
    let need = missed.isVague ? FilterNeed.always : expectedCount.map { .unless(count: $0 + missed.growth) } ?? .never
    if let filter = try filter(need, reader, historyStart) { changes.append(.filter(id, filter)) }
    phase = .live
  }

  private mutating func startWindow(
    _ window: LimitWindow, _ since: Int64?, _ reader: DocumentReader
  ) throws(StoreError) {
    // A scan in storage order finds the window's documents first, so one step is enough.
    if target.orderBy.count == 1, target.orderBy[0].path.isDocumentID {
      let target = target
      try self.window?.fill { limit throws(StoreError) in
        try reader.ordered(target, limit: limit, holding: LimitWindow.wholeBytes)
      }
      return try recall(since, reader)
    }
    phase = .filling(
      WindowScan(target, limit: window.capacity, at: reader.state.version, holding: LimitWindow.wholeBytes),
      since: since)
  }

  /// Continues the search for the current and earlier documents of a window, by at most a slice for each.
  private mutating func stepWindow(
    _ reader: DocumentReader, upTo limit: Int, _ historyStart: Int64
  ) throws(StoreError) {
    if case .filling(var scan, let since) = phase {
      // The history no longer has the changed documents' contents at the scan's version.
      if scan.version < historyStart, let window { return try startWindow(window, since, reader) }
      try scan.read(target, reader, upTo: limit)
      guard scan.isDone else {
        phase = .filling(scan, since: since)
        return
      }
      let (target, transitions) = (target, try scan.transitions(reader))
      try window?.fill { _ in scan.finish() }
      _ = try window?.apply(transitions) { limit throws(StoreError) in
        try reader.ordered(target, limit: limit, holding: LimitWindow.wholeBytes)
      }
      try recall(since, reader)
    }
    if case .recalling(var scan) = phase {
      if scan.version < historyStart { return tellWindow(before: nil, scan.version) }
      try scan.read(target, reader, upTo: limit)
      guard scan.isDone else {
        phase = .recalling(scan)
        return
      }
      tellWindow(before: Set(scan.finish().documents.map(\.key)), scan.version)
    }
  }

  /// Starts the search for the earlier documents of a filled window, if anything has changed since that version.
  private mutating func recall(_ since: Int64?, _ reader: DocumentReader) throws(StoreError) {
    guard let window else { return }
    guard let since else {
      phase = .telling(window.shownDocuments.map(\.key)[...], alsoOthers: false, .never)
      return
    }
    if try reader.hasChanged(target, since: since) {
      phase = .recalling(WindowScan(target, limit: window.limit, at: since, holding: 0))
    } else {
      phase = .telling([], alsoOthers: false, expectedCount.map { .unless(count: $0) } ?? .never)
    }
  }

  /// Starts to send the added, removed and changed documents of a resumed window, or the whole window if its earlier
  /// documents are unknown.
  private mutating func tellWindow(before: Set<DocumentKey>?, _ since: Int64) {
    guard let window else { return }
    let shown = window.shownDocuments
    guard let before else {
      phase = .telling(shown.map(\.key)[...], alsoOthers: false, .always)
      return
    }
    let new = shown.filter { !before.contains($0.key) || !$0.isNotNewer(than: since) }.map(\.key)
    let gone = before.subtracting(window.shown).sorted()
    let growth = shown.count - before.count
    phase = .telling((gone + new)[...], alsoOthers: true, expectedCount.map { .unless(count: $0 + growth) } ?? .never)
  }

  /// - Parameter alsoOthers: whether documents that do not match are sent as removed.
  private mutating func tell(
    _ keys: ArraySlice<DocumentKey>, alsoOthers: Bool, _ need: FilterNeed, _ reader: DocumentReader, upTo limit: Int,
    _ historyStart: Int64, _ changes: inout [WatchChange]
  ) throws(StoreError) {
    var (keys, bytes) = (keys, 0)
    while bytes < limit, let key = keys.popFirst() {
      let document = try reader.document(key)
      let isMember = window.map { $0.shown.contains(key) } ?? holds(document)
      guard isMember || alsoOthers else { continue }
      changes.append(state(of: document, isMember: isMember))
      bytes += document.storedSize
    }
    guard keys.isEmpty else {
      phase = .telling(keys, alsoOthers: alsoOthers, need)
      return
    }
    if let filter = try filter(need, reader, historyStart) { changes.append(.filter(id, filter)) }
    phase = .live
  }

  private func state(of document: Document, isMember: Bool) -> WatchChange {
    .document(document, updated: isMember ? [id] : [], removed: isMember ? [] : [id])
  }

  /// The number of matches, if the client must compare it with its own count; else `nil`.
  private func filter(
    _ need: FilterNeed, _ reader: DocumentReader, _ historyStart: Int64
  ) throws(StoreError) -> ExistenceFilter? {
    if case .never = need { return nil }
    let count: Int
    if let window {
      count = window.shown.count
    } else {
      count = try reader.count(of: target, historyStart: historyStart)
    }
    if case .unless(count: count) = need { return nil }
    return try existenceFilter(of: count) { insert throws(StoreError) in
      if let window {
        for document in window.shownDocuments { insert(reader.database.name(of: document.key)) }
      } else {
        _ = try reader.scanMatches(of: ServedQuery(target), after: nil, rows: .max) { document in
          insert(reader.database.name(of: document.key))
          return true
        }
      }
    }
  }

  /// The share of removed documents that the filter seems to contain: one in ten thousand. If there is such a document,
  /// the client's count stays wrong, and the client requests the whole result again.
  private static let falsePositiveRate = 0.0001

  /// - Parameter names: calls its argument with the name of each matching document; used only if the client sent a
  ///   count.
  private func existenceFilter(
    of count: Int, names: ((String) -> Void) throws(StoreError) -> Void
  ) throws(StoreError) -> ExistenceFilter {
    guard let expectedCount, expectedCount > 0 else { return ExistenceFilter(count: count) }
    var builder = BloomFilterBuilder(count: count, falsePositiveRate: Self.falsePositiveRate)
    try names { builder.insert($0) }
    return ExistenceFilter(count: count, unchangedNames: builder.bits)
  }
}

extension Document {
  fileprivate func isNotNewer(than version: Int64) -> Bool { (self.version?.microseconds ?? .max) <= version }
}
