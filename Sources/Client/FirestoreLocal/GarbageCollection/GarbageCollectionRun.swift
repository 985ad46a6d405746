// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// One run of the least-recently-used garbage collection (SDK: LruGarbageCollector). It works in slices. Between
/// slices, the cache may be used and changed.
///
///     members ─► ages ─► choose ─► retire ─┬─► forget ─► members ─┬─► candidates ─► remove ─► compact ─► done
///                                          └─ nothing to forget ──┘
///
/// Every slice is one transaction and leaves the cache consistent. Therefore a run can be interrupted at any time, even
/// by the end of the process; it has then removed less than planned. The results of earlier slices remain valid only
/// until something else changes the cache. A slice works until its time is over, and can include several phases.
package struct GarbageCollectionRun: Sendable {
  enum Phase: Sendable {
    /// Reads which documents belong to targets.
    case members(after: TargetCache.Membership?)
    /// Reads the last use of the documents without targets.
    case ages(after: DocumentTable.Age?)
    case choose
    /// Hides the targets to be collected from queries.
    case retire(after: TargetID?)
    /// Deletes the entries that assign documents to the targets to be collected.
    case forget(index: Int)
    /// Finds the documents that are old enough to be removed.
    case candidates(after: DocumentTable.Age?)
    case remove(after: DocumentNumber?)
    /// Moves used pages to the front of the file, so that the free pages at its end can be released.
    case compact
    /// Shortens the file by the released pages.
    case writeBack
    case done
  }

  /// The row and document counts after which the clock is checked again. Processing this many takes about 0.5 ms.
  enum Piece {
    static let rowsRead = 1_000
    static let targetsRetired = 10
    static let membersForgotten = 200
    static let documentsRemoved = 64
    static let documentsMeasured = 200
    static let pagesMoved = 64
  }

  let thresholdBytes: Int64
  let percentile: Int
  let maximum: Int
  let isDryRun: Bool

  var phase = Phase.members(after: nil)
  /// The documents that belong to a target. After the phase `forget`, the set contains only documents of the remaining
  /// targets.
  var members = NumberSet()
  /// The sequence numbers of documents without a target.
  var ages = SequenceNumberCounts()
  var leaving: [TargetID] = []
  var candidates = NumberSet()
  /// The least recently used candidates. Only set in a dry run.
  var oldest = OldestDocuments()
  /// SQLite's change counter after the last slice. If it has another value before the next slice, something else has
  /// changed the cache.
  var changeCount: Int64?
  var isUndisturbed = true
  var pacer: SlicePacer
  var log = LogPacer()

  package internal(set) var plan = GarbageCollectionPlan()
  package internal(set) var targetsRemoved = 0
  package internal(set) var documentsRemoved = 0

  package var isFinished: Bool { if case .done = phase { true } else { false } }

  /// Whether the phase writes much more than it reads.
  var isWriting: Bool {
    switch phase {
    case .retire, .forget, .remove, .compact: !isDryRun
    case .members, .ages, .choose, .candidates, .writeBack, .done: false
    }
  }

  /// Whether the only remaining work is to release free pages.
  package var isCompacting: Bool {
    switch phase {
    case .compact, .writeBack: true
    default: false
    }
  }

  package var result: GarbageCollectionResult {
    GarbageCollectionResult(
      didRun: true, sequenceNumbersCollected: plan.sequenceNumbersCollected, targetsRemoved: targetsRemoved,
      documentsRemoved: documentsRemoved)
  }

  /// Finds the highest sequence number that the run collects, for both targets and documents.
  /// - Parameter targets: the targets' sequence numbers.
  mutating func setBound(targets: [Int64]) {
    for number in targets { ages.add(number) }
    plan.sequenceNumbers = ages.total
    let (tenths, overflow) = plan.sequenceNumbers.multipliedReportingOverflow(by: max(0, min(percentile, 100)))
    let collected = min(overflow ? plan.sequenceNumbers : tenths / 100, maximum)
    defer { ages = SequenceNumberCounts() }
    guard collected > 0, let bound = ages.number(at: collected) else { return }
    plan.bound = bound
    plan.sequenceNumbersCollected = collected
  }
}

