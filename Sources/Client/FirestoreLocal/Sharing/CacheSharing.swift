// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite
import Synchronization

/// One client's view of a shared cache: the other clients, and the notices that this client sends and receives.
///
/// Each transaction first checks whether other clients have changed the cache, before it uses state in memory. While
/// there are no other clients, no notices are written.
final class CacheSharing {
  /// The maximum time in milliseconds that a transaction waits for another client's transaction. Transactions take less
  /// time, unless they write very many documents. Waiting longer would not help if a process was stopped in the middle
  /// of a transaction.
  static let patience: Int32 = 2000
  /// The maximum number of unread notices. Without a limit, notices would accumulate for a client that reads none
  /// because its process is stopped.
  private static let keptNotices: Int64 = 10_000

  let presence: ClientPresence
  /// The clients that share the cache on the same thread, and that wake each other on this thread. `nil` if clients
  /// instead watch the file of `presence`.
  var peers: SimulatedPeers?
  let tables: SharingTables
  private let connection: Connection
  /// The other registered clients.
  private(set) var others: [SharingTables.Client] = []
  /// Whether any user has a pending batch.
  private(set) var hasBatches = true
  /// The database's version at the last check; `nil` if state in memory may be outdated.
  private var version: Int64?
  /// The database's version when this client last read the notices.
  private var heardVersion: Int64?
  /// The number of the last notice that this client has processed.
  private(set) var heard: Int64 = 0
  private var isTelling = false
  private var hasTold = false

  var id: Int64 { presence.place }
  var isAlone: Bool { others.isEmpty }

  /// Registers a client.
  /// - Parameter isFirst: whether no other client has the cache open.
  init(_ connection: Connection, _ presence: ClientPresence, isFirst: Bool) throws(StoreError) {
    self.connection = connection
    self.presence = presence
    tables = SharingTables(connection: connection)
    let (tables, id) = (tables, presence.place)
    heard = try connection.transaction { () throws(StoreError) in
      if isFirst { try connection.execute(SharingTables.schema) }
      // An earlier client with the same id may have ended without leaving.
      try tables.remove(id)
      let last = try tables.lastNotice()
      try tables.set(SharingTables.Client(id: id, alive: 0, usesNetwork: false, isVisible: false, heard: last))
      return last
    }
  }

  // MARK: Transactions

  /// Discards outdated state in memory if another client has changed the database.
  /// - Precondition: inside a transaction.
  /// - Parameter forget: discards the tables' state in memory.
  func notice(_ forget: () throws(StoreError) -> Void) throws(StoreError) {
    let current = try connection.foreignVersion
    if current == version { return }
    try forget()
    try reload()
    version = current
  }

  private func reload() throws(StoreError) {
    others = try tables.clients().filter { $0.id != id }
    try lookForBatches()
  }

  private func lookForBatches() throws(StoreError) {
    hasBatches = try connection.exists("SELECT 1 FROM mutation_batches LIMIT 1")
  }

  /// - Precondition: inside the transaction of the change that the notice describes.
  func tell(_ notice: @autoclosure () -> Notice, of user: UserNumber? = nil) throws(StoreError) {
    if isAlone { return }
    try tables.append(notice(), of: id, user)
    isTelling = true
  }

  func batchWasAdded() { hasBatches = true }

  /// - Precondition: inside a transaction.
  func batchWasRemoved() throws(StoreError) { try lookForBatches() }

  func committed() {
    hasTold = hasTold || isTelling
    isTelling = false
  }

  func rolledBack() {
    isTelling = false
    version = nil
  }

  func wakeOthersIfTold() {
    guard hasTold else { return }
    hasTold = false
    if let peers { peers.wakeOthers(than: id) } else { presence.wakeOthers() }
  }

  // MARK: Hearing

  /// - Precondition: inside a transaction.
  func unheard() throws(StoreError) -> (records: [NoticeRecord], isIncomplete: Bool, version: Int64)? {
    let current = try connection.foreignVersion
    if current == heardVersion { return nil }
    let isIncomplete = try tables.forgottenNotices() > heard
    return (try tables.notices(after: heard, ofOthersThan: id), isIncomplete, current)
  }

  func heard(upTo last: Int64, in version: Int64) {
    heard = max(heard, last)
    heardVersion = version
  }

  // MARK: The lease

  /// Verifies that this client is still primary. No other client can become primary during the transaction.
  func requireLease() throws(StoreError) {
    if isAlone { return }
    guard try tables.lease()?.holder == id else {
      throw StoreError(.leaseLost, "Another process that shares the cache now holds the server connection.")
    }
  }

