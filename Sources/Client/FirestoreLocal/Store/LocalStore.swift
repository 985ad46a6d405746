// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

/// The offline cache: remote documents, pending writes with their overlays, and targets, in one SQLite database.
///
/// Synchronous and owned by one caller. Each function that changes something is one transaction: it is stored
/// completely or, when it throws, not at all, and then nothing in memory has changed either.
/// The database is in a directory of its own, or in memory; there is no other difference between the two.
package struct LocalStore: ~Copyable {
  let database: CacheDatabase
  package let policy: GarbageCollectionPolicy

  /// The actions that fail until they are taken out again, before they do anything.
  package var faults: Set<StoreAction> = []
  /// Whether scans that cost more than an index make one. Not stored (SDK: off until it is switched on).
  package var createsIndexesAutomatically = false
  /// The least number of documents that such a scan reads.
  package var minimumScanForIndexes = AutomaticIndexes.minimumScan
  /// Keeps the slices of an index backfill short.
  package var backfillPacer = SlicePacer.continuous
  var backfillLog = LogPacer()
  /// The times of queries.
  package var queryLedger = QueryLedger.continuous()
  /// The reason why the store is in memory, or begun anew, instead of the one that was asked for.
  package let fallback: StoreError?
  /// The path that a damaged database was moved to.
  package let movedAside: String?

  /// Whether this client is primary, and has the streams: always, unless the cache is shared.
  package private(set) var isPrimary: Bool
  var queue: UserQueue
  var activeTargets = ActiveTargets()
  var references = DocumentReferences()

  package init(_ configuration: LocalStoreConfiguration) throws(StoreError) {
    let database =
      switch configuration.location {
      case .memory: try CacheDatabase()
      case .directory(let path):
        try CacheDatabase.open(
          in: path, claim: configuration.claim, use: configuration.use, report: configuration.report)
      }
    database.sharing?.company = configuration.company
    self.init(try Opening(database), configuration.policy)
  }

  /// Opens the configured location. A damaged database is moved aside, never deleted, and a new one begun; a database
  /// that is locked, not writable, not private, newer or another database's is left alone, and the store is in memory.
  /// `fallback` has the reason.
  package init(openingOrFallingBack configuration: LocalStoreConfiguration) {
    let opening: Opening
    do throws(StoreError) {
      opening = try Opening(orMovingAside: configuration)
    } catch let reason {
      do throws(StoreError) {
        opening = try Opening(CacheDatabase(), fallback: reason)
      } catch {
        preconditionFailure("SQLite cannot even open a database in memory: \(error.message)")
      }
    }
    opening.database.sharing?.company = configuration.company
    self.init(opening, configuration.policy)
  }

  private init(_ opening: Opening, _ policy: GarbageCollectionPolicy) {
    database = opening.database
    self.policy = policy
    fallback = opening.fallback
    movedAside = opening.movedAside
    queue = opening.queue
    isPrimary = database.sharing == nil
    // A log that grows larger than it should does not keep a store from opening.
    try? database.boundLog(policy)
  }

  /// The result of opening a database.
  private struct Opening {
    let database: CacheDatabase
    let fallback: StoreError?
    let movedAside: String?
    let queue: UserQueue

    init(
      _ database: CacheDatabase, fallback: StoreError? = nil, movedAside: String? = nil
    ) throws(StoreError) {
      self.database = database
      self.fallback = fallback
      self.movedAside = movedAside
      let user = database.signedOutUser
      queue = UserQueue(user: user, batchCount: try database.mutations.count(of: user))
    }

    init(orMovingAside configuration: LocalStoreConfiguration) throws(StoreError) {
      switch configuration.location {
      case .memory: try self.init(CacheDatabase())
      case .directory(let path):
        let (database, damage, movedAside) = try CacheDatabase.openRecovering(
          in: path, claim: configuration.claim, use: configuration.use, report: configuration.report)
        try self.init(database, fallback: damage, movedAside: movedAside)
      }
    }
  }

  /// A number drawn at each opening, which the batches of this opening carry.
  package var generation: Int64 { database.generation }

  /// A name for a batch of the current user that is unique for ever, also when the cache is put back to an earlier
  /// state and gives other batches the numbers that it gave before. Each user is a sender of its own: a server
  /// remembers a sender's last answers, and while one user's batches are sent, another user's batches whose answers
  /// were lost may have to wait for long.
  package func requestID(of batch: MutationBatch) -> WriteRequestID {
    func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    let sender = user == database.signedOutUser ? [] : bytes(user.rawValue)
    return WriteRequestID(clientID: bytes(database.identity) + bytes(batch.generation) + sender, batchID: batch.id)
  }

  /// Closes the database and gives up its directory; a store that merely goes out of scope does the same.
  package consuming func close() { database.close() }

  /// Gives the database up as a process does that is killed.
  package consuming func abandon() { database.abandon() }

  /// The error once the files were taken away while they are in use; `nil` before.
  package var loss: StoreError? { database.openFiles?.loss }

  /// - Parameter observer: called once, on some thread, when the files are found missing.
  package func watchFiles(_ observer: @escaping @Sendable () -> Void) {
    database.openFiles?.watch { _ in observer() }
  }

  /// Makes this client primary among those that share the cache.
  package mutating func takeOver() { isPrimary = true }

  /// Leaves the stored data of targets to another client, which is primary from now on.
  package mutating func resign() { isPrimary = false }

  var user: UserNumber { queue.user }

  var localDocuments: LocalDocuments {
    LocalDocuments(database: database, user: user, hasBatches: queue.batchCount > 0)
  }

  func check(_ action: StoreAction) throws(StoreError) {
    if faults.contains(action) { throw StoreError(.injected, "Injected failure: \(action.rawValue)") }
  }
}