/// The targets and documents that a garbage collection removes (or, in a dry run, would remove), with the reasons.
package struct GarbageCollectionPlan: Sendable {
  /// One of the least recently used targets, which the garbage collection removes.
  package struct LeavingTarget: Sendable {
    package var target: Target
    /// The sequence number of the target's last use, in the cache's numbering.
    package var sequenceNumber: Int64
    /// The server time of the target's result; `nil` if the server has never sent a result.
    package var confirmed: SnapshotVersion?
    /// The number of documents that belong to the target, even if they also belong to other targets.
    package var documents: Int
  }

  /// The highest sequence number that is collected, in the cache's numbering; `nil` if nothing is collected.
  package var bound: Int64?
  /// The total number of sequence numbers: one for each target, and one for each document without a target.
  package var sequenceNumbers = 0
  package var sequenceNumbersCollected = 0
  package var targets: [LeavingTarget] = []
  /// The number of documents that no remaining target, view, limbo resolution or pending write refers to.
  package var documents = 0
  /// The total size in bytes of the fields and ids of these documents.
  package var bytes: Int64 = 0
  /// The same documents, grouped by collection. Only set in a dry run.
  var parts: [CollectionNumber: Part] = [:]
  /// Some of these documents, least recently used first. Only set in a dry run.
  package internal(set) var oldest: [LeavingDocument] = []

  /// One of the least recently used documents, which the garbage collection removes.
  package struct LeavingDocument: Sendable {
    package var key: DocumentKey
    /// The sequence number of the document's last use, in the cache's numbering.
    package var sequenceNumber: Int64
    /// The server time at which the server last sent the document, or last confirmed a result that contains it.
    package var confirmed: SnapshotVersion
    package var bytes: Int64
  }

  /// A plan that removes nothing.
  package init() {}

  /// The documents in one collection that are collected.
  struct Part: Sendable {
    var documents = 0
    var bytes: Int64 = 0
  }
}

/// The size of a cache, and the policy that limits it.
package struct CacheOccupancy: Hashable, Sendable {
  /// The size on disk, including the write-ahead log. For a cache in memory, the size of the pages in use.
  package var bytes: Int64
  /// The size of free pages that have not been released.
  package var freeBytes: Int64
  package var documents: Int
  package var targets: Int
  package var pendingWrites: Int
  package var policy: GarbageCollectionPolicy
}

extension LocalStore {
  /// Begins to collect the least recently used targets and documents.
  ///
  /// The garbage collection keeps pinned data. It also keeps all data that an active target, a view, a limbo resolution
  /// or any user's pending write refers to.
  /// - Parameters:
  ///   - thresholdBytes: the size below which the cache is left unchanged.
  ///   - percentile: the percentage of sequence numbers to collect (SDK: 10).
  ///   - maximumSequenceNumbers: the maximum number of sequence numbers to collect in one run (SDK: 1000).
  ///   - isDryRun: whether to create the run's plan without removing anything. A dry run ignores the threshold and the
  ///     policy.
  ///   - pacer: limits the duration of each slice.
  /// - Returns: `nil` if the cache is smaller than the threshold, if its policy is not `leastRecentlyUsed`, or if this
  ///   client is not primary.
  package func beginGarbageCollection(
    thresholdBytes: Int64, percentile: Int = 10, maximumSequenceNumbers: Int = 1000, isDryRun: Bool = false,
    pacer: SlicePacer = .continuous
  ) throws(StoreError) -> GarbageCollectionRun? {
    let run = GarbageCollectionRun(
      thresholdBytes: thresholdBytes, percentile: percentile, maximum: maximumSequenceNumbers, isDryRun: isDryRun,
      pacer: pacer)
    if isDryRun { return run }
    // Only the primary client has the streams and knows the targets of all clients.
    guard isPrimary, case .leastRecentlyUsed = policy, try byteSize() >= thresholdBytes else { return nil }
    return run
  }

