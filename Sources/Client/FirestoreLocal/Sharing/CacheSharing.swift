// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// One client's part in a cache that several share: which others are there, and the notices for them.
///
/// Changes by other clients are noticed at the beginning of each transaction, before anything is decided by remembered
/// state. A client that is alone tells nothing.
final class CacheSharing {
  /// The time that a transaction waits for another client's, in milliseconds. A transaction takes less, unless it has
  /// very many documents; waiting for a process that was stopped within one is in vain.
  static let patience: Int32 = 2000
  /// The number of notices that are kept for a client that does not listen, because its process is stopped.
  private static let keptNotices: Int64 = 10_000

  let presence: ClientPresence
  /// The clients on the same thread, which are woken there; `nil` for clients that watch the file of `presence`.
  var company: SharedCompany?
  let tables: SharingTables
  private let connection: Connection
  /// The other clients that are registered.
  private(set) var others: [SharingTables.Client] = []
  /// Whether a batch of any user waits.
  private(set) var hasBatches = true
  /// The database's version when it was last looked at; `nil` if remembered state may be undone.
  private var version: Int64?
  /// The database's version when the last notices were read.
  private var heardVersion: Int64?
  /// The last notice that was dealt with.
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
      // A client whose process ended may have had the place.
      try tables.remove(id)
      let last = try tables.lastNotice()
      try tables.set(SharingTables.Client(id: id, alive: 0, usesNetwork: false, isVisible: false, heard: last))
      return last
    }
  }

  // MARK: Transactions

  /// Looks whether others have changed the database.
  /// - Precondition: inside a transaction.
  /// - Parameter forget: drops the state that the tables remember.
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

  /// - Precondition: inside the transaction of the change that the notice is about.
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
    if let company { company.wakeOthers(than: id) } else { presence.wakeOthers() }
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

  /// Makes sure that this client is still primary: no other can become so while the transaction runs.
  func requireLease() throws(StoreError) {
    if isAlone { return }
    guard try tables.lease()?.holder == id else {
      throw StoreError(.leaseLost, "Another process that shares the cache has taken over the connection.")
    }
  }

  /// - Precondition: inside a transaction.
  /// - Returns: the state of the lease now, and whether clients were removed whose process has ended.
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

  /// Whether no client has the lease: it was given up, or the process that had it has ended.
  func isLeaseOpen() throws(StoreError) -> Bool {
    guard let lease = try tables.lease() else { return true }
    return !presence.isTaken(lease.holder)
  }

  /// Tells the others that this client is gone.
  func leave() throws(StoreError) {
    try tables.remove(id)
    try tell(.targets)
  }
}
