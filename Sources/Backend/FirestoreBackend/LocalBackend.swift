// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite
import SerialExecutors

/// The embedded server: several databases of authoritative documents, and the watch streams on them.
///
/// ```
///  commit ──► CommitLog (SQLite, durable) ──► TargetMatcher ──► WatchSession … ──► WatchSignal ──► take
/// ```
/// Every method is one synchronous step on the actor's executor, in the order of arrival. A commit is stored and passed
/// to all sessions in one step, so each session sees every commit once and completely. An acknowledged commit survives
/// the death of the process (S10). The actor never waits for a stream: changes that a slow client has not fetched are
/// merged per document, up to `PendingChanges.maximumCount` documents. Further changes are read from the log when the
/// client fetches them.
package actor LocalBackend {
  /// The executor of the backend.
  package nonisolated let executor: any SerialExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Lets other calls run between the steps of a long read.
  nonisolated let pause: @Sendable () async -> Void

  /// The random identity of the data, assigned when the data is created and unchanged when it is moved.
  package nonisolated let instance: [UInt8]

  var log: CommitLog
  var matcher = TargetMatcher()
  var sessions: [WatchSessionID: WatchSession] = [:]
  var signals: [WatchSessionID: WatchSignal] = [:]
  var failures: [WatchSessionID: RPCStatus] = [:]
  var dependencies = WatchDependencies()
  var followers = CommitFollowers()
  var lookedUpDocuments = LookedUpDocuments()
  var lastSession: Int64 = 0
  var transactions: TransactionTable
  var lockWaits = LockWaits()

  /// - Parameters:
  ///   - executor: the executor of the backend, which must run one job at a time, in order, and may block; by default a
  ///     separate queue.
  ///   - pause: called between the steps of a long read, for an executor that needs more than a yield.
  /// - Throws: `locked` if another process holds the directory, `notWritable`, `notPrivate`, `newerSchema`; `corrupt`
  ///   for damaged data, which remains in place (see `DataRepair`).
  package init(
    _ configuration: BackendConfiguration, on executor: (any SerialExecutor)? = nil,
    pause: @escaping @Sendable () async -> Void = { await Task.yield() }
  ) throws(StoreError) {
    try self.init(configuration, keptChanges: CommitLog.keptChanges, on: executor, pause: pause)
  }

  /// - Parameters:
  ///   - keptChanges: the number of recorded changes for resuming watches.
  ///   - requests: the limits on responses stored for clients that never received them.
  init(
    _ configuration: BackendConfiguration, keptChanges: Int,
    requests: AppliedRequests.Limits = AppliedRequests.Limits(), on executor: (any SerialExecutor)? = nil,
    pause: @escaping @Sendable () async -> Void = { await Task.yield() }
  ) throws(StoreError) {
    let log = try CommitLog(configuration, keptChanges: keptChanges, requests: requests)
    instance = log.instance
    self.executor = executor ?? QueueExecutor(label: "local-backend")
    self.pause = pause
    transactions = TransactionTable(at: log.clock.microseconds)
    let openFiles = log.file.openFiles
    self.log = log
    // The task is not awaited, since each commit checks the files itself.
    openFiles?.watch { [weak self] loss in
      let status = loss.status
      Task { () async in await self?.endWatches(status) }
    }
  }

  /// The clock's time. Versions are based on it but never repeat.
  package var time: Timestamp { log.clock }

  /// Applies mutations atomically.
  /// - Parameters:
  ///   - request: identifies the commit, so that it is applied once even if it is requested again (see
  ///     `AppliedRequests`).
  ///   - check: rejects the commit by throwing; not called for a request that was applied before.
  @discardableResult
  package func commit(
    _ mutations: [Mutation], in database: DatabaseID, request: WriteRequestID? = nil, check: CommitCheck? = nil
  ) throws(RPCStatus) -> CommitResponse {
    try commit([CommitOrder(mutations, in: database, request: request, check: check)])[0].get()
  }

  /// Applies several commits in order, each atomically. Cheaper than separate calls.
  /// - Returns: a result for each commit; `locked` if the commit would write a document that a pessimistic transaction
  ///   has locked.
  package func commit(_ orders: [CommitOrder]) -> [Result<CommitResponse, RPCStatus>] {
    if transactions.pessimistic.isEmpty { return commitUnlocked(orders) }
    return orders.map { order in
      isLocked(order.mutations, in: order.database) ? .failure(Self.locked) : commitUnlocked([order])[0]
    }
  }

  /// Applies commits without checking locks.
  func commitUnlocked(_ orders: [CommitOrder]) -> [Result<CommitResponse, RPCStatus>] {
    let results = log.commit(orders)
    // The stored state is unknown after an error that the mutations did not cause.
    for case .failure(let error) in results {
      if case .refused = error.kind { continue }
      lookedUpDocuments.forget()
    }
    for (database, transitions) in DocumentTransition.byDatabase(orders, results) { publish(transitions, in: database) }
    return results.map { $0.map(\.response).mapError(\.status) }
  }

  /// Removes every document. Query listeners are reset; document listeners see the document as deleted.
  package func deleteAllDocuments(in database: DatabaseID) throws(RPCStatus) {
    do throws(StoreError) {
      _ = try log.deleteAllDocuments(in: database)
      restartTargets(in: database)
    } catch { throw error.status }
  }

  /// The databases used so far, sorted by name.
  package func databases() throws(RPCStatus) -> [DatabaseID] {
    do throws(StoreError) { return try log.databaseNames().compactMap { DatabaseID(name: $0) } } catch {
      throw error.status
    }
  }

  /// The databases that have documents now, sorted by name. Excludes databases that were never written to or were
  /// emptied.
  package func occupiedDatabases() throws(RPCStatus) -> [DatabaseID] {
    do throws(StoreError) { return try log.occupiedDatabaseNames().compactMap { DatabaseID(name: $0) } } catch {
      throw error.status
    }
  }

  /// Stores many documents in bulk, replacing existing ones. Far faster than commits, but changes are not recorded
  /// individually, so listeners are reset.
  package func seed(
    _ documents: some Sequence<(key: DocumentKey, fields: Fields)> & Sendable, in database: DatabaseID
  ) throws(RPCStatus) {
    // Some of the documents may be stored even after an error.
    lookedUpDocuments.noteAll(in: database)
    do throws(StoreError) {
      _ = try log.seed(documents, in: database)
      restartTargets(in: database)
    } catch { throw error.status }
  }
}

