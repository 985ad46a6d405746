// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

extension LocalBackend {
  /// - Parameter client: the owner of the transaction. If too many transactions are open, the client with the most open
  ///   transactions loses its least recently used transaction. If that client itself begins another transaction, the
  ///   new transaction is rejected.
  /// - Throws: `invalid-argument` if the read time is unreadable or the transaction to retry is unknown;
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
      case .readWrite(let retried?, _) where !transactions.isKnown(retried):
        throw .refused(.invalidArgument, "Invalid transaction.")
      case .readWrite(_, let concurrency): transaction.isPessimistic = concurrency == .pessimistic
      }
      defer { wakeLockWaits() }
      return try transactions.begin(transaction, at: time)
    } catch { throw error.status }
  }

  /// Ends a transaction without writing. Idempotent.
  package func rollback(_ id: [UInt8], in database: DatabaseID) throws(RPCStatus) {
    guard transactions.isKnown(id), let id = TransactionID(id) else {
      throw RPCStatus(.invalidArgument, "Invalid transaction.")
    }
    transactions.finish(id)
    wakeLockWaits()
  }

  /// Applies mutations if no document or query result that the transaction read has changed. Ends the transaction
  /// either way.
  /// - Parameter check: rejects the commit by throwing.
  /// - Throws: `aborted` if something has changed. `locked` if another transaction locks a document to be written; this
  ///   transaction then remains open.
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
    try takeLocks(of: mutations, in: database, for: id)
    defer {
      transactions.finish(id)
      wakeLockWaits()
    }
    if !mutations.isEmpty {
      do throws(StoreError) {
        let isOutdated = try log.read(database) { reader throws(StoreError) in try reader.hasConflict(transaction) }
        if isOutdated { throw .refused(Self.contention.code, Self.contention.message) }
      } catch { throw error.status }
    }
    return try commitUnlocked([CommitOrder(mutations, in: database, check: check)])[0].get()
  }

  /// Applies each mutation separately. Some may fail while others succeed.
  package func commitEach(
    _ mutations: [Mutation], in database: DatabaseID
  ) throws(RPCStatus) -> [Result<MutationResult, RPCStatus>] {
    var seen: Set<DocumentKey> = []
    for mutation in mutations where !seen.insert(mutation.key).inserted {
      throw RPCStatus(
        .invalidArgument, "the same document cannot be written more than once in a single request")
    }
    if isLocked(mutations, in: database) { throw Self.locked }
    return commitUnlocked(mutations.map { CommitOrder([$0], in: database) }).map { result in
      result.map { $0.results[0] }
    }
  }
}

/// The id of a transaction. For clients, it consists of nine opaque bytes.
package struct TransactionID: Hashable, Sendable {
  let number: Int64

  init(number: Int64) { self.number = number }

  /// - Returns: `nil` for bytes that no backend of this kind created.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 9, bytes[0] == 2 else { return nil }
    number = bytes.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
  }

  package var bytes: [UInt8] { [2] + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } }
}

