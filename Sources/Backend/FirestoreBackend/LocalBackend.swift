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
/// Every method is one synchronous step on the actor's executor, in the order of arrival: a commit is stored and put to
/// all sessions in one step, so each session sees every commit once and whole. An acknowledged commit survives the
/// death of the process (S10). The actor never waits for a stream: changes that a slow client has not fetched are
/// merged per document, up to `PendingChanges.maximumCount` documents; beyond that they are read from the log when it
/// fetches them.
package actor LocalBackend {
  /// The executor that the backend runs on.
  package nonisolated let executor: any SerialExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Lets other calls in between the steps of a long read.
  nonisolated let pause: @Sendable () async -> Void

  /// The random identity of the data, drawn when it was made; it stays the same wherever the data is moved.
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

  /// - Parameters:
  ///   - executor: the executor of the backend, which must run one job at a time, in order, and may block; by default a
  ///     queue of its own.
  ///   - pause: called between the steps of a long read, for an executor on which it is not enough to yield.
  /// - Throws: `locked` when another process holds the directory, `notWritable`, `notPrivate`, `newerSchema`; `corrupt`
  ///   for damaged data, which stays where it is (see `DataRepair`).
  package init(
    _ configuration: BackendConfiguration, on executor: (any SerialExecutor)? = nil,
    pause: @escaping @Sendable () async -> Void = { await Task.yield() }
  ) throws(StoreError) {
    try self.init(configuration, keptChanges: CommitLog.keptChanges, on: executor, pause: pause)
  }

  /// - Parameters:
  ///   - keptChanges: the number of changes kept for resuming watches.
  ///   - requests: the number of answers kept for clients that never saw them.
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
    // The task is not awaited: each commit checks the files itself.
    openFiles?.watch { [weak self] loss in
      let status = loss.status
      Task { () async in await self?.endWatches(status) }
    }
  }

  /// The time at which a read or commit happens now, apart from the rule that versions never repeat.
  package var time: Timestamp { log.clock }

  /// Applies mutations atomically.
  /// - Parameters:
  ///   - request: makes the commit happen once, however often it is asked for (see `AppliedRequests`).
  ///   - check: decides whether the commit may happen; not called for a request that was applied before.
  @discardableResult
  package func commit(
    _ mutations: [Mutation], in database: DatabaseID, request: WriteRequestID? = nil, check: CommitCheck? = nil
  ) throws(RPCStatus) -> CommitResponse {
    try commit([CommitOrder(mutations, in: database, request: request, check: check)])[0].get()
  }

  /// Applies several commits, each atomically by itself and in this order, at less cost than one after the other.
  /// - Returns: a result for each.
  package func commit(_ orders: [CommitOrder]) -> [Result<CommitResponse, RPCStatus>] {
    let results = log.commit(orders)
    // Nothing is certain after another error than the mutations' own.
    for case .failure(let error) in results {
      if case .refused = error.kind { continue }
      lookedUpDocuments.forget()
    }
    for (database, transitions) in DocumentTransition.byDatabase(orders, results) { publish(transitions, in: database) }
    return results.map { $0.map(\.response).mapError(\.status) }
  }

  /// Removes every document. Listeners on queries are reset, documents are reported deleted.
  package func deleteAllDocuments(in database: DatabaseID) throws(RPCStatus) {
    do throws(StoreError) {
      _ = try log.deleteAllDocuments(in: database)
      restartTargets(in: database)
    } catch { throw error.status }
  }

  /// The databases that have been named so far, sorted by their names.
  package func databases() throws(RPCStatus) -> [DatabaseID] {
    do throws(StoreError) { return try log.databaseNames().compactMap { DatabaseID(name: $0) } } catch {
      throw error.status
    }
  }

  /// The databases that hold documents now, sorted by their names. A database that was never written to, or was
  /// emptied, is not among them.
  package func occupiedDatabases() throws(RPCStatus) -> [DatabaseID] {
    do throws(StoreError) { return try log.occupiedDatabaseNames().compactMap { DatabaseID(name: $0) } } catch {
      throw error.status
    }
  }

  /// Stores many documents at once, replacing existing ones: far faster than commits, but not recorded change by
  /// change, so listeners are reset.
  package func seed(
    _ documents: some Sequence<(key: DocumentKey, fields: Fields)> & Sendable, in database: DatabaseID
  ) throws(RPCStatus) {
    // A part of them is stored where another cannot be.
    lookedUpDocuments.noteAll(in: database)
    do throws(StoreError) {
      _ = try log.seed(documents, in: database)
      restartTargets(in: database)
    } catch { throw error.status }
  }
}

/// The settings of the embedded backend: the place of its data, its durability, its clock and its limits.
package struct BackendConfiguration: Sendable {
  package enum Location: Hashable, Sendable {
    case memory
    /// A directory that one process may hold at a time (0700, made if absent).
    case directory(String)
  }

  /// The failure that an acknowledged commit survives beside the death of the process, which it always survives.
  package enum Durability: String, Hashable, Sendable, CaseIterable {
    /// A durability in which a power cut may take the commits of the last seconds, newest first and each whole.
    case normal
    /// A durability in which a power cut takes nothing: every commit waits for the disk, which takes milliseconds.
    case full
  }

  package var location: Location
  package var durability: Durability
  /// The most bytes of earlier versions that are kept, each for an hour at most. Reads in the past reach back as far as
  /// both limits allow.
  package var keptHistoryBytes: Int64
  /// The most bytes of the database's pages that are kept in memory.
  package var pageCacheBytes = usualPageCacheBytes
  /// The clock that commit times follow; they never repeat and never go back, whatever it does.
  package var now: @Sendable () -> Timestamp
  /// Called with facts that an operator should know while no call has failed: a sentence or two, on the backend's
  /// executor.
  package var report: @Sendable (String) -> Void
  /// Whether other processes reach the data through this one, and need not take it for lost to them.
  package var isServed: Bool

  /// Called when a database is first named; the status that it returns is the answer in place of the database.
  package var objection: @Sendable (DatabaseID) -> RPCStatus? = { _ in nil }
  /// Whether the directory is a copy that this process alone knows and may delete while it is open. A private copy
  /// refuses commits with `failedPrecondition`, and its files are not looked at again.
  package var isPrivateCopy = false

  /// The default size of the page cache, which holds the upper pages of a million documents.
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
  /// The name of the socket beside the data, on which the process that has it open serves it to others.
  package static let socketName = "hearth.sock"

  /// Whether a directory has data of a backend, in whatever state.
  package static func exists(in directory: String) -> Bool {
    DatabaseFiles(path: directory + "/" + BackendFile.name).exists
  }
}
