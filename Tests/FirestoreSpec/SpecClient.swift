// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreSync

/// The client under test: the real core on a real store, with a scripted backend and timers that run when told to.
struct SpecClient: ~Copyable {
  private struct Due: Sendable {
    var after: Duration
    var order: Int
  }

  /// The reason why a step cannot be performed.
  struct Failure: Error {
    let reason: String
  }

  private let configuration: SyncCore.Configuration
  private let storage: LocalStoreConfiguration
  private var user: String?

  var core: SyncCore
  private(set) var backend = SpecBackend()
  private(set) var isNetworkEnabled = true
  /// Whether this client must end because another client deletes the store.
  private(set) var isShutDown = false
  /// Streams that wait to be opened.
  private var opening: [StreamKind: (epoch: StreamEpoch, delay: Duration)] = [:]
  private var holdsWatchStream = false
  private var timers: [SyncTimer: Due] = [:]
  private var timerCount = 0

  private var listenerCount = 0
  private var queryOf: [ListenerID: Query] = [:]
  private var newestListener: [Query: ListenerID] = [:]
  private var observers = 0
  private var waitCount = 0
  /// Writes since this client's last start whose callbacks have not been called.
  private var callbacks: [BatchID: [DocumentKey]] = [:]

  // Events, callbacks and calls since the last step.
  private(set) var events: [SpecEvent] = []
  private(set) var acknowledged: [DocumentKey] = []
  private(set) var rejected: [DocumentKey] = []
  private(set) var snapshotsInSyncCalls = 0
  private(set) var pendingWritesCalls = 0

  init(storage: LocalStoreConfiguration, maximumLimboResolutions: Int?) throws(StoreError) {
    var configuration = SyncCore.Configuration(database: storage.database)
    configuration.maximumLimboResolutions = maximumLimboResolutions ?? .max
    self.init(configuration, storage, try Self.started(configuration, storage))
    transition { core in core.refreshLease(at: Self.time) }
  }

  /// The clock never advances (SPEC-FORMAT §9).
  private static let time = Timestamp(seconds: 0)

  private init(
    _ configuration: SyncCore.Configuration, _ storage: LocalStoreConfiguration, _ core: consuming SyncCore
  ) {
    self.configuration = configuration
    self.storage = storage
    self.core = core
  }

  private static func started(
    _ configuration: SyncCore.Configuration, _ storage: LocalStoreConfiguration
  ) throws(StoreError) -> SyncCore {
    var core = SyncCore(try LocalStore(storage), configuration: configuration, random: MiddleGenerator())
    try core.start(user: nil)
    return core
  }

  /// Ends this client; its store stays where it is.
  consuming func close() { core.close() }

  /// Starts the next client on the same storage, with the same user.
  consuming func restarted() throws(StoreError) -> SpecClient {
    let (storage, maximum, user) = (storage, configuration.maximumLimboResolutions, user)
    core.close()
    var next = try SpecClient(storage: storage, maximumLimboResolutions: maximum)
    if let user { next.transition { core in core.changeUser(to: user) } }
    next.user = user
    return next
  }

  var usesLRU: Bool { storage.policy != .eager }

  mutating func forgetWhatHappened() {
    (events, acknowledged, rejected, snapshotsInSyncCalls, pendingWritesCalls) = ([], [], [], 0, 0)
  }

  // MARK: Transitions

  mutating func transition(_ body: (inout SyncCore) -> Void) {
    body(&core)
    perform(core.takeEffects())
    settle()
  }

  /// Handles the messages that other clients left in the store.
  /// - Returns: whether there were any.
  mutating func hear() -> Bool {
    var hasHeard = false
    transition { core in hasHeard = core.hear() }
    return hasHeard
  }