/// The settings of the embedded backend: location, durability, clock and limits.
package struct BackendConfiguration: Sendable {
  package enum Location: Hashable, Sendable {
    case memory
    /// A directory that one process at a time can lock (mode 0700, created if absent).
    case directory(String)
  }

  /// The failures that an acknowledged commit survives. Every acknowledged commit survives the death of the process.
  package enum Durability: String, Hashable, Sendable, CaseIterable {
    /// A power failure may lose the commits of the last few seconds. Each commit is lost completely or not at all.
    case normal
    /// A power failure loses nothing: every commit is fsynced, which takes milliseconds.
    case full
  }

  package var location: Location
  package var durability: Durability
  /// The maximum size in bytes of all earlier versions together. Each version is stored for at most an hour. Reads in
  /// the past reach back as far as both limits allow.
  package var keptHistoryBytes: Int64
  /// The maximum size in bytes of the page cache.
  package var pageCacheBytes = usualPageCacheBytes
  /// The clock for commit times. Commit times never repeat or decrease, even if the clock does.
  package var now: @Sendable () -> Timestamp
  /// Called on the backend's executor with a message of one or two sentences for the operator.
  package var report: @Sendable (String) -> Void
  /// Whether other processes access the data through this one, so that they do not report it as locked.
  package var isServed: Bool

  /// Called when a database is first used. If it returns a status, the request fails with that status.
  package var objection: @Sendable (DatabaseID) -> RPCStatus? = { _ in nil }
  /// Whether the directory is a copy that only this process uses and may delete while it is open. A private copy
  /// rejects commits with `failedPrecondition`, and its files are not checked again.
  package var isPrivateCopy = false

  /// The default size of the page cache, which is enough for the interior B-tree pages of a million documents.
  package static let usualPageCacheBytes = 16 << 20

  package init(
    location: Location, durability: Durability = .normal, keptHistoryBytes: Int64 = 64 << 20,
    isServed: Bool = false, now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.location = location
    self.durability = durability
    self.keptHistoryBytes = keptHistoryBytes
    self.now = now
    self.report = report
    self.isServed = isServed
  }
}

extension LocalBackend {
  /// The name of the socket next to the data. On this socket, the process that has locked the data serves other
  /// processes.
  package static let socketName = "hearth.sock"

  /// Whether a directory contains backend data, intact or not.
  package static func exists(in directory: String) -> Bool {
    DatabaseFiles(path: directory + "/" + BackendFile.name).exists
  }
}
