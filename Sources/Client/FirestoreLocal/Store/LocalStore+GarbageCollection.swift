// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Begins to remove the least recently used targets and documents.
  ///
  /// Nothing that an active target, a view, a limbo resolution or anyone's pending write refers to is removed, nor what
  /// is pinned.
  /// - Parameters:
  ///   - thresholdBytes: the size below which a cache is left alone.
  ///   - percentile: how many of a hundred sequence numbers to collect (SDK: 10).
  ///   - maximumSequenceNumbers: the most to collect in one run (SDK: 1000).
  ///   - isDryRun: only fills in the run's plan; then the threshold and the policy do not matter.
  ///   - pacer: keeps slices short.
  /// - Returns: `nil` if the cache is smaller, or its policy is not `leastRecentlyUsed`.
  package func beginGarbageCollection(
    thresholdBytes: Int64, percentile: Int = 10, maximumSequenceNumbers: Int = 1000, isDryRun: Bool = false,
    pacer: SlicePacer = .continuous
  ) throws(StoreError) -> GarbageCollectionRun? {
    let run = GarbageCollectionRun(
      thresholdBytes: thresholdBytes, percentile: percentile, maximum: maximumSequenceNumbers, isDryRun: isDryRun,
      pacer: pacer)
    if isDryRun { return run }
    // The primary client has the streams, and knows the targets of all.
    guard isPrimary, case .leastRecentlyUsed = policy, try byteSize() >= thresholdBytes else { return nil }
    return run
  }

  /// Does the next slice of a run: some milliseconds of work, in one transaction.
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
      // Targets of other clients are read in the transaction, so that none begins to listen meanwhile.
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

  /// - Returns: whether writing the log back was this slice.
  private func writeLogBackIfDue(_ run: inout GarbageCollectionRun) throws(StoreError) -> Bool {
    let database = database
    let bytes = run.isDryRun ? 0 : database.logByteSize
    if case .writeBack = run.phase {
      // Only now does the file itself become shorter.
      if bytes > 0 { try database.perform { () throws(StoreError) in try database.writeLogBack() } }
      run.phase = .done
      return true
    }
    guard run.log.isDue(at: bytes) else { return false }
    try database.perform { () throws(StoreError) in try database.writeLogBack() }
    run.log.wroteBack(bytes, in: run.pacer.elapsed)
    return true
  }

  /// Does all slices of a run at once.
  package mutating func collectGarbage(
    thresholdBytes: Int64, percentile: Int, maximumSequenceNumbers: Int
  ) throws(StoreError) -> GarbageCollectionResult {
    let begun = try beginGarbageCollection(
      thresholdBytes: thresholdBytes, percentile: percentile, maximumSequenceNumbers: maximumSequenceNumbers)
    guard var run = begun else { return .skipped }
    while !run.isFinished { try continueGarbageCollection(&run) }
    return run.result
  }

  /// The size of the cache in bytes: on disk, the log included; for a cache in memory the size of its pages.
  package func byteSize() throws(StoreError) -> Int64 {
    try database.read { () throws(StoreError) in try database.byteSize() }
  }

  /// O(documents): counts them.
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
  /// The targets that other clients listen to, which are kept, and the targets whose views the primary client does not
  /// know: it has the same views of the others, except for documents that another user's pending writes move up into a
  /// limit. As long as such writes wait, everything that a limit could take is spared.
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