  private mutating func perform(_ effects: [SyncEffect]) {
    for effect in effects {
      switch effect {
      case .complete(let batch, let result):
        guard let keys = callbacks.removeValue(forKey: batch) else { break }
        if case .success = result { acknowledged += keys } else { rejected += keys }
      case .deliver(let deliveries):
        for delivery in deliveries { note(delivery) }
      case .fail(let listeners, let status):
        for listener in listeners { note(status, listener) }
      case .finishWait(_, let status): if status == nil { pendingWritesCalls += 1 }
      case .open(let kind, let epoch, let delay): opening[kind] = (epoch, delay)
      case .close(let kind, _): closed(kind)
      case .wake: break  // `settle` pulls all requests.
      case .refuseCancellation: break  // No step of a spec cancels a write.
      case .schedule(let timer, let delay):
        timers[timer] = Due(after: delay, order: timerCount)
        timerCount += 1
      case .cancel(let timer): timers[timer] = nil
      case .shutDown: isShutDown = true
      }
    }
    if effects.bringSnapshotsInSync { snapshotsInSyncCalls += observers }
  }

  private mutating func closed(_ kind: StreamKind) {
    opening[kind] = nil
    switch kind {
    case .watch:
      backend.watchStreamClosed()
      holdsWatchStream = false
    case .write: backend.writeStreamClosed(byClient: true)
    }
  }

  private mutating func note(_ delivery: SnapshotDelivery) {
    guard let query = queryOf[delivery.listener] else { return }
    var event = SpecEvent(query: query)
    event.isFromCache = delivery.snapshot.isFromCache
    event.hasPendingWrites = delivery.snapshot.hasPendingWrites
    for (_, kind) in SpecEvent.kinds {
      event.set(kind, delivery.snapshot.changes.filter { $0.kind == kind }.map { SpecDocument($0.document) })
    }
    events.append(event)
  }

  private mutating func note(_ status: RPCStatus, _ listener: ListenerID) {
    guard let query = queryOf.removeValue(forKey: listener) else { return }
    var event = SpecEvent(query: query)
    event.errorCode = status.code.rawValue
    events.append(event)
  }

  /// Lets streams open and requests go out until nothing is left to do. Timers do not run.
  private mutating func settle() {
    var effects: [SyncEffect] = []
    repeat {
      if !holdsWatchStream, let (epoch, _) = opening.removeValue(forKey: .watch) {
        core.watchStreamOpened(in: epoch)
      }
      if let (epoch, _) = opening.removeValue(forKey: .write) {
        backend.receiveHandshake()
        core.writeStreamOpened(token: Array("token".utf8), in: epoch)
      }
      while let request = core.takeWatchRequest(in: core.watchStream.epoch) { backend.receive(request) }
      while let (_, request) = core.takeWrite(in: core.writeStream.epoch, at: Timestamp(seconds: 0)) {
        backend.receive(request.mutations)
      }
      if timers[.leaseRefresh]?.after == .zero {
        timers[.leaseRefresh] = nil
        core.refreshLease(at: Self.time)
      }
      effects = core.takeEffects()
      perform(effects)
    } while !effects.isEmpty || (opening[.watch] != nil && !holdsWatchStream) || opening[.write] != nil
  }

  // MARK: User actions

  mutating func listen(to query: Query, _ target: TargetID, cacheOnly: Bool) throws(Failure) {
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    options.source = cacheOnly ? .cache : .default
    listenerCount += 1
    let id = ListenerID(listenerCount)
    queryOf[id] = query
    newestListener[query] = id
    holdsWatchStream = false
    transition { core in core.listen(id, to: query, options: options) }
    let faults = core.store.faults
    core.store.faults = []
    defer { core.store.faults = faults }
    // A store that cannot be read has no target, which the comparison shows.
    let allocated = try? core.store.targetData(for: query.target)?.id
    // The target id 0 in a test says that no target can be allocated.
    guard allocated == (target == TargetID(0) ? nil : target) else {
      throw Failure(reason: "expected target id \(target), got \(allocated?.description ?? "none")")
    }
  }

  mutating func unlisten(_ query: Query) throws(Failure) {
    guard let id = newestListener.removeValue(forKey: query) else { throw Failure(reason: "nobody listens") }
    queryOf[id] = nil
    transition { core in core.stopListening(id) }
  }

  /// - Returns: whether the store kept the write.
  mutating func write(_ mutation: Mutation) -> Bool {
    do throws(StoreError) {
      let batch = try core.write([mutation], at: Timestamp(seconds: 0))
      callbacks[batch] = [mutation.key]
      transition { _ in }
      return true
    } catch {
      rejected.append(mutation.key)
      return false
    }
  }

