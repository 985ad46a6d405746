// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// One target of a watch stream and how much of it the client has been told.
///
/// ```
///  starting ──► reading ─────┐       no position, or one too old or unknown (then after a RESET)
///     │  ├────► catchingUp ──┼──► live     a known position
///     │  ├────► telling ─────┤       documents by name
///     │  └► filling ► (recalling) ► telling ► live     a window: found, compared with what it was, told
///     └──────────────────────┘
///  any but starting ──► starting     too much pending (then from where the client is), or the database was cleared
/// ```
struct SessionTarget {
  enum Phase {
    /// Nothing has been read. Commits need no attention: they will be read.
    case starting(WatchTarget.Resume?, resets: Bool)
    /// All matches are being sent in storage order; up to the position they have been. Commits matter up to there.
    case reading(after: DocumentPosition?)
    /// What happened to the target's documents while the client was away is being sent. Commits matter.
    case catchingUp(MissedChanges)
    /// What a window shows is being looked for. Commits are noted.
    case filling(WindowScan, since: Int64?)
    /// What a window showed when the client was last told is being looked for. Commits matter.
    case recalling(WindowScan)
    /// These documents are being sent, as they are when their turn comes. Commits matter.
    case telling(ArraySlice<DocumentKey>, alsoOthers: Bool, FilterNeed)
    case live
  }

  /// When a resumed client is told how many documents there are.
  enum FilterNeed {
    case never, always
    /// If it has another number of them, once it was told what changed.
    case unless(count: Int)
  }

  /// Rows read in one step on the backend's actor.
  static let stepSize = 1_000

  let id: TargetID
  let target: Target
  /// What a target of documents names, each once; empty for a query.
  let documents: [DocumentKey]
  private(set) var expectedCount: Int?
  private(set) var phase: Phase
  private var window: LimitWindow?

  init(_ request: WatchTarget, others: [DocumentKey] = []) {
    id = request.id
    target = request.target
    documents = request.target.isDocumentTarget ? [DocumentKey(unchecked: request.target.path)] + others : []
    expectedCount = request.resume == nil ? nil : request.expectedCount
    phase = .starting(request.resume, resets: false)
    window = target.isDocumentTarget ? nil : target.limit.map { LimitWindow(request.target, limit: $0) }
  }

  var isLive: Bool { if case .live = phase { true } else { false } }

  /// Starts over; the client is told to forget a query's documents.
  mutating func restart() {
    (phase, expectedCount) = (.starting(nil, resets: !target.isDocumentTarget), nil)
  }

  /// Has what changed after a version, up to which the client knows everything, read when it is told.
  mutating func resume(after version: Int64) {
    let resume = WatchTarget.Resume.readTime(SnapshotVersion(microseconds: version))
    (phase, expectedCount) = (.starting(resume, resets: false), nil)
  }

