// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom

@testable import FirestoreSync

/// Something that must never happen.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
  if !condition { throw Violation(description: message()) }
}

/// The shell of one client: performs the core's effects when the trace says so, one message at a time, and keeps the
/// books that tell what may happen.
final class ModelClient {
  struct Setup: Sendable {
    var isDurable: Bool
    var policy: GarbageCollectionPolicy
    var maximumLimboResolutions: Int
  }

  /// What arrives on the write stream.
  enum Answer {
    case committed(CommitResponse)
    case refused(RPCStatus)
  }

  let index: Int
  let setup: Setup
  let server: ObservedBackend
  private var folder: TemporaryFolder?
  private let seed: UInt64
  private var starts = 0
  /// Without a core only while it is exchanged.
  var core: SyncCore?

  // The network, as far as this client is concerned.
  var opening: [StreamKind: StreamEpoch] = [:]
  var timers: Set<SyncTimer> = []
  var session: WatchSessionID?
  var watchInbox: [WatchChange] = []
  var refusedTargets: Set<TargetID> = []
  var isWriteStreamOpen = false
  /// A write was refused, so the backend answers no more on this stream.
  var isWriteStreamBroken = false
  var wire: [(id: BatchID, request: WriteRequest)] = []
  var answers: [Answer] = []
  var stale: [(epoch: StreamEpoch, change: WatchChange)] = []
  var nextRejection: StatusCode?

  // The books.
  /// Who may sign in; the first is nobody.
  static let users: [String?] = [nil, "ada", "bob"]

  /// What one user has written.
  struct UserBooks {
    var pending: [BatchID] = []
    /// What the backend refused; nothing is sent again or dropped.
    var rejected: [BatchID] = []
  }

  private(set) var user: String?
  private var othersBooks: [String?: UserBooks] = [:]
  private var books = UserBooks()
  var pending: [BatchID] {
    get { books.pending }
    set { books.pending = newValue }
  }
  var rejected: [BatchID] {
    get { books.rejected }
    set { books.rejected = newValue }
  }
  /// What was written, of all users.
  var batches: [BatchID: ModelBatch] = [:]
  var cancelling: BatchID?
  /// The write that the backend's answer ended in this transition.
  var acknowledged: (id: BatchID, response: CommitResponse)?
  private var createsIndexes = false
  /// When the bundles were made that this cache has loaded.
  var bundles: [String: SnapshotVersion] = [:]
  /// When the backend committed a batch; of this cache's batches, also those it has forgotten.
  var committed: [BatchID: SnapshotVersion] = [:]
  var waits: [PendingWritesWait: Set<BatchID>] = [:]
  var waitCount = 0
  var listeners: [ListenerID: ListenerBook] = [:]
  var listenerOrder: [ListenerID] = []
  private var listenerCount = 0
  var lastSnapshotVersion: SnapshotVersion?
  var versions: [DocumentKey: SnapshotVersion] = [:]
  var deliveries = 0

  init(_ index: Int, _ setup: Setup, _ server: ObservedBackend, seed: UInt64) throws {
    (self.index, self.setup, self.server, self.seed) = (index, setup, server, seed)
    if setup.isDurable { folder = TemporaryFolder() }
    try start()
  }

  deinit {
    // The files go after it, with their folder.
    core = nil
  }

  private func start() throws {
    var configuration = SyncCore.Configuration(database: server.database)
    configuration.maximumLimboResolutions = setup.maximumLimboResolutions
    if case .leastRecentlyUsed = setup.policy { configuration.garbageCollectionThreshold = 0 }
    // A run is repeated from its seed.
    configuration.slicePacer = .pieces(1)
    let storage = LocalStoreConfiguration(
      location: folder.map { .directory($0.path) } ?? .memory, policy: setup.policy, database: server.database)
    starts += 1
    let random = SeededGenerator(seed: seed, for: .client(index, start: starts))
    core = SyncCore(try LocalStore(storage), configuration: configuration, random: random)
    core!.store.minimumScanForIndexes = 4
    core!.store.createsIndexesAutomatically = createsIndexes
    try transition { [user] core in try core.start(user: user) }
    let stored = try core!.store.pendingBatches().map(\.id)
    try require(stored == pending, "S10: after a start \(stored) are pending instead of \(pending)")
  }