  mutating func addSnapshotsInSyncObserver() {
    observers += 1
    snapshotsInSyncCalls += 1
  }

  mutating func removeSnapshotsInSyncObserver() { observers -= 1 }

  mutating func waitForPendingWrites() {
    waitCount += 1
    let wait = PendingWritesWait(waitCount)
    transition { core in core.waitForPendingWrites(wait) }
  }

  mutating func changeUser(to user: String?) {
    self.user = user
    transition { core in core.changeUser(to: user) }
  }

  mutating func becomePrimary() {
    // A lease that cannot be dropped shows in the expectations that follow.
    try? core.store.dropLease()
    runTimers(upTo: "client_metadata_refresh")
  }

  mutating func setNetwork(enabled: Bool) {
    isNetworkEnabled = enabled
    transition { core in enabled ? core.enableNetwork() : core.disableNetwork() }
  }

  // MARK: The backend's part

  mutating func receive(_ changes: [WatchChange], ending: [TargetID]) throws(Failure) {
    guard core.watchStream.isOpen else { throw Failure(reason: "the watch stream is not open") }
    for id in ending {
      guard backend.activeTargets[id] != nil else { throw Failure(reason: "target \(id) is not active") }
      backend.ended(id)
    }
    for change in changes {
      transition { core in core.receive([change], in: core.watchStream.epoch) }
    }
  }

  mutating func closeWatchStream(_ status: RPCStatus, runsBackoff: Bool) throws(Failure) {
    guard core.watchStream.isOpen else { throw Failure(reason: "the watch stream is not open") }
    holdsWatchStream = !runsBackoff
    backend.watchStreamClosed()
    transition { core in core.streamEnded(.watch, status, in: core.watchStream.epoch, at: Timestamp(seconds: 0)) }
  }

  /// Takes the oldest batch that was sent.
  mutating func answerOldestWrite() throws(Failure) -> [Mutation] {
    guard let mutations = backend.answerOldest() else { throw Failure(reason: "no write was sent") }
    return mutations
  }

  mutating func acknowledge(_ count: Int, at version: SnapshotVersion) {
    let results = (0..<count).map { _ in MutationResult(version: version) }
    let response = CommitResponse(commitTime: version, results: results)
    transition { core in
      core.receive(response, token: Array("token".utf8), in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
  }

  mutating func closeWriteStream(_ status: RPCStatus) {
    backend.writeStreamClosed(byClient: false)
    transition { core in core.streamEnded(.write, status, in: core.writeStream.epoch, at: Timestamp(seconds: 0)) }
  }

  // MARK: Time

  private static let timerNames: [SyncTimer: String] = [
    .onlineTimeout: "online_state_timeout", .watchIdle: "listen_stream_idle", .writeIdle: "write_stream_idle",
    .storeRetry: "async_queue_retry", .garbageCollection: "lru_garbage_collection", .indexBackfill: "index_backfill",
    .leaseRefresh: "client_metadata_refresh",
  ]

  /// Runs the timers that are due before the named one, and that one. `all` runs every timer, and so does the name of a
  /// timer that is not scheduled, as in the reference runner.
  mutating func runTimers(upTo name: String) {
    var due: [(name: String, after: Duration, order: Int, timer: SyncTimer?)] = timers.map { timer, due in
      (Self.timerNames[timer] ?? "", due.after, due.order, timer)
    }
    if holdsWatchStream, let (_, delay) = opening[.watch] {
      due.append((name: "listen_stream_connection_backoff", after: delay, order: -1, timer: nil))
    }
    due.sort { ($0.after, $0.order) < ($1.after, $1.order) }
    if let last = due.firstIndex(where: { $0.name == name }) { due = Array(due[...last]) }
    for item in due {
      guard let timer = item.timer else {
        holdsWatchStream = false
        settle()
        continue
      }
      guard timers.removeValue(forKey: timer) != nil else { continue }
      transition { core in timer == .leaseRefresh ? core.refreshLease(at: Self.time) : core.fire(timer) }
    }
  }
}

/// Always draws the middle of the range, so that backoff has no jitter.
private struct MiddleGenerator: RandomNumberGenerator, Sendable {
  mutating func next() -> UInt64 { 1 << 63 }
}