  /// Announces that this client is alive, and renews the lease or takes it over if possible.
  /// - Precondition: inside a transaction.
  /// - Returns: the new state of the lease, and whether clients were removed because their processes had ended.
  func refreshLease(
    _ state: SharedClientState, wasPrimary: Bool, at time: Timestamp
  ) throws(StoreError) -> (lease: Lease.Refresh, removedClients: Bool) {
    let now = time.microseconds
    let gone = others.filter { !presence.isTaken($0.id) }
    for client in gone { try tables.remove(client.id) }
    if !gone.isEmpty { try reload() }
    try tables.set(
      SharingTables.Client(
        id: id, alive: now, usesNetwork: state.usesNetwork, isVisible: state.isVisible, heard: heard))
    let lease = try tables.lease()
    let had = lease?.holder == id
    let isHeld = Lease.mayBeTaken(by: id, state, lease, others: others, at: now)
    if isHeld { try tables.setLease(id, at: now) } else if had { try tables.setLease(nil, at: 0) }
    if isHeld != had || !gone.isEmpty { try tell(.targets) }
    if isHeld {
      let heardByAll = others.map(\.heard).min() ?? heard
      try tables.forgetNotices(heardByAll: min(heard, heardByAll), keeping: Self.keptNotices)
    }
    return (Lease.Refresh(isHeld: isHeld, wasLost: wasPrimary && !had), !gone.isEmpty)
  }

  /// Whether no client has the lease, because its holder released it or the holder's process has ended.
  func isLeaseOpen() throws(StoreError) -> Bool {
    guard let lease = try tables.lease() else { return true }
    return !presence.isTaken(lease.holder)
  }

  /// Notifies the other clients that this client is closing the cache.
  func leave() throws(StoreError) {
    try tables.remove(id)
    try tell(.targets)
  }
}

/// The clients of one cache that all run on one thread, as in a simulation. Instead of relying on the kernel's file
/// events, they wake each other on this thread, in the order in which they joined.
package final class SimulatedPeers: Sendable {
  private struct Member {
    var place: Int64
    var wake: @Sendable () -> Void
  }

  private let members = Mutex<[Member]>([])

  package init() {}

  /// - Parameter place: the client's number in the cache's directory.
  func join(_ place: Int64, _ wake: @escaping @Sendable () -> Void) {
    members.withLock { $0.append(Member(place: place, wake: wake)) }
  }

  func leave(_ place: Int64) { members.withLock { members in members.removeAll { $0.place == place } } }

  func wakeOthers(than place: Int64) {
    for member in members.withLock({ $0 }) where member.place != place { member.wake() }
  }
}

/// The users, other than the current one, who may have pending writes in a shared cache.
///
/// Other clients show documents with these users' writes applied. Therefore every change of a remote document also
/// updates these users' overlays (S9), in addition to the current user's. In a cache that is not shared, other users'
/// overlays are updated only when the user changes.
struct OtherUsers {
  private let database: CacheDatabase
  private let user: UserNumber

  /// - Precondition: inside a transaction.
  /// - Returns: `nil` if no other user has a pending write.
  init?(_ documents: LocalDocuments) throws(StoreError) {
    let (database, user) = (documents.database, documents.user)
    guard let sharing = database.sharing, sharing.hasBatches,
      try database.connection.exists("SELECT 1 FROM users WHERE id <> ? LIMIT 1", user)
    else { return nil }
    self.database = database
    self.user = user
  }

  /// Views of a document, one for each other user with pending writes for it. Takes O(users) time, regardless of the
  /// number of pending writes.
  func views(of collection: CollectionNumber, _ name: String) throws(StoreError) -> [LocalDocuments] {
    var found: [LocalDocuments] = []
    var last: UserNumber?
    while let next = try database.mutations.user(after: last, affecting: collection, name) {
      if next != user { found.append(LocalDocuments(database: database, user: next, hasBatches: true)) }
      last = next
    }
    return found
  }
}

extension LocalStore {
  /// The clients that share the cache, each with its last announced state, and the client that has the lease. `nil` for
  /// a cache that is not shared.
  /// - Parameter now: the current time on this client's clock.
  package func peers(at now: Timestamp) throws(StoreError) -> CachePeers? {
    guard let sharing = database.sharing else { return nil }
    return try database.read { () throws(StoreError) in
      let lease = try sharing.tables.lease()
      let members = try sharing.tables.clients().filter { sharing.presence.isTaken($0.id) }.map { client in
        let isSelf = client.id == sharing.id
        return CachePeers.Member(
          process: sharing.presence.process(at: client.id), isSelf: isSelf, hasLease: lease?.holder == client.id,
          usesNetwork: client.usesNetwork, isVisible: client.isVisible,
          seen: isSelf ? now : Timestamp(microseconds: client.alive))
      }
      return CachePeers(members: members, renewed: lease.map { Timestamp(microseconds: $0.time) })
    }
  }
}
