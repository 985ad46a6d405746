// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite
package import SerialExecutors
import Synchronization

/// An actor that serializes all access to `SyncCore` and performs the core's effects. It has a separate queue.
///
/// The `nonisolated` functions can be called from any thread and from synchronous code. They enqueue work in the order
/// of the calls and return immediately. For example, a write and then a listen take effect in that order.
package actor SyncEngine {
  private nonisolated let executor: QueueExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Allows other work to run between two steps of a long task.
  nonisolated func pause() async { await executor.pause() }

  /// The loop that runs the engine; `run` must also be called on it. `nil` if the engine has a separate queue.
  package nonisolated let loop: (any WorkLoop & TaskExecutor)?
  /// Whether `loop` is the loop on which the datastore runs.
  nonisolated let isOnStreamThread: Bool
  nonisolated let datastore: any Datastore
  nonisolated let database: DatabaseID
  package nonisolated let clock: any Clock<Duration>
  nonisolated let now: @Sendable () -> Timestamp
  /// Streams and timers to run, consumed by `run`.
  nonisolated let jobs: EngineJobs
  private nonisolated let listenerNumbers = Atomic<Int>(0)

  /// The core; `nil` after `terminate`.
  var core: SyncCore?
  package nonisolated let cacheProblem: CacheProblem?
  /// Whether the cache persists after the process ends.
  package nonisolated let isDurable: Bool
  private var mailboxes: [ListenerID: SnapshotMailbox] = [:]
  /// The tap of an external observer; `nil` if there is no observer.
  var tap: ListenerTap?
  private var writes: [BatchID: WriteHandle] = [:]
  /// The callers that wait for another client to cancel a write.
  private var cancellations: [BatchID: [OneShot<Void>]] = [:]
  private var pendingWaits: [PendingWritesWait: OneShot<Void>] = [:]
  private var waitCount = 0
  var syncObservers: [Int: AsyncStream<Void>.Continuation] = [:]
  private var statusObservers: [StatusObserver] = []
  /// The observers of outages. `outage` is the reason that was last reported to them.
  private var outageObservers: [@Sendable (ConnectionReason?) -> Void] = []
  private var outage: ConnectionReason?
  var observerCount = 0
  var record = StatusRecord()
  private var publishedRevision = -1
  /// Whether the watch stream has received a message since the last check for silence.
  var hasHeardFromWatch = false
  /// Observes the other clients of a shared cache.
  var watchOfOthers: (any DispatchSourceRead)?

  /// Opens the cache, or a database in memory if the cache cannot be used. `cacheProblem` then contains the reason. The
  /// engine sends nothing before `run` is called.
  /// - Parameter loop: the loop that runs the engine and its jobs, such as a simulation's loop. All clients of a shared
  ///   cache can use the same loop. If `nil`, the engine uses the datastore's loop, or a separate queue if the
  ///   datastore has none.
  package init(
    _ configuration: SyncConfiguration, datastore: any Datastore, clock: any Clock<Duration>,
    now: @escaping @Sendable () -> Timestamp, random: any RandomNumberGenerator & Sendable,
    on loop: (any WorkLoop & TaskExecutor)? = nil
  ) {
    isOnStreamThread = loop == nil
    let loop = loop ?? datastore.loop
    let queue = QueueExecutor(label: "hearth.sync-engine", on: loop)
    executor = queue
    self.loop = loop
    self.datastore = datastore
    database = configuration.store.database
    self.clock = clock
    self.now = now
    let tasks: (any TaskExecutor)? = datastore.answersInProcess ? QueueTaskExecutor(queue) : nil
    jobs = EngineJobs(on: loop ?? tasks)
    var settings = SyncCore.Configuration(database: configuration.store.database)
    settings.isNetworkEnabled = configuration.isNetworkEnabled
    if case .leastRecentlyUsed(let threshold) = configuration.store.policy {
      settings.garbageCollectionThreshold = threshold
    }
    let opening = clock.stopwatch()
    let store = LocalStore(openingOrFallingBack: configuration.store)
    record.opened(in: opening())
    cacheProblem = store.fallback.map { CacheProblem(error: $0, isInMemory: store.movedAside == nil) }
    isDurable =
      if case .directory = configuration.store.location {
        store.fallback == nil || store.movedAside != nil
      } else {
        false
      }
    record.since = now()
    core = SyncCore(store, configuration: settings, random: random)
    let user = configuration.user
    executor.async { self.assumeIsolated { $0.start(user) } }
  }

  private func start(_ user: String?) {
    let tell: @Sendable () -> Void = { [weak self] in self?.submit { engine in engine.storeWasLost() } }
    let opening = clock.stopwatch()
    transition { core in
      core.startOrRetry(user: user)
      core.watchFiles(tell)
    }
    record.opened(in: opening())
    beginSharing()
  }

  /// Publishes a new status, which reports that the cache's files were removed.
  private func storeWasLost() { transition { core in core.output.statusChanged() } }

  /// Enqueues work in the order of the calls.
  nonisolated func submit(_ body: @escaping @Sendable (isolated SyncEngine) -> Void) {
    executor.async { self.assumeIsolated(body) }
  }

  // MARK: Calls in order

  /// Adds a listener. The mailbox receives its snapshots, and an error ends the mailbox.
  package nonisolated func listen(
    to query: Query, options: ListenerOptions, into mailbox: SnapshotMailbox
  ) -> ListenerID {
    let id = ListenerID(listenerNumbers.wrappingAdd(1, ordering: .relaxed).newValue)
    submit { engine in
      guard engine.core != nil else { return mailbox.fail(.terminated) }
      engine.mailboxes[id] = mailbox
      engine.record.listened(engine.clock)
      engine.tap?.open(ListenerState(id: id.rawValue, query: query, options: options))
      engine.transition { core in core.listen(id, to: query, options: options) }
    }
    return id
  }

  /// Removes a listener. Does nothing if the listener has already ended.
  package nonisolated func stopListening(_ id: ListenerID) {
    submit { engine in
      engine.mailboxes.removeValue(forKey: id)?.finish()
      engine.tap?.end([id], nil)
      engine.transition { core in core.stopListening(id) }
    }
  }

  /// Queues one atomic batch of writes.
  /// - Parameter onAnswer: called as described at `WriteHandle.whenAnswered`. It is registered before the write begins.
  ///   In contrast, a closure that is registered on the returned handle may be called only after the snapshot with the
  ///   result.
  package nonisolated func write(
    _ mutations: [Mutation], _ conditions: WriteConditions = .none,
    onAnswer: (@Sendable (Result<CommitResponse, RPCStatus>) -> Void)? = nil
  ) -> WriteHandle {
    let handle = WriteHandle()
    if let onAnswer { handle.whenAnswered(onAnswer) }
    submit { engine in
      let (time, tap) = (engine.now(), engine.tap)
      engine.queue(handle) { core throws(RPCStatus) in
        guard let tap else { return try core.write(mutations, conditions, at: time) }
        return try tap.write(mutations, in: &core) { core throws(RPCStatus) in
          try core.write(mutations, conditions, at: time)
        }
      }
    }
    return handle
  }

  /// Runs a transition that queues a batch, and reports both stages to the handle.
  func queue<Failure: ClientFailure>(
    _ handle: WriteHandle, _ body: (inout SyncCore) throws(Failure) -> BatchID
  ) {
    do throws(RPCStatus) {
      let batch = try change(body) { engine, batch in engine.writes[batch] = handle }
      handle.stored.resolve(.success(batch))
    } catch {
      handle.stored.resolve(.failure(error))
      handle.answered.resolve(.failure(error))
    }
  }

  /// Yields the status now and after every change. Elements are created on demand, so a slow reader skips outdated
  /// elements, and unread elements cost nothing.
  /// - Parameter ends: the number of writes to list from each end of a long queue, which limits the cost of an element;
  ///   `nil` to list all writes.
  package nonisolated func status(queueEnds ends: Int? = nil) -> AsyncStream<ClientStatus> {
    let signal = Signal()
    submit { engine in
      engine.statusObservers.removeAll { $0.signal == nil }
      engine.statusObservers.append(StatusObserver(signal: signal))
      signal.raise()
    }
    return AsyncStream {
      await signal.wait()
      return Task.isCancelled ? nil : await self.currentStatus(ends)
    }
  }

  /// Registers an observer of the reason why the backend does not answer. The observer is called on each change.
  /// - Parameter observer: called on the engine's queue; it must not block.
  package nonisolated func watchOutages(_ observer: @escaping @Sendable (ConnectionReason?) -> Void) {
    submit { engine in
      engine.outageObservers.append(observer)
      if let reason = engine.outage { observer(reason) }
      engine.noteOutage()
    }
  }

  // MARK: Network

  package func enableNetwork() async { transition { core in core.enableNetwork() } }

  /// Returns when the streams have stopped and every listener has received a snapshot that is from the cache.
  /// - Parameter isWatcher: whether a program that watches the client made the request.
  package func disableNetwork(byWatcher isWatcher: Bool = false) async {
    if core?.isNetworkEnabled == true { record.isDisabledByWatcher = isWatcher }
    transition { core in core.disableNetwork() }
    await jobs.streamsStopped()
  }

  /// Ends any backoff and connects immediately.
  package func retryNow() async { transition { core in core.retryNow() } }

  package func changeUser(to user: String?) async {
    transition { core in core.changeUser(to: user) }
  }

  /// Changes the user. Later calls to the engine take effect only after the change.
  /// - Parameter completion: called on the engine's executor when the user has changed.
  package nonisolated func changeUser(to user: String?, _ completion: @escaping @Sendable () -> Void) {
    submit { engine in
      engine.transition { core in core.changeUser(to: user) }
      completion()
    }
  }

  /// Returns when all writes that are pending at the time of the call have been acknowledged or rejected.
  /// - Throws: `cancelled` if the user changes meanwhile.
  package func waitForPendingWrites() async throws(RPCStatus) {
    guard core != nil else { throw .terminated }
    waitCount += 1
    let wait = PendingWritesWait(waitCount)
    let done = OneShot<Void>()
    pendingWaits[wait] = done
    transition { core in core.waitForPendingWrites(wait) }
    try await done.value
  }

  /// Drops a batch that is not in flight. The batch's local effect is undone, and its write fails with `cancelled`. If
  /// another client of the cache sends the writes, waits until that client has dropped the batch.
  /// - Throws: `not-found` if the batch is not pending; `failed-precondition` if it is in flight.
  package func cancelWrite(_ id: BatchID) async throws(RPCStatus) {
    let answer = OneShot<Void>()
    let isDone = try change({ core throws(RPCStatus) in try core.cancelWrite(id) }) { engine, isDone in
      if !isDone { engine.cancellations[id, default: []].append(answer) }
    }
    if !isDone { try await answer.value }
  }

  private func answerCancellations(of id: BatchID, _ result: Result<CommitResponse, RPCStatus>) {
    guard let waiting = cancellations.removeValue(forKey: id) else { return }
    let sent = RPCStatus(.failedPrecondition, "Write \(id) was sent before it could be canceled.")
    for wait in waiting {
      if case .failure(let status) = result, status.endsWriteHere {
        wait.resolve(.success(()))
      } else {
        wait.resolve(.failure(sent))
      }
    }
  }

  // MARK: The end

  /// Stops the streams and closes the cache. Every later call fails with `failed-precondition`. Pending writes remain
  /// stored, and the next client that opens the cache sends them.
  package func terminate() async {
    guard core != nil else { return }
    transition { core in core.prepareToClose() }
    await jobs.finish()
    endSharing()
    core.take()?.close()
    finishAll(.terminated)
  }

  /// Closes the cache immediately, because another client is about to delete it.
  private func end(_ status: RPCStatus) {
    jobs.stop()
    endSharing()
    core.take()?.close()
    finishAll(status)
  }

  func finishAll(_ status: RPCStatus) {
    for mailbox in mailboxes.values { mailbox.fail(status) }
    for handle in writes.values { handle.answered.resolve(.failure(status)) }
    for wait in pendingWaits.values { wait.resolve(.failure(status)) }
    for wait in cancellations.values.joined() { wait.resolve(.failure(status)) }
    cancellations = [:]
    for observer in statusObservers { observer.signal?.raise() }
    for observer in syncObservers.values { observer.finish() }
    (mailboxes, writes, pendingWaits, statusObservers, syncObservers) = ([:], [:], [:], [], [:])
  }

  // MARK: Transitions and effects

  /// Runs one transition of the core, and performs its effects before any other work. Does nothing after `terminate`.
  func transition(_ body: (inout SyncCore) -> Void) {
    // The error is ignored: only a terminated engine throws here.
    _ = try? change { core throws(RPCStatus) in body(&core) }
  }

  /// Runs one transition that has a result.
  /// - Parameter beforeEffects: called with the result before the transition's effects are performed.
  /// - Throws: the error of `body`, converted for callers; `failed-precondition` after `terminate`.
  @discardableResult
  func change<Result, Failure: ClientFailure>(
    _ body: (inout SyncCore) throws(Failure) -> Result,
    beforeEffects: (isolated SyncEngine, Result) -> Void = { _, _ in }
  ) throws(RPCStatus) -> Result {
    let step = withCore { core in (result: Self.result(of: body, on: &core), effects: core.takeEffects()) }
    guard let (result, effects) = step else { throw .terminated }
    if case .success(let value) = result { beforeEffects(self, value) }
    for effect in effects { perform(effect) }
    if effects.bringSnapshotsInSync { for observer in syncObservers.values { observer.yield() } }
    publishStatus()
    return try result.get()
  }

  /// Runs `body` on the core.
  /// - Returns: `nil` after `terminate`.
  private func withCore<Result>(_ body: (inout SyncCore) -> Result) -> Result? { core?.run(body) }

  private static func result<Result, Failure: ClientFailure>(
    of body: (inout SyncCore) throws(Failure) -> Result, on core: inout SyncCore
  ) -> Swift.Result<Result, RPCStatus> {
    do throws(Failure) { return .success(try body(&core)) } catch { return .failure(error.status) }
  }

  private func perform(_ effect: SyncEffect) {
    switch effect {
    case .complete(let batch, let result):
      writes.removeValue(forKey: batch)?.answered.resolve(result)
      answerCancellations(of: batch, result)
    case .refuseCancellation(let batch, let status):
      for wait in cancellations.removeValue(forKey: batch) ?? [] { wait.resolve(.failure(status)) }
    case .deliver(let deliveries):
      record.delivered(deliveries)
      for delivery in deliveries { mailboxes[delivery.listener]?.put(delivery.snapshot) }
      if let tap { tap.deliver(deliveries, at: now()) }
    case .fail(let listeners, let status):
      for listener in listeners { mailboxes.removeValue(forKey: listener)?.fail(status) }
      tap?.end(listeners, status)
    case .finishWait(let wait, let status):
      pendingWaits.removeValue(forKey: wait)?.resolve(status.map { .failure($0) } ?? .success(()))
    case .open(let kind, let epoch, let delay):
      record.opening(kind, at: now(), after: delay)
      jobs.open(kind, epoch, after: delay)
    case .close(let kind, let epoch): jobs.close(kind, epoch)
    case .wake(let kind): jobs.wake(kind)
    case .schedule(let timer, let delay):
      if timer == .storeRetry { record.storeRetry = now() + delay }
      jobs.schedule(timer, after: delay)
    case .cancel(let timer): jobs.cancel(timer)
    case .shutDown(let status): end(status)
    }
  }

  private func publishStatus() {
    noteOnlineState()
    guard let revision = core?.statusRevision, revision != publishedRevision else { return }
    publishedRevision = revision
    for observer in statusObservers { observer.signal?.raise() }
    noteOutage()
  }

  private func noteOutage() {
    guard !outageObservers.isEmpty else { return }
    let reason = core?.outage
    if reason == outage { return }
    outage = reason
    for observer in outageObservers { observer(reason) }
  }

  private func noteOnlineState() {
    if let state = core?.onlineState { record.note(state, at: now()) }
  }

  private func currentStatus(_ ends: Int?) -> ClientStatus? {
    noteOnlineState()
    return withCore { core in record.status(of: &core, ends: ends, isDurable: isDurable) }
  }
}

extension SyncCore {
  fileprivate mutating func run<Result>(_ body: (inout SyncCore) -> Result) -> Result { body(&self) }
}
