// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// The offline cache: remote documents, pending writes with their overlays, and targets, in one SQLite database.
///
/// All calls are synchronous, and the store has a single owner. Each mutating function is one transaction: it stores
/// all of its changes, or it throws and changes nothing, not even in memory. The database is in a separate directory or
/// in memory, and behaves the same in both cases.
package struct LocalStore: ~Copyable {
  let database: CacheDatabase
  package let policy: GarbageCollectionPolicy

  /// The actions in which tests inject a failure. Such an action fails before it changes anything.
  package var faults: Set<StoreAction> = []
  /// Whether expensive scans create indexes automatically. The setting is not stored (SDK: off by default).
  package var createsIndexesAutomatically = false
  /// The minimum number of documents that a scan must read to create an index.
  package var minimumScanForIndexes = AutomaticIndexes.minimumScan
  /// Limits the duration of each slice of an index backfill.
  package var backfillPacer = SlicePacer.continuous
  var backfillLog = LogPacer()
  /// The execution times of recent queries.
  package var queryLedger = QueryLedger.continuous()
  /// The reason why the store is in memory or was created anew; `nil` if the configured store was opened.
  package let fallback: StoreError?
  /// The new path of a damaged database that was moved aside; `nil` if no database was damaged.
  package let movedAside: String?

  /// Whether this client is the primary client, which runs the streams. Always true if the cache is not shared.
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
    database.sharing?.peers = configuration.peers
    self.init(try Opening(database), configuration.policy)
  }

  /// Opens the configured location. A damaged database is moved aside, never deleted, and replaced with a new one. The
  /// store is in memory if the existing database is locked, not writable, not private, from a newer version, or the
  /// cache of another Firestore database. The existing database is then left unchanged, and `fallback` contains the
  /// reason.
  package init(openingOrFallingBack configuration: LocalStoreConfiguration) {
    let opening: Opening
    do throws(StoreError) {
      opening = try Opening(orMovingAside: configuration)
    } catch let reason {
      do throws(StoreError) {
        opening = try Opening(CacheDatabase(), fallback: reason)
      } catch {
        preconditionFailure("SQLite cannot open a database in memory: \(error.message)")
      }
    }
    opening.database.sharing?.peers = configuration.peers
    self.init(opening, configuration.policy)
  }

  private init(_ opening: Opening, _ policy: GarbageCollectionPolicy) {
    database = opening.database
    self.policy = policy
    fallback = opening.fallback
    movedAside = opening.movedAside
    queue = opening.queue
    isPrimary = database.sharing == nil
    // Errors are ignored: the store also works with a log that exceeds its bound.
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

  /// A random number that is new each time the database is opened. Each batch contains the number that was valid when
  /// the batch was written.
  package var generation: Int64 { database.generation }

  /// A permanently unique name for a batch of the current user. It is unique even if the cache is restored to an
  /// earlier state and assigns the same numbers to other batches. Each user counts as a separate sender. The reason is
  /// that a server stores only the last responses to each sender. If a response was lost, its batch may have to wait
  /// for a long time while another user's batches are sent.
  package func requestID(of batch: MutationBatch) -> WriteRequestID {
    func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    let sender = user == database.signedOutUser ? [] : bytes(user.rawValue)
    return WriteRequestID(clientID: bytes(database.identity) + bytes(batch.generation) + sender, batchID: batch.id)
  }

  /// Closes the database and releases its directory. The same happens when a store goes out of scope.
  package consuming func close() { database.close() }

  /// Closes the database in the same way as the end of a killed process.
  package consuming func abandon() { database.abandon() }

  /// The error if another program removed the database files while they were in use; otherwise `nil`.
  package var loss: StoreError? { database.openFiles?.loss }

  /// - Parameter observer: called once, on any thread, if the files are removed.
  package func watchFiles(_ observer: @escaping @Sendable () -> Void) {
    database.openFiles?.watch { _ in observer() }
  }

  /// Makes this client the primary client of the shared cache.
  package mutating func takeOver() { isPrimary = true }

  /// Makes this client a secondary client, because another client is now primary and stores the target data.
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
  /// A directory for one store, or for several stores that share it. It is created if necessary, with mode 0700.
  case directory(String)
}

package enum GarbageCollectionPolicy: Hashable, Sendable {
  /// Evicts a document as soon as no target, view or pending write refers to it.
  case eager
  /// Keeps documents until the cache exceeds this size in bytes, and then evicts the least recently used 10 %.
  case leastRecentlyUsed(thresholdBytes: Int64)
  case never
}

/// The transactions of the store by name. Tests inject failures by name (`failDatabase` in the spec tests).
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
  /// The required owner of a durable cache. If `nil`, any owner is accepted, which suits a command that only reads the
  /// cache.
  package var claim: CacheClaim?
  /// Whether other stores, in this process or others, may use a durable cache at the same time.
  package var isShared: Bool
  /// The clients that share the cache, if all of them run on one thread. If `nil`, the kernel notifies clients of
  /// changes.
  package var peers: SimulatedPeers?
  /// Receives a message of one or two sentences if opening succeeds despite a problem that the user should know about.
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

/// A stored batch and the local views of its documents.
package struct LocalWriteResult: Sendable {
  /// The stored batch, including base mutations.
  package var batch: MutationBatch
  package var changes: [DocumentKey: Document]
  /// Earlier batches of other clients that this client has not received yet.
  package var others: [MutationBatch] = []

  package var batchID: BatchID { batch.id }
}

package struct QueryResult: Sendable {
  /// The matching documents as local views, in any order, without duplicates. For a limit query, they include at least
  /// the first `limit` matches.
  package var matches: [Document]
  /// An order hint for each match's id, if all matches are in one collection. Empty if a hint is unknown.
  package var hints: [KeyHint] = []
  /// The keys of the documents that belong to the query's target, according to the backend's last report.
  package var remoteKeys: Set<DocumentKey>
  /// The query plan that produced the result.
  package var plan: QueryPlan
  /// The number of stored documents that were compared with the query. Documents with pending writes are not counted.
  package var documentsScanned = 0
  /// The number of index entries that were read.
  package var entriesRead = 0
  /// The statistics of each index that the query used; empty unless the plan is `index`.
  package var indexes: [IndexUse] = []

  /// Removes and returns the matches, so that they can be sorted without a copy.
  package mutating func takeMatches() -> [Document] {
    var taken: [Document] = []
    swap(&taken, &matches)
    return taken
  }

  /// The matches by key. Each call takes O(matches) time.
  package var documents: [DocumentKey: Document] {
    Dictionary(uniqueKeysWithValues: matches.lazy.map { ($0.key, $0) })
  }
}

/// The change of one view in one snapshot.
package struct LocalViewChanges: Sendable {
  package var targetID: TargetID
  package var isFromCache: Bool
  /// Whether the view has reached its limit and includes documents that the backend does not have yet. Such documents
  /// may push other documents beyond the limit. The view does not show those other documents, so they are not in limbo.
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
  /// The documents whose local views may have changed because another mutation queue is in use now.
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
  /// The Firestore code of errors of this kind.
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
  /// The Firestore code of this error.
  package var code: StatusCode { kind.code }

  static func damaged(_ what: String) -> StoreError { StoreError(.corrupt, "The cache is damaged: \(what).") }
}