  /// Performs the next slice of a run in one transaction. Takes a few milliseconds.
  package mutating func continueGarbageCollection(_ run: inout GarbageCollectionRun) throws(StoreError) {
    let database = database
    var next = run
    next.pacer.begin(isWriting: run.isWriting)
    if try writeLogBackIfDue(&next) {
      run = next
      return
    }
    references.settle()
    let (own, references, user) = (activeTargets.ids, references, user)
    func performSlice(_ run: inout GarbageCollectionRun) throws(StoreError) {
      // Read other clients' targets within the transaction, so that no client can add a listener meanwhile.
      let others = try database.kept(besides: user)
      let collector = LRUGarbageCollector(
        database: database, activeTargets: own.union(others.targets), held: references,
        shownElsewhere: others.shown)
      try collector.performSlice(&run)
    }
    let isUndisturbed = run.changeCount.map { $0 == database.connection.changeCount } ?? true
    if !isUndisturbed || !isAlone { next.isUndisturbed = false }
    if run.isDryRun {
      try database.read { () throws(StoreError) in try performSlice(&next) }
    } else {
      try database.transaction { () throws(StoreError) in
        try database.sharing?.requireLease()
        try performSlice(&next)
        next.pacer.endWork()
      }
      next.pacer.end()
    }
    next.changeCount = database.connection.changeCount
    run = next
  }

  /// - Returns: whether this slice wrote the write-ahead log back into the database file.
  private func writeLogBackIfDue(_ run: inout GarbageCollectionRun) throws(StoreError) -> Bool {
    let database = database
    let bytes = run.isDryRun ? 0 : database.logByteSize
    if case .writeBack = run.phase {
      // The file is only truncated when the log is written back.
      if bytes > 0 { try database.perform { () throws(StoreError) in try database.writeLogBack() } }
      run.phase = .done
      return true
    }
    guard run.log.isDue(at: bytes) else { return false }
    try database.perform { () throws(StoreError) in try database.writeLogBack() }
    run.log.wroteBack(bytes, in: run.pacer.elapsed)
    return true
  }

  /// Performs all slices of a run without a pause.
  package mutating func collectGarbage(
    thresholdBytes: Int64, percentile: Int, maximumSequenceNumbers: Int
  ) throws(StoreError) -> GarbageCollectionResult {
    let begun = try beginGarbageCollection(
      thresholdBytes: thresholdBytes, percentile: percentile, maximumSequenceNumbers: maximumSequenceNumbers)
    guard var run = begun else { return .skipped }
    while !run.isFinished { try continueGarbageCollection(&run) }
    return run.result
  }

  /// The size of the cache in bytes. For a cache on disk, the size includes the write-ahead log. For a cache in memory,
  /// it is the size of the pages.
  package func byteSize() throws(StoreError) -> Int64 {
    try database.read { () throws(StoreError) in try database.byteSize() }
  }

  /// The size of the cache. Takes O(documents) time, because it counts the documents.
  package func occupancy() throws(StoreError) -> CacheOccupancy {
    try database.read { () throws(StoreError) in
      CacheOccupancy(
        bytes: try database.byteSize(), freeBytes: try database.freeByteSize(),
        documents: try database.documents.count(), targets: try database.targets.count(),
        pendingWrites: isShared ? try database.mutations.count(of: user) : queue.batchCount,
        policy: policy)
    }
  }
}

extension CacheDatabase {
  /// Returns two lists of other clients' targets. `targets` contains all of them, and they are not collected. `shown`
  /// contains the targets whose views may differ from the primary client's. They differ if the primary client has no
  /// such view, or if another user's pending writes move documents into the query's limit. For these targets, all
  /// documents that the limit could include are kept.
  /// - Parameter user: the primary client's user.
  func listening(besides user: UserNumber) throws(StoreError) -> (targets: Set<TargetID>, shown: [Target]) {
    guard let sharing else { return ([], []) }
    var shown: [Target] = []
    for id in try sharing.tables.targets(ofOthersThan: sharing.id, .cache).sorted() {
      if let target = try targets.target(id) { shown.append(target) }
    }
    if try connection.exists("SELECT 1 FROM mutation_batches WHERE user <> ? LIMIT 1", user) {
      for id in try sharing.tables.targets(ofOthersThan: sharing.id, .backend).sorted() {
        if let target = try targets.target(id), target.limit != nil { shown.append(target) }
      }
    }
    return (try sharing.tables.targets(ofOthersThan: sharing.id), shown)
  }
}
