// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting

/// Where everything ends that was begun, and all is compared.
extension EngineClient {
  /// Ends all faults and waits for what was written to be answered.
  func settleWrites() async throws {
    clock.setPatience(Self.patienceAtRest)
    faults.withdrawFaults()
    faults.update { $0 = FaultSettings() }
    await enableNetwork()
    await engine.retryNow()
    listenToBeacon()
    try await engine.waitForPendingWrites()
    for (changes, wait) in waits {
      let status = await wait.value
      try require(
        status == nil || status?.code == .cancelled && changes != userChanges,
        "client \(index): a wait ended with \(status.debugDescription)")
    }
    waits = []
    try audit()
  }

  private func listenToBeacon() {
    (beacon, beaconMailbox) = (LatestSnapshot(), SnapshotMailbox())
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    beaconID = engine.listen(to: Query(path: Self.beaconKey.path), options: options, into: beaconMailbox)
    read(beaconMailbox) { [beacon] in
      beacon.put($0)
    } failed: { [beacon] _ in
      beacon.finish()
    }
  }

  /// Waits until the engine has heard of the backend's state in which the beacon is of this number or a later one.
  func follow(_ number: Int64) async throws {
    let hasFollowed = await beacon.wait { snapshot in
      guard !snapshot.isFromCache, case .integer(let shown)? = snapshot.documents.first?[FieldPath("n")] else {
        return false
      }
      return shown >= number
    }
    try require(hasFollowed, "client \(index): the beacon's listener ended")
    // What the same step put into the mailboxes is there when the engine has come back, and read when they are settled.
    try await engine.requireNetwork()
    for (_, mailbox) in listeners.values { await mailbox.settle() }
    try audit()
  }

  func leaveRest() {
    engine.stopListening(beaconID)
    clock.setPatience(Self.patience)
  }

  /// - Returns: what is not as the backend has it yet.
  func difference() async throws -> String? {
    for (id, (book, _)) in listeners where book.options.source == .default {
      let query = ModelQueries.all.firstIndex(of: book.query) ?? -1
      let name = "at rest, listener \(id.rawValue) of client \(index) on query \(query)"
      let expected = server.result(of: book.query)
      guard let last = book.last else { return "\(name) never got a snapshot" }
      let shown = last.documents.documents
      if shown.map(\.key) != expected.map(\.key) {
        return "\(name) shows \(shown.map(\.key)), the backend has \(expected.map(\.key))"
      }
      for (left, right) in zip(shown, expected) where left.data != right.data {
        return "\(name) shows \(left), the backend has \(right)"
      }
      if book.options.includeMetadataChanges, last.isFromCache || last.hasPendingWrites {
        return "\(name) was told that it is from cache or pending"
      }
    }
    for await status in engine.status() {
      if !status.pendingWrites.isEmpty { return "at rest, \(status.pendingWrites.map(\.id)) are pending" }
      if status.activeLimboResolutions > 0 { return "at rest, documents are in limbo" }
      let outcomes = status.recentOutcomes.last?.sequence ?? 0
      if carried.isEmpty, outcomes != answers {
        return "client \(index) had \(outcomes) outcomes of writes, and told of \(answers)"
      }
      let rejected = Set(status.rejectedWrites.map(\.id))
      for write in writes.values where write.user == user {
        if !write.isAnswered { return "at rest, nobody was told of batch \(write.batch)" }
        let isSettled = write.isCancelled || book.version(of: write.batch) != nil || rejected.contains(write.batch)
        if !isSettled { return "batch \(write.batch) is lost" }
      }
      break
    }
    return nil
  }

  /// No user's writes were lost, in whichever engine's time they were made.
  func checkCarried(over users: [String?]) async throws {
    var rejected: Set<BatchID> = []
    for user in users {
      await changeUser(to: user)
      try await engine.waitForPendingWrites()
      for await status in engine.status() {
        rejected.formUnion(status.rejectedWrites.map(\.id))
        break
      }
      try audit()
    }
    for batch in carried {
      try require(
        book.version(of: batch) != nil || rejected.contains(batch),
        "client \(index): batch \(batch) was lost by a restart")
    }
    for write in writes.values {
      try require(write.isAnswered, "client \(index): nobody was told of batch \(write.batch)")
    }
  }

  // MARK: Indexes and bundles

  func setIndexes(_ definitions: [FieldIndex]?) async throws {
    if let definitions { try await engine.setIndexes(definitions) } else { engine.deleteAllIndexes() }
  }

  func load(_ bundle: FirestoreLocal.Bundle) async throws {
    let progress = try await engine.load(bundle, byteCount: 0) { _ in }
    try require(progress.documents == bundle.entries.count, "\(bundle.id) was loaded as far as \(progress)")
  }

  func collectGarbage() async throws { _ = try await engine.collectGarbage(isDryRun: false) }
}