  /// What one commit means to the target's client.
  mutating func apply(
    _ transitions: [DocumentTransition], _ reader: DocumentReader
  ) throws(StoreError) -> [MembershipChange] {
    var reached: DocumentPosition?
    switch phase {
    case .starting, .reading(after: nil): return []
    case .reading(let position?): reached = position
    case .filling(var scan, let since):
      scan.note(transitions)
      // One that changes so much is looked for anew when the client reads.
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

  /// Does a slice of the work until the target is live.
  /// - Parameters:
  ///   - limit: what its documents hold, but for the last of them.
  ///   - historyStart: what was before is not known.
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
      let next = try reader.scanMatches(of: ServedQuery(target), after: position, rows: Self.stepSize) { document in
        changes.append(.document(document, updated: [id], removed: []))
        bytes += document.storedSize
        return bytes < limit
      }
      phase = next.map { .reading(after: $0) } ?? .live
    case .catchingUp(let missed): try catchUp(missed, reader, upTo: limit, historyStart, &changes)
    case .telling(let keys, let alsoOthers, let need):
      try tell(keys, alsoOthers: alsoOthers, need, reader, upTo: limit, &changes)
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
      return phase = .telling(try unknownDocuments(since, reader)[...], alsoOthers: true, .never)
    }
    // Without the number of its documents the client could not be told that some left of which nothing is known any more.
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

  /// The documents of a target of documents that its client may not know as they are.
  private func unknownDocuments(_ since: Int64?, _ reader: DocumentReader) throws(StoreError) -> [DocumentKey] {
    // Which of several documents the client holds is not said.
    guard let since, documents.count == 1, expectedCount != 0 else { return documents }
    let document = try reader.document(documents[0])
    return document.exists && document.isNotNewer(than: since) ? [] : documents
  }

  private mutating func catchUp(
    _ missed: MissedChanges, _ reader: DocumentReader, upTo limit: Int, _ historyStart: Int64, _ changes: inout [WatchChange]
  ) throws(StoreError) {
    // What was not read yet is gone, or what the client had is: then it begins anew.
    guard !missed.isCut(reader.state), missed.since >= historyStart || expectedCount != nil else {
      changes.append(.reset([id], nil))
      return readAll()
    }
    var missed = missed
    for change in try missed.next(of: target, upTo: limit, historyStart: historyStart, reader) {
      changes.append(state(of: change.document, isMember: change.isMember))
    }
    guard missed.isDone else { return phase = .catchingUp(missed) }
    let need = missed.isVague ? FilterNeed.always : expectedCount.map { .unless(count: $0 + missed.growth) } ?? .never
    if let filter = try filter(need, reader) { changes.append(.filter(id, filter)) }
    phase = .live
  }

  private mutating func startWindow(
    _ window: LimitWindow, _ since: Int64?, _ reader: DocumentReader
  ) throws(StoreError) {
    // In the order of storage the first documents are found first.
    if target.orderBy.count == 1, target.orderBy[0].path.isDocumentID {
      let target = target
      try self.window?.fill { limit throws(StoreError) in
        try reader.ordered(target, limit: limit, holding: LimitWindow.wholeBytes)
      }
      return try recall(since, reader)
    }
    phase = .filling(
      WindowScan(target, limit: window.capacity, at: reader.state.version, holding: LimitWindow.wholeBytes), since: since)
  }

  /// Looks for what a window shows, and showed, until that is known or a slice is read.
  private mutating func stepWindow(
    _ reader: DocumentReader, upTo limit: Int, _ historyStart: Int64
  ) throws(StoreError) {
    if case .filling(var scan, let since) = phase {
      // Of documents that changed since the scan began it is not known any more what they were.
      if scan.version < historyStart, let window { return try startWindow(window, since, reader) }
      try scan.read(target, reader, upTo: limit)
      guard scan.isDone else { return phase = .filling(scan, since: since) }
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
      guard scan.isDone else { return phase = .recalling(scan) }
      tellWindow(before: Set(scan.finish().documents.map(\.key)), scan.version)
    }
  }

  /// A window is filled: goes on with what it was, if anything changed since.
  private mutating func recall(_ since: Int64?, _ reader: DocumentReader) throws(StoreError) {
    guard let window else { return }
    guard let since else {
      return phase = .telling(window.shownDocuments.map(\.key)[...], alsoOthers: false, .never)
    }
    if try reader.hasChanged(target, since: since) {
      phase = .recalling(WindowScan(target, limit: window.limit, at: since, holding: 0))
    } else {
      phase = .telling([], alsoOthers: false, expectedCount.map { .unless(count: $0) } ?? .never)
    }
  }

  /// A resumed window is told what came into it, what left it and what changed in it; whole, where it is not known what was
  /// in it.
  private mutating func tellWindow(before: Set<DocumentKey>?, _ since: Int64) {
    guard let window else { return }
    let shown = window.shownDocuments
    guard let before else {
      return phase = .telling(shown.map(\.key)[...], alsoOthers: false, .always)
    }
    let new = shown.filter { !before.contains($0.key) || !$0.isNotNewer(than: since) }.map(\.key)
    let gone = before.subtracting(window.shown).sorted()
    let growth = shown.count - before.count
    phase = .telling((gone + new)[...], alsoOthers: true, expectedCount.map { .unless(count: $0 + growth) } ?? .never)
  }

  /// - Parameter alsoOthers: those that the target does not have are told to be gone.
  private mutating func tell(
    _ keys: ArraySlice<DocumentKey>, alsoOthers: Bool, _ need: FilterNeed, _ reader: DocumentReader, upTo limit: Int,
    _ changes: inout [WatchChange]
  ) throws(StoreError) {
    var (keys, bytes) = (keys, 0)
    while bytes < limit, let key = keys.popFirst() {
      let document = try reader.document(key)
      let isMember = window.map { $0.shown.contains(key) } ?? holds(document)
      guard isMember || alsoOthers else { continue }
      changes.append(state(of: document, isMember: isMember))
      bytes += document.storedSize
    }
    guard keys.isEmpty else { return phase = .telling(keys, alsoOthers: alsoOthers, need) }
    if let filter = try filter(need, reader) { changes.append(.filter(id, filter)) }
    phase = .live
  }

  private func state(of document: Document, isMember: Bool) -> WatchChange {
    .document(document, updated: isMember ? [id] : [], removed: isMember ? [] : [id])
  }

  /// The number of matches, where the client is to compare it with its own.
  private func filter(_ need: FilterNeed, _ reader: DocumentReader) throws(StoreError) -> ExistenceFilter? {
    if case .never = need { return nil }
    let count: Int
    if let window { count = window.shown.count } else { count = try reader.countMatches(of: ServedQuery(target)) }
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

  /// One in ten thousand removed documents escapes the filter; then the client asks for everything.
  private static let falsePositiveRate = 0.0001

  /// - Parameter names: gives the names of the documents; called only for a client that wants them.
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
