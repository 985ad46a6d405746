// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The notices of other clients of a shared cache, and their effects on this client (SPEC-FORMAT §11).
extension SyncCore {
  /// The combined document and target changes from successive notices. They are shown together.
  private struct Results {
    var keys: Set<DocumentKey> = []
    /// Whether more documents changed than the notices can list.
    var hasMore = false
    var targets: [TargetID: Bool] = [:]
    var isFromBackend = false

    var isEmpty: Bool { keys.isEmpty && !hasMore && targets.isEmpty }

    mutating func add(_ named: [DocumentKey]?) {
      if let named { keys.formUnion(named) } else { hasMore = true }
    }
  }

  /// Processes all notices of other clients. If the store fails, this client reads the notices again later.
  /// - Returns: whether there were any notices.
  @discardableResult
  package mutating func hear() -> Bool {
    guard sharing != nil, health.damage == nil else { return false }
    // Reads no notices now if this is already one of the waiting operations.
    if health.waiting.contains(where: { if case .hear = $0 { true } else { false } }) { return false }
    do throws(StoreError) { return try dealWithNews() } catch {
      keepTrying(.hear, error)
      return true
    }
  }

  @discardableResult
  mutating func dealWithNews() throws(StoreError) -> Bool {
    guard let news = try store.news(isPrimary: isPrimary) else { return false }
    try meetNewcomers()
    var results = Results()
    var targetsChanged = false
    for notice in news.notices {
      switch notice {
      case .batchAdded(let id):
        try show(&results)
        guard let batch = news.batches[id] else { break }
        writes.appendNew([batch])
        output.statusChanged()
        emit(try store.views(of: batch.keys), causes: [.localWrite(id)])
      case .batchSettled(let id, let outcome, let keys):
        try show(&results)
        let changes = try store.views(of: keys)
        switch outcome {
        case .acknowledged(let response): finish(id, .success(response), at: nil, changes)
        case .rejected(let status):
          writes.answers.rejectedWritesChanged()
          finish(id, .failure(status), at: nil, changes)
        }
      case .documents(let keys):
        if isPrimary { break }
        results.add(keys)
        results.isFromBackend = true
      case .bundle(let keys): results.add(keys)
      case .target(let id, let isCurrent):
        if isPrimary || listens.views.ids(of: id).isEmpty { break }
        results.targets[id] = isCurrent
        results.isFromBackend = true
      case .targetRefused(let id, let status):
        try show(&results)
        if !isPrimary { refuse(id, status) }
      case .targets: targetsChanged = true
      case .onlineState: if !isPrimary { try adoptOnlineState() }
      case .rejectedWrites:
        writes.answers.rejectedWritesChanged()
        output.statusChanged()
      case .retentions: output.statusChanged()
      case .cancellation(let id):
        try show(&results)
        if isPrimary { try answerCancellation(id) }
      case .cancellationRefused(let id, let status):
        if writes.answers.cancellationEnded(of: id) { output.append(.refuseCancellation(id, status)) }
      case .cleared:
        store.heard(news)
        output.append(
          .shutDown(RPCStatus(.failedPrecondition, "Another client deleted the cache and ended this client.")))
        return true
      }
    }
    try show(&results)
    if targetsChanged {
      if isPrimary { try adoptTargets() }
      try askAgainToCancel()
    }
    if news.isIncomplete { try catchUp() }
    store.heard(news)
    if writes.queue.hasUnsent || !writes.queue.isEmpty { sendWrites() }
    return !news.notices.isEmpty || news.isIncomplete
  }

  /// Updates the views with the changes of successive notices.
  private mutating func show(_ results: inout Results) throws(StoreError) {
    defer { results = Results() }
    if results.isEmpty { return }
    let version = results.isFromBackend ? try store.lastRemoteSnapshotVersion() : nil
    let causes: [SnapshotCause] = version.map { [.server($0)] } ?? []
    if results.hasMore { try synchroniseViews(causes: causes) }
    let changes = try store.views(of: results.keys)
    guard !results.targets.isEmpty else { return emit(changes, causes: causes) }
    let targets = results.targets.mapValues { TargetChange(isCurrent: $0 && network.onlineState != .offline) }
    emit(changes, event: RemoteEvent(version: version, targetChanges: targets), causes: causes)
  }

  /// Rescans everything, because notices were deleted before this client read them. This happens if the client's
  /// process was stopped for a long time. If a batch is no longer in the queue, it has been answered. If it is among
  /// the rejected writes, it was rejected.
  private mutating func catchUp() throws(StoreError) {
    let waiting = try store.pendingBatches()
    let ids = Set(waiting.map(\.id))
    writes.answers.rejectedWritesChanged()
    let refused = try rejectedWrites()
    let version = try store.lastRemoteSnapshotVersion() ?? SnapshotVersion(microseconds: 0)
    for entry in Array(writes.queue.pending) where !ids.contains(entry.batch.id) {
      let rejection = refused.first { $0.id == entry.batch.id }
      let results = entry.batch.mutations.map { _ in MutationResult(version: version) }
      let response = CommitResponse(commitTime: version, results: results)
      finish(
        entry.batch.id, rejection.map { .failure($0.rejection.status) } ?? .success(response), at: nil, [:])
    }
    writes.appendNew(waiting)
    try performSynchronisation()
    if isPrimary { try adoptTargets() }
  }

  /// Makes the announcements that this client skipped while it was the only client.
  private mutating func meetNewcomers() throws(StoreError) {
    guard let role = sharing else { return }
    if store.isAlone {
      sharing?.leftAlone()
    } else if role.wasAlone {
      try announceEverything()
      sharing?.metNewcomers()
    }
    if store.isAlone, sharing?.listensForOthers == true { try adoptTargets() }
  }

  mutating func announceEverything() throws(StoreError) {
    guard let role = sharing else { return }
    var current: [TargetID: Bool] = [:]
    for id in listens.views.ids {
      if let target = listens.views.target(of: id) { current[target] = listens.views.read(id, \.isSynced) ?? false }
    }
    try store.announceAll(role.announced, role.isPrimary ? (current, network.onlineState) : nil)
    if role.isPrimary { sharing?.tellAnew(current) }
  }
}
