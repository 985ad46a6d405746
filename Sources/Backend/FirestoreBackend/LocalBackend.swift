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
