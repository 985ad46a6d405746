// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
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

package enum StorageLocation: Hashable, Sendable {
  case memory
  /// A directory (0700, made if absent) that one store may hold at a time, or several that share it.
  case directory(String)
}

package enum GarbageCollectionPolicy: Hashable, Sendable {
  /// Forgets a document as soon as no target, view or pending write refers to it.
  case eager
  /// Keeps documents until the cache exceeds this many bytes, then collects the least recently used tenth.
  case leastRecentlyUsed(thresholdBytes: Int64)
  case never
}

/// The named transactions of the store; faults are injected by name (spec tests' `failDatabase`).
package enum StoreAction: String, Hashable, Sendable, CaseIterable {
  case start = "Start MutationQueue"
  case allocateTarget = "Allocate target"
  case getTargetData = "Get target data"
  case releaseTarget = "Release target"
  case writeLocally = "Locally write mutations"
  case acknowledgeBatch = "Acknowledge batch"
  case rejectBatch = "Reject batch"
  case handleUserChange = "Handle user change"
  case getLastRemoteSnapshotVersion = "Get last remote snapshot version"
  case applyRemoteEvent = "Apply remote event"
  case notifyLocalViewChanges = "notifyLocalViewChanges"
  case lookUpMutationDocuments = "Lookup mutation documents"
  case getNewDocumentChanges = "Get new document changes"
  case refreshLease = "updateClientMetadataAndTryBecomePrimary"
}

package struct LocalStoreConfiguration: Sendable {
  package var location: StorageLocation
  package var policy: GarbageCollectionPolicy
  package var database: DatabaseID
  /// The required owner of a durable cache; `nil` takes any owner, for a command that only reads the cache.
  package var claim: CacheClaim?
  /// Whether other stores, of this process or of others, may use a durable cache at the same time.
  package var isShared: Bool
  /// The clients that share the cache, if all of them run on one thread; `nil` if the kernel tells of them.
  package var company: SharedCompany?
  /// Takes one sentence or two for the user while the store is opened and nothing has failed.
  package var report: @Sendable (String) -> Void

  package init(
    location: StorageLocation, policy: GarbageCollectionPolicy, database: DatabaseID, claim: CacheClaim? = nil,
    isShared: Bool = false, report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.location = location
    self.policy = policy
    self.database = database
    self.claim = claim
    self.isShared = isShared
    self.report = report
  }
}

extension LocalStoreConfiguration {
  var use: DirectoryUse { isShared ? .shared : .alone }
}

/// A stored batch and the local views of the documents it names.
package struct LocalWriteResult: Sendable {
  /// The batch as it was stored, base mutations included.
  package var batch: MutationBatch
  package var changes: [DocumentKey: Document]
  /// Batches of other clients that came before the stored one and are not known here yet.
  package var others: [MutationBatch] = []

  package var batchID: BatchID { batch.id }
}

package struct QueryResult: Sendable {
  /// Local views that match, each once and in no order. For a limit query at least the first `limit` of them, perhaps
  /// more.
  package var matches: [Document]
  /// The hint of each match's id, if all are of one collection; empty if they are not known.
  package var hints: [KeyHint] = []
  /// The keys of the documents that belong to the query's target, as the backend last said.
  package var remoteKeys: Set<DocumentKey>
  /// The way in which the documents were found.
  package var plan: QueryPlan
  /// The number of stored documents that were compared with the query; those with pending writes are not counted.
  package var documentsScanned = 0
  /// The number of index entries that were read.
  package var entriesRead = 0
  /// The work of each index that was used; empty unless the plan is `index`.
  package var indexes: [IndexUse] = []

  /// Takes the matches out, so that they can be sorted without a copy.
  package mutating func takeMatches() -> [Document] {
    var taken: [Document] = []
    swap(&taken, &matches)
    return taken
  }

  /// The matches by key; O(matches) each time.
  package var documents: [DocumentKey: Document] {
    Dictionary(uniqueKeysWithValues: matches.lazy.map { ($0.key, $0) })
  }
}

/// The change of one view that raised a snapshot.
package struct LocalViewChanges: Sendable {
  package var targetID: TargetID
  package var isFromCache: Bool
  /// Whether documents unknown to the backend take places in a full limit, and may keep out others that would be in
  /// limbo if they were seen.
  package var hidesDocuments: Bool
  package var added: [DocumentKey]
  package var removed: Set<DocumentKey>

  package init(
    targetID: TargetID, isFromCache: Bool, hidesDocuments: Bool = false, added: [DocumentKey],
    removed: Set<DocumentKey>
  ) {
    self.targetID = targetID
    self.isFromCache = isFromCache
    self.hidesDocuments = hidesDocuments
    self.added = added
    self.removed = removed
  }
}

package struct UserChangeResult: Sendable {
  /// Documents whose local view may have changed because another mutation queue applies.
  package var affected: [DocumentKey: Document]
  package var removedBatches: [BatchID]
  package var addedBatches: [MutationBatch]
}

/// The outcome of one run of the garbage collector.
package struct GarbageCollectionResult: Hashable, Sendable {
  package var didRun: Bool
  package var sequenceNumbersCollected: Int
  package var targetsRemoved: Int
  package var documentsRemoved: Int

  package static let skipped = GarbageCollectionResult(
    didRun: false, sequenceNumbersCollected: 0, targetsRemoved: 0, documentsRemoved: 0)
}

extension StoreError.Kind {
  /// The Firestore code under which a user of the cache sees an error of this kind.
  package var code: StatusCode {
    switch self {
    case .locked, .newerSchema, .foreign, .leaseLost: .failedPrecondition
    case .notWritable, .notPrivate: .unimplemented
    case .corrupt, .gone: .dataLoss
    case .diskFull: .resourceExhausted
    case .refused(let code): code
    case .injected, .uncertain: .unavailable
    case .sqlite: .internal
    }
  }
}

extension StoreError {
  /// The Firestore code under which a user of the cache sees this error.
  package var code: StatusCode { kind.code }

  static func damaged(_ what: String) -> StoreError { StoreError(.corrupt, "The cache is damaged: \(what).") }
}
