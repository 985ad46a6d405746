// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

/// A requested commit.
package struct CommitOrder: Sendable {
  package let mutations: [Mutation]
  let database: DatabaseID
  /// The id under which the commit is recorded. If a commit with this id was applied before, no mutation is applied and
  /// the stored response is sent again.
  let request: WriteRequestID?
  /// Rejects the commit by throwing; not called for a request that was applied before.
  let check: CommitCheck?

  package init(
    _ mutations: [Mutation], in database: DatabaseID, request: WriteRequestID? = nil, check: CommitCheck? = nil
  ) {
    self.mutations = mutations
    self.database = database
    self.request = request
    self.check = check
  }
}

/// The result of a commit.
struct CommitOutcome: Sendable {
  var response: CommitResponse
  /// The transitions of the changed documents; empty for a repeated request.
  var transitions: [DocumentTransition]
}

extension CommitLog {
  /// Applies the requested commits one after the other, each atomically and durably. All commits that are not rejected
  /// share one transaction and its costs. If that transaction fails, each commit is applied in a separate transaction.
  /// - Returns: a result for each commit. `refused` means that the mutations are invalid. After any error, none of the
  ///   commit's mutations was applied. A commit does not fail if pruning after it fails.
  mutating func commit(_ orders: [CommitOrder]) -> [Result<CommitOutcome, StoreError>] {
    if configuration.isPrivateCopy {
      let refusal = StoreError.refused(.failedPrecondition, "This data is a read-only copy. Nothing was written.")
      return orders.map { _ in .failure(refusal) }
    }
    do throws(StoreError) {
      return try commitTogether(orders)
    } catch {
      if orders.count == 1 { return [.failure(error)] }
      // One order may be the cause; the others must not fail with it.
      return orders.map { order in commit([order])[0] }
    }
  }

  /// - Throws: an error that no single commit caused, or `refused` for a database that is not served. After an error,
  ///   nothing was applied.
  private mutating func commitTogether(
    _ orders: [CommitOrder]
  ) throws(StoreError) -> [Result<CommitOutcome, StoreError>] {
    var states = DatabaseStates()
    for order in orders where states[order.database] == nil {
      let state = try state(of: order.database)
      compareClock(state)
      states[order.database] = state
    }
    let asksForRequests = orders.contains { $0.request != nil }
    let prunesRequests = asksForRequests && unprunedRequests >= requestLimits.slice
    var group = CommitGroup(
      states, collections, now: configuration.now, keptChanges: keptChanges, requestLimits: requestLimits)
    let limits = requestLimits
    let results: [Result<CommitOutcome, StoreError>]
    do throws(StoreError) {
      results = try file.transaction { connection throws(StoreError) in
        let results = try group.apply(orders, connection)
        if prunesRequests, let (_, state) = group.states.all.first {
          try AppliedRequests(connection, state.id).prune(at: state.version, limits)
        }
        return results
      }
    } catch {
      // A rolled-back transaction may have created collections.
      collections.forget()
      throw error
    }
    if asksForRequests { unprunedRequests = prunesRequests ? 0 : unprunedRequests + orders.count }
    for (database, state) in group.states.all { databases[database] = state }
    history.add(rows: group.historyRows, bytes: group.historyBytes)
    // The commits are done; a later commit can prune what cannot be pruned now.
    if history.wantsPruning { try? pruneHistory() }
    return results
  }
}

/// The states of the few databases that a group of commits uses.
struct DatabaseStates {
  private(set) var all: [(DatabaseID, DatabaseState)] = []

  subscript(database: DatabaseID) -> DatabaseState? {
    get { all.first { $0.0 == database }?.1 }
    set {
      guard let newValue else { return }
      if let index = all.firstIndex(where: { $0.0 == database }) {
        all[index].1 = newValue
      } else {
        all.append((database, newValue))
      }
    }
  }
}

/// The commits of one transaction. Their results are valid only after the transaction has succeeded.
struct CommitGroup {
  private(set) var states: DatabaseStates
  private let collections: CollectionNumbers
  /// The number of earlier versions that the commits have added to the history, and their cost in bytes.
  private(set) var historyRows = 0
  private(set) var historyBytes: Int64 = 0
  /// The databases whose states must be stored, because the recorded changes do not determine them.
  private var unstored: Set<DatabaseID> = []
  private let now: @Sendable () -> Timestamp
  private let keptChanges: Int
  private let requestLimits: AppliedRequests.Limits

  init(
    _ states: DatabaseStates, _ collections: CollectionNumbers, now: @escaping @Sendable () -> Timestamp,
    keptChanges: Int, requestLimits: AppliedRequests.Limits
  ) {
    self.states = states
    self.collections = collections
    self.now = now
    self.keptChanges = keptChanges
    self.requestLimits = requestLimits
  }

  /// - Throws: any error except `refused`. A commit is refused before any part of it is written.
  mutating func apply(
    _ orders: [CommitOrder], _ connection: Connection
  ) throws(StoreError) -> [Result<CommitOutcome, StoreError>] {
    var results: [Result<CommitOutcome, StoreError>] = []
    results.reserveCapacity(orders.count)
    for order in orders {
      do throws(StoreError) { results.append(.success(try apply(order, connection))) } catch {
        guard case .refused = error.kind else { throw error }
        results.append(.failure(error))
      }
    }
    for (database, state) in states.all where unstored.contains(database) { try state.store(connection) }
    return results
  }

  private mutating func apply(_ order: CommitOrder, _ connection: Connection) throws(StoreError) -> CommitOutcome {
    guard let state = states[order.database] else { preconditionFailure("The database's state was not loaded.") }
    let requests = AppliedRequests(connection, state.id)
    let name = order.request.map { AppliedRequests.Name($0, order.mutations) }
    if let name, let answer = try requests.answer(to: name) { return CommitOutcome(response: answer, transitions: []) }
    var writer = CommitWriter(
      database: order.database, state: state, version: try CommitLog.nextVersion(state, at: now()),
      collections: collections)
    let outcome = try writer.apply(order.mutations, check: order.check, connection)
    let isRecorded = !outcome.transitions.isEmpty
    if try writer.finish(keeping: keptChanges, isRecorded: isRecorded, connection) {
      unstored.insert(order.database)
    }
    if let name { try requests.record(outcome.response, for: name, requestLimits) }
    states[order.database] = writer.state
    historyRows += writer.historyRows
    historyBytes += writer.historyBytes
    return outcome
  }
}