  /// - Parameter isKilled: the files stay as they are at this moment: what the new client opens is a copy of them.
  func restart(isKilled: Bool, _ backend: isolated LocalBackend) throws {
    if let session { backend.closeWatch(session) }
    if isKilled, let old = folder {
      let copy = try TemporaryFolder.made()
      for name in try old.names where name.hasPrefix("cache.sqlite3") && !name.hasSuffix("-shm") {
        try FileManager.default.copyItem(atPath: old(name), toPath: copy(name))
      }
      core = nil
      folder = copy
    } else {
      core.take()?.close()
    }
    (opening, timers, session, watchInbox, refusedTargets, stale) = ([:], [], nil, [], [], [])
    (isWriteStreamOpen, isWriteStreamBroken, wire, answers) = (false, false, [], [])
    (waits, listeners, listenerOrder) = ([:], [:], [])
    if folder == nil {
      (books, othersBooks, batches, committed, bundles) = (UserBooks(), [:], [:], [:], [:])
      (lastSnapshotVersion, versions) = (nil, [:])
    }
    try start()
  }

  // MARK: Transitions

  /// Runs one transition and performs its effects.
  func transition(_ body: (inout SyncCore) throws -> Void) throws {
    try body(&core!)
    try performEffects()
  }

  private func performEffects() throws {
    let effects = core!.takeEffects()
    let interrupted = try turnToUser()
    for effect in effects {
      switch effect {
      case .complete(let id, let result): try complete(id, result)
      case .deliver(let deliveries):
        self.deliveries += 1
        for delivery in deliveries { try note(delivery) }
      case .fail(let ids, _):
        for id in ids {
          try require(listeners[id] != nil, "listener \(id) failed after its end")
          forget(id)
        }
      case .finishWait(let wait, let status):
        guard let awaited = waits.removeValue(forKey: wait) else {
          throw Violation(description: "\(wait) ended twice")
        }
        if interrupted.contains(wait) {
          try require(status?.code == .cancelled, "the user changed, but a wait ended with \(status.debugDescription)")
          continue
        }
        try require(status == nil, "a wait ended with \(status.debugDescription)")
        let missing = awaited.intersection(pending)
        try require(missing.isEmpty, "a wait for pending writes ended before \(missing)")
      case .open(let kind, let epoch, _):
        opening[kind] = epoch
      case .close(let kind, let epoch): closed(kind, epoch)
      case .wake: break
      case .schedule(let timer, _): timers.insert(timer)
      case .shutDown(let status): throw Violation(description: "a client that shares nothing was shut down: \(status)")
      case .refuseCancellation(let id, _):
        throw Violation(description: "a client that shares nothing was refused the cancellation of \(id)")
      case .cancel(let timer): timers.remove(timer)
      }
    }
    let left = interrupted.intersection(waits.keys)
    try require(left.isEmpty, "the user changed, but \(left) go on")
  }

  /// Takes up the books of the core's user, if that is another now.
  /// - Returns: the waits that this ends.
  private func turnToUser() throws -> Set<PendingWritesWait> {
    let current = core!.writes.user
    guard current != user else { return [] }
    othersBooks[user] = books
    books = othersBooks.removeValue(forKey: current) ?? UserBooks()
    user = current
    let stored = try core!.store.pendingBatches().map(\.id)
    try require(stored == pending, "user \(current ?? "nobody") has \(stored) stored instead of \(pending)")
    return Set(waits.keys)
  }

  private var abandonedSessions: [WatchSessionID] = []

  private func closed(_ kind: StreamKind, _ epoch: StreamEpoch) {
    opening[kind] = nil
    switch kind {
    case .watch: loseWatchStream(epoch)
    case .write: loseWriteStream()
    }
  }

  /// The stream is gone; what it carried may still arrive (S8).
  func loseWatchStream(_ epoch: StreamEpoch) {
    stale = Array((stale + watchInbox.map { (epoch, $0) }).suffix(8))
    if let session { abandonedSessions.append(session) }
    (session, watchInbox, refusedTargets) = (nil, [], [])
  }

  func loseWriteStream() { (isWriteStreamOpen, isWriteStreamBroken, wire, answers) = (false, false, [], []) }

  /// Ends the backend's side of streams that were given up.
  func closeAbandonedSessions(_ backend: isolated LocalBackend) {
    for session in abandonedSessions { backend.closeWatch(session) }
    abandonedSessions = []
  }

