// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// One target of a watch stream and how much of it the client has been told.
///
/// ```
///  starting ──► reading ─────┐       no position, or one too old or unknown (then after a RESET)
///     │  └────► catchingUp ──┼──► live     a known position
///     └──────────────────────┘       a document, or a window: told in one step
///  any but starting ──► starting     too much pending, or the database was cleared
/// ```
struct SessionTarget {
  enum Phase {
    /// Nothing has been read. Commits need no attention: they will be read.
    case starting(WatchTarget.Resume?, resets: Bool)
    /// All matches are being sent in storage order; up to the position they have been. Commits matter up to there.
    case reading(after: DocumentPosition?)
    /// Documents that changed while the client was away are being sent. Commits matter.
    case catchingUp(ArraySlice<DocumentKey>)
    case live
  }

  /// Rows read, or changed documents looked up, in one step on the backend's actor.
  static let stepSize = 1_000

  let id: TargetID
  let target: Target
  /// What a target of documents names, each once; empty for a query.
  let documents: [DocumentKey]
  let expectedCount: Int?
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
  mutating func restart() { phase = .starting(nil, resets: !target.isDocumentTarget) }

  /// What one commit means to the target's client.
  mutating func apply(
    _ transitions: [DocumentTransition], _ reader: DocumentReader
  ) throws(StoreError) -> [MembershipChange] {
    var reached: DocumentPosition?
    switch phase {
    case .starting, .reading(after: nil): return []
    case .reading(let position?): reached = position
    case .catchingUp, .live: break
    }
    if window != nil {
      let target = target
      return try window?.apply(transitions) { limit throws(StoreError) in try reader.run(target, limit: limit) } ?? []
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
  mutating func step(_ reader: DocumentReader, instance: [UInt8]) throws(StoreError) -> [WatchChange] {
    var changes: [WatchChange] = []
    switch phase {
    case .starting(let resume, let resets):
      if resets { changes.append(.reset([id], nil)) }
      try start(resume, reader, instance, &changes)
    case .reading(let position):
      let next = try reader.scanMatches(of: ServedQuery(target), after: position, rows: Self.stepSize) { document in
        changes.append(.document(document, updated: [id], removed: []))
        return true
      }
      phase = next.map { .reading(after: $0) } ?? .live
    case .catchingUp(let keys):
      for key in keys.prefix(Self.stepSize) {
        let document = try reader.document(key)
        changes.append(state(of: document, isMember: target.holds(document)))
      }
      phase = .catchingUp(keys.dropFirst(Self.stepSize))
      if keys.count <= Self.stepSize {
        if let filter = try filter(reader) { changes.append(.filter(id, filter)) }
        phase = .live
      }
    case .live: break
    }
    return changes
  }

  private mutating func start(
    _ resume: WatchTarget.Resume?, _ reader: DocumentReader, _ instance: [UInt8], _ changes: inout [WatchChange]
  ) throws(StoreError) {
    let since = resume.flatMap { reader.version(of: $0, instance: instance) }
    if target.isDocumentTarget {
      for key in documents {
        let document = try reader.document(key)
        // Which of several documents the client holds is not said.
        let isKnown =
          documents.count == 1 && document.exists && expectedCount != 0
          && since.map { document.isNotNewer(than: $0) } ?? false
        if !isKnown { changes.append(state(of: document, isMember: document.exists)) }
      }
      phase = .live
      return
    }
    if resume != nil, since == nil { changes.append(.reset([id], nil)) }
    if window != nil {
      try startWindow(since, reader, &changes)
      phase = .live
    } else if let since {
      phase = .catchingUp(try reader.changedKeys(of: target, after: since)[...])
    } else {
      phase = .reading(after: nil)
    }
  }

  /// A resumed window is told whole if anything changed that could have moved it: what was in it before is not known.
  private mutating func startWindow(
    _ since: Int64?, _ reader: DocumentReader, _ changes: inout [WatchChange]
  ) throws(StoreError) {
    let target = target
    try window?.fill { limit throws(StoreError) in try reader.run(target, limit: limit) }
    guard let window else { return }
    let changedKeys = try since.map { since throws(StoreError) in try reader.changedKeys(of: target, after: since) }
    if changedKeys?.isEmpty != true {
      for document in window.shownDocuments { changes.append(.document(document, updated: [id], removed: [])) }
    }
    for key in changedKeys ?? [] where !window.shown.contains(key) {
      changes.append(state(of: try reader.document(key), isMember: false))
    }
    guard let expectedCount, let changedKeys, !changedKeys.isEmpty || window.shown.count != expectedCount else {
      return
    }
    let filter = try existenceFilter(of: window.shown.count) { insert in
      for document in window.shownDocuments { insert(reader.database.name(of: document.key)) }
    }
    changes.append(.filter(id, filter))
  }

  private func state(of document: Document, isMember: Bool) -> WatchChange {
    .document(document, updated: isMember ? [id] : [], removed: isMember ? [] : [id])
  }

  /// The number of matches, if it differs from what the client had: a change of number that the messages explain does
  /// no harm, since the client counts before it compares.
  private func filter(_ reader: DocumentReader) throws(StoreError) -> ExistenceFilter? {
    guard let expectedCount else { return nil }
    let count = try reader.countMatches(of: ServedQuery(target))
    if count == expectedCount { return nil }
    return try existenceFilter(of: count) { insert throws(StoreError) in
      _ = try reader.scanMatches(of: ServedQuery(target), after: nil, rows: .max) { document in
        insert(reader.database.name(of: document.key))
        return true
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
