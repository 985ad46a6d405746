// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

extension LocalBackend {
  /// - Parameter client: whom the transaction belongs to. When there are too many, the client with most of them loses
  ///   the one that it has not used for longest, or is refused a further one.
  /// - Throws: `invalid-argument` for a read time that cannot be read at or a retried transaction that never was;
  ///   `resource-exhausted`.
  package func beginTransaction(
    _ options: TransactionOptions, in database: DatabaseID, for client: ClientID? = nil
  ) throws(RPCStatus) -> TransactionID {
    do throws(StoreError) {
      let time = log.clock.microseconds
      var transaction = OpenTransaction(database: database, isReadOnly: false, client: client, began: time, used: time)
      switch options {
      case .readOnly(let readTime):
        transaction.isReadOnly = true
        transaction.version = try version(of: readTime.map { .readTime($0) } ?? .latest, in: database)
      case .readWrite(let retried?) where !transactions.isKnown(retried):
        throw .refused(.invalidArgument, "Invalid transaction.")
      case .readWrite: break
      }
      return try transactions.begin(transaction, at: time)
    } catch { throw error.status }
  }

  /// Ends a transaction without writing. One that has ended already is no error.
  package func rollback(_ id: [UInt8], in database: DatabaseID) throws(RPCStatus) {
    guard transactions.isKnown(id), let id = TransactionID(id) else {
      throw RPCStatus(.invalidArgument, "Invalid transaction.")
    }
    transactions.finish(id)
  }

  /// Applies mutations if nothing that the transaction read has changed; ends the transaction either way.
  /// - Parameter check: decides whether the commit may happen.
  /// - Throws: `aborted` if something has changed.
  package func commit(
    _ mutations: [Mutation], in database: DatabaseID, transaction: [UInt8], check: CommitCheck? = nil
  ) throws(RPCStatus) -> CommitResponse {
    let id: TransactionID
    do throws(StoreError) {
      id = try transactions.use(transaction, in: database, at: log.clock.microseconds)
    } catch { throw error.status }
    guard let transaction = transactions[id] else { throw RPCStatus(.invalidArgument, "Invalid transaction.") }
    if transaction.isReadOnly, !mutations.isEmpty {
      throw RPCStatus(.invalidArgument, "Cannot modify entities in a read-only transaction.")
    }
    defer { transactions.finish(id) }
    if !mutations.isEmpty {
      do throws(StoreError) {
        let isOutdated = try log.readAtBoth(database, transaction.version) { now, earlier throws(StoreError) in
          try now.hasConflict(transaction, earlier: earlier)
        }
        if isOutdated {
          throw .refused(.aborted, "Too much contention on these documents. Please try again.")
        }
      } catch { throw error.status }
    }
    return try commit(mutations, in: database, check: check)
  }

  /// Applies each mutation on its own: some may fail and others not.
  package func commitEach(
    _ mutations: [Mutation], in database: DatabaseID
  ) throws(RPCStatus) -> [Result<MutationResult, RPCStatus>] {
    var seen: Set<DocumentKey> = []
    for mutation in mutations where !seen.insert(mutation.key).inserted {
      throw RPCStatus(
        .invalidArgument, "the same document cannot be written more than once in a single request")
    }
    return commit(mutations.map { CommitOrder([$0], in: database) }).map { result in result.map { $0.results[0] } }
  }
}

extension CommitLog {
  /// Reads now and at an earlier version (now, if there is none) in one step.
  mutating func readAtBoth<Result>(
    _ database: DatabaseID, _ version: Int64?,
    _ body: (DocumentReader, DocumentReader) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try read(database) { reader throws(StoreError) in
      let earlier = DocumentReader(
        connection: reader.connection, database: reader.database, state: reader.state, known: reader.known,
        past: version)
      return try body(reader, earlier)
    }
  }
}