  // MARK: The user

  func write(_ mutations: [Mutation], at now: Timestamp) throws {
    let before = pending
    do {
      var views: [DocumentKey: LocalModel] = [:]
      for mutation in mutations where views[mutation.key] == nil { views[mutation.key] = try localModel(mutation.key) }
      let batch = ModelBatch(mutations, at: now) { views[$0] ?? LocalModel(nil) }
      let id = try core!.write(mutations, at: now)
      if let last = before.last { try require(last < id, "S4: batch \(id) follows \(last)") }
      pending.append(id)
      batches[id] = batch
    } catch let error as StoreError {
      try require(error.kind == .injected, "writing failed: \(error)")
      let effects = core!.output.effects
      try require(effects.isEmpty, "a write that was not kept had effects")
    }
    try performEffects()
  }

  func cancelWrite(at position: Int) throws {
    guard !pending.isEmpty else { return }
    let id = pending[position % pending.count]
    cancelling = id
    defer { cancelling = nil }
    do {
      try core!.cancelWrite(id)
      try require(!wire.contains { $0.id == id }, "batch \(id) was cancelled on the wire")
    } catch let status as RPCStatus {
      try require([.failedPrecondition, .unavailable].contains(status.code), "cancelling said \(status)")
      let effects = core!.output.effects
      try require(effects.isEmpty, "a failed cancellation had effects")
    }
    try performEffects()
  }

  func changeUser(to user: String?) throws {
    try transition { core in core.changeUser(to: user) }
  }

  // MARK: Indexes and bundles

  /// - Parameter definitions: `nil` to drop them all, automatic ones too.
  func setIndexes(_ definitions: [FieldIndex]?) throws {
    try transition { core in
      if let definitions { try core.store.setIndexes(definitions) } else { try core.store.deleteAllIndexes() }
    }
    let indexes = try core!.store.indexes()
    let configured = indexes.filter { !$0.isAutomatic }.map(\.definition)
    let expected = definitions ?? []
    try require(
      configured.allSatisfy { index in expected.contains { $0.isEquivalent(to: index) } }
        && expected.allSatisfy { index in configured.contains { $0.isEquivalent(to: index) } },
      "the indexes are \(configured), not \(expected)")
    if definitions == nil { try require(indexes.isEmpty, "\(indexes) are left of the indexes") }
  }

  func createIndexesAutomatically(_ isOn: Bool) {
    createsIndexes = isOn
    core!.store.createsIndexesAutomatically = isOn
  }

  func load(_ bundle: FirestoreLocal.Bundle) throws {
    let isNew = bundles[bundle.id].map { $0 < bundle.createTime } ?? true
    // What was forgotten may come back as it was before (S6 is about what is there).
    for entry in bundle.entries where try core!.store.remoteDocument(entry.document.key)?.version == nil {
      versions[entry.document.key] = nil
    }
    var wasLoaded = false
    try transition { core in wasLoaded = try core.load(bundle) }
    try require(wasLoaded == isNew, "\(bundle.id) of \(bundle.createTime) was \(isNew ? "not " : "")loaded")
    guard isNew else { return }
    bundles[bundle.id] = bundle.createTime
    for query in bundle.queries {
      let named = try core!.store.namedQuery(query.name)
      try require(
        named?.query == query.query && named?.readTime == query.readTime, "\(query.name) is kept as \(named as Any)")
    }
  }

  func waitForPendingWrites() throws {
    waitCount += 1
    let wait = PendingWritesWait(waitCount)
    waits[wait] = Set(pending)
    try transition { core in core.waitForPendingWrites(wait) }
  }

  func listen(to query: Query, _ options: ListenerOptions) throws {
    listenerCount += 1
    let id = ListenerID(listenerCount)
    listeners[id] = ListenerBook(query: query, options: options)
    listenerOrder.append(id)
    try transition { core in core.listen(id, to: query, options: options) }
  }

  func stopListening(at position: Int) throws {
    guard !listenerOrder.isEmpty else { return }
    let id = listenerOrder[position % listenerOrder.count]
    forget(id)
    try transition { core in core.stopListening(id) }
  }

  private func forget(_ id: ListenerID) {
    listeners[id] = nil
    listenerOrder.removeAll { $0 == id }
  }
}