/// The identity of a client, for as long as it is connected.
package struct ClientID: Hashable, Sendable {
  private final class Identity: Sendable {}
  private let identity = Identity()

  package init() {}

  package static func == (left: ClientID, right: ClientID) -> Bool { left.identity === right.identity }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

/// One open transaction. An optimistic transaction reads at the version of its first read and is checked for conflicts
/// when it commits, so no other transaction waits for it (PROTOCOL §3.4). A pessimistic transaction reads the present
/// and locks the documents that it reads (`LockWaits`). Pessimistic transactions are also checked, because locks do not
/// prevent every write.
struct OpenTransaction {
  var database: DatabaseID
  var isReadOnly: Bool
  var isPessimistic = false
  /// The version of the first read, and of all further reads of an optimistic transaction; `nil` before the first read.
  var version: Int64?
  /// The documents that the transaction looked up, with the version of the first lookup.
  var keys: [DocumentKey: Int64] = [:]
  var queries: [(query: ServedQuery, version: Int64)] = []
  let client: ClientID?
  /// The times of the start and of the last use, in microseconds since the epoch.
  let began: Int64
  var used: Int64
}

/// The transactions of all databases. They exist only in memory; after a restart they count as expired.
struct TransactionTable {
  /// The times after which a transaction expires, since its last use and in total, in microseconds. The values are real
  /// Firestore's.
  static let idleLimit: Int64 = 60_000_000
  static let totalLimit: Int64 = 270_000_000
  private var open: [TransactionID: OpenTransaction] = [:]
  /// The open transactions that lock the documents that they read.
  private(set) var pessimistic: Set<TransactionID> = []
  /// The number of pessimistic transactions that have ended.
  private(set) var endings = 0
  private var finished: Set<TransactionID> = []
  /// The transactions that were ended to resolve a deadlock.
  private var aborted: Set<TransactionID> = []
  /// The last number assigned. The first number is the time at which the backend started, so that numbers of an earlier
  /// run count as expired.
  private var lastNumber: Int64

  private let maximumOpen: Int

  init(at time: Int64, maximumOpen: Int = 10_000) {
    lastNumber = time
    self.maximumOpen = maximumOpen
  }

  mutating func begin(_ transaction: OpenTransaction, at time: Int64) throws(StoreError) -> TransactionID {
    expire(at: time)
    if open.count >= maximumOpen { try makeRoom(for: transaction.client) }
    lastNumber += 1
    let id = TransactionID(number: lastNumber)
    open[id] = transaction
    if transaction.isPessimistic { pessimistic.insert(id) }
    return id
  }

  /// Whether the id was ever assigned, by this process or an earlier one.
  func isKnown(_ bytes: [UInt8]) -> Bool {
    guard let id = TransactionID(bytes) else { return false }
    return id.number > 0 && id.number <= lastNumber
  }

  /// Returns the id of an open transaction, and records its use.
  mutating func use(_ bytes: [UInt8], in database: DatabaseID, at time: Int64) throws(StoreError) -> TransactionID {
    expire(at: time)
    guard isKnown(bytes), let id = TransactionID(bytes) else {
      throw .refused(.invalidArgument, "Invalid transaction.")
    }
    guard let transaction = open[id] else {
      if aborted.remove(id) != nil { throw .refused(LocalBackend.contention.code, LocalBackend.contention.message) }
      throw .refused(
        .invalidArgument,
        finished.contains(id)
          ? "Transaction is invalid or closed." : "The referenced transaction has expired or is no longer valid.")
    }
    guard transaction.database == database else { throw .refused(.invalidArgument, "Invalid transaction.") }
    open[id]?.used = time
    return id
  }

  subscript(id: TransactionID) -> OpenTransaction? {
    get { open[id] }
    set { open[id] = newValue }
  }

  /// Ends a transaction; has no effect if it has ended.
  mutating func finish(_ id: TransactionID) {
    guard open.removeValue(forKey: id) != nil else { return }
    release(id)
    // The set only affects the wording of an error.
    if finished.count >= maximumOpen { finished = [] }
    finished.insert(id)
  }

  /// Ends a transaction so that its commit fails as if it had a conflict.
  mutating func abort(_ id: TransactionID) {
    finish(id)
    if aborted.count >= maximumOpen { aborted = [] }
    aborted.insert(id)
  }

  /// Ends the least recently used transaction of the client with the most transactions. Throws if no other client has
  /// more than this client.
  private mutating func makeRoom(for client: ClientID?) throws(StoreError) {
    var counts: [ClientID?: Int] = [:]
    for transaction in open.values { counts[transaction.client, default: 0] += 1 }
    guard let most = counts.max(by: { $0.value < $1.value }), counts[client, default: 0] < most.value else {
      throw .refused(
        .resourceExhausted,
        "\(open.count) transactions are open, most of them from this client. Commit or roll back some of them.")
    }
    let ofClient = open.lazy.filter { $0.value.client == most.key }
    if let oldest = ofClient.min(by: { ($0.value.used, $0.key.number) < ($1.value.used, $1.key.number) }) {
      open[oldest.key] = nil
      release(oldest.key)
    }
  }

  private mutating func release(_ id: TransactionID) {
    if pessimistic.remove(id) != nil { endings += 1 }
  }

  mutating func expire(at time: Int64) {
    for (id, transaction) in open
    where time - transaction.used > Self.idleLimit || time - transaction.began > Self.totalLimit {
      open[id] = nil
      release(id)
    }
  }
}

extension DocumentReader {
  /// Whether the transaction has a conflict: a document that it looked up has changed, or a changed document matched or
  /// now matches one of its queries, ignoring limits. Also true if the changes are no longer recorded.
  func hasConflict(_ transaction: OpenTransaction) throws(StoreError) -> Bool {
    guard let version = transaction.version, version < state.committed else { return false }
    // The changes since then are no longer recorded, so any document may have changed.
    if version < state.pruned || version < state.historyStart { return true }
    for (key, change) in try changes(after: version) {
      if let read = transaction.keys[key], read < change { return true }
      for (query, read) in transaction.queries where read < change && query.covers(key.collection) {
        if query.holds(try document(key)) { return true }
        if query.holds(try at(read).document(key)) { return true }
      }
    }
    return false
  }

  /// The documents that changed after a version, with the version of their last change.
  private func changes(after version: Int64) throws(StoreError) -> [DocumentKey: Int64] {
    var changes: [DocumentKey: Int64] = [:]
    try connection.forEachRow(
      """
      SELECT collections.path, changes.name, changes.version FROM changes JOIN collections ON collections.id = changes.collection
        WHERE changes.database = ? AND changes.version > ?
      """, state.id, version
    ) { row in
      let id = DocumentName.id(row.blobBytes(1))
      let key = DocumentKey(unchecked: ResourcePath(row.text(0)).appending(id))
      changes[key] = max(changes[key] ?? .min, row.integer(2))
    }
    return changes
  }
}
