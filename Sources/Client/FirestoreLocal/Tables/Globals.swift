// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Numbers that apply to the cache as a whole.
final class Globals {
  enum Name: String {
    /// The version of the last remote event, in microseconds.
    case lastRemoteSnapshotVersion = "last_remote_snapshot_version"
    /// The version of the last event in which the backend reset a target, in microseconds. The backend may have lost
    /// document versions up to this one.
    case lastResetVersion = "last_reset_version"
    /// The highest target id. An id is never reused, even after its target was garbage-collected.
    case highestTargetID = "highest_target_id"
    /// The highest number of a batch that has left the queue. Numbers up to this one are never reused.
    case highestSettledBatch = "highest_settled_batch"
    /// The highest sequence number that may be in use.
    case reservedSequenceNumber = "reserved_sequence_number"
    /// The user whose overlays are up to date with the documents.
    case currentUser = "current_user"
    /// A random number that distinguishes this cache's batches from other caches' batches. Generated when the cache is
    /// created.
    case clientIdentity = "client_identity"
  }

  private let connection: Connection
  /// The last remote event's version. It is cached after the first read, because every change of a document needs it.
  private var lastRemoteVersion: Int64??
  private var lastResetVersion: Int64??

  init(_ connection: Connection) { self.connection = connection }

  /// Generates an identity if the cache has none.
  func establishIdentity() throws(StoreError) {
    try connection.run(
      "INSERT INTO globals (name, value) VALUES (?, random()) ON CONFLICT DO NOTHING", Name.clientIdentity.rawValue)
  }

  func value(_ name: Name) throws(StoreError) -> Int64? {
    switch name {
    case .lastRemoteSnapshotVersion: return try value(name, \.lastRemoteVersion)
    case .lastResetVersion: return try value(name, \.lastResetVersion)
    default: return try read(name)
    }
  }

  private func value(
    _ name: Name, _ remembered: ReferenceWritableKeyPath<Globals, Int64??>
  ) throws(StoreError) -> Int64? {
    if let known = self[keyPath: remembered] { return known }
    let value = try read(name)
    self[keyPath: remembered] = .some(value)
    return value
  }

  private func read(_ name: Name) throws(StoreError) -> Int64? {
    let stored = try connection.first("SELECT value FROM globals WHERE name = ?", name.rawValue) { $0.integer(0) }
    guard let value = stored else { return nil }
    let isPossible =
      switch name {
      case .clientIdentity: true
      case .lastRemoteSnapshotVersion, .lastResetVersion: StoredNumbers.times.contains(value)
      case .highestTargetID, .highestSettledBatch, .reservedSequenceNumber, .currentUser:
        StoredNumbers.counters.contains(value)
      }
    guard isPossible else { throw StoredNumbers.damage(name.rawValue, value) }
    return value
  }

  func set(_ name: Name, _ value: Int64) throws(StoreError) {
    try connection.run(
      "INSERT INTO globals (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name.rawValue,
      value)
    if name == .lastRemoteSnapshotVersion { lastRemoteVersion = .some(value) }
    if name == .lastResetVersion { lastResetVersion = .some(value) }
  }

  /// Discards the numbers in memory, because a rollback or another client may have changed the table.
  func forget() { lastRemoteVersion = nil }

  /// The read time to store for a document that is updated now. It is later than every snapshot with a complete result.
  /// Therefore a query that starts from such a result finds the document among the documents that changed since then.
  /// - Parameter version: the version of the backend's snapshot that contains the update; `nil` for an update without a
  ///   snapshot.
  func readTime(in version: SnapshotVersion? = nil) throws(StoreError) -> SnapshotVersion {
    let last = SnapshotVersion(microseconds: try value(.lastRemoteSnapshotVersion).map { $0 + 1 } ?? 1)
    return version.map { max($0, last) } ?? last
  }
}

/// Assigns numbers to the batches of all users. The numbers increase across restarts and are never reused (S4). While
/// the newest batch is pending, its row contains the last number. When that batch leaves the queue, the number is
/// stored separately.
final class BatchNumbers {
  private let connection: Connection
  private let globals: Globals
  /// The last assigned number; `nil` until it has been looked up.
  private var last: Int64?

  init(_ connection: Connection, _ globals: Globals) {
    self.connection = connection
    self.globals = globals
  }

  /// - Precondition: inside a transaction that stores a batch under this number.
  func next() throws(StoreError) -> Int64 {
    let number = try lookedUp() + 1
    last = number
    return number
  }

  /// Records that a batch is leaving the queue.
  func settled(_ number: Int64) throws(StoreError) {
    // Only needed for the last batch: while it is pending, its own row contains the last number.
    if try number == lookedUp() { try globals.set(.highestSettledBatch, number) }
  }

  /// Discards the last number, because the transaction that assigned it may have been rolled back.
  func forget() { last = nil }

  private func lookedUp() throws(StoreError) -> Int64 {
    if let last { return last }
    let waiting = try connection.integer("SELECT max(id) FROM mutation_batches") ?? 0
    guard StoredNumbers.counters.contains(waiting) else { throw StoredNumbers.damage("a batch's number", waiting) }
    let number = max(waiting, try globals.value(.highestSettledBatch) ?? 0)
    last = number
    return number
  }
}

/// Assigns numbers to the transactions that use documents and targets. The least recently used documents and targets
/// therefore have the lowest numbers. The numbers keep increasing across restarts. They are reserved in blocks, so that
/// most transactions do not have to store the last number.
final class SequenceNumbers {
  private static let block: Int64 = 1000

  private let globals: Globals
  private var last: Int64
  private var reserved: Int64

  init(_ globals: Globals) throws(StoreError) {
    self.globals = globals
    last = try globals.value(.reservedSequenceNumber) ?? 0
    reserved = last
  }

  /// - Precondition: inside a transaction.
  func next() throws(StoreError) -> Int64 {
    last += 1
    if last > reserved {
      reserved = last + Self.block
      try globals.set(.reservedSequenceNumber, reserved)
    }
    return last
  }

  /// Discards the reserved numbers, because the transaction that reserved them may have been rolled back.
  func forget() { reserved = last }

  /// Continues after the numbers that other clients have reserved.
  func reload() throws(StoreError) {
    last = max(last, try globals.value(.reservedSequenceNumber) ?? 0)
    reserved = last
  }
}
