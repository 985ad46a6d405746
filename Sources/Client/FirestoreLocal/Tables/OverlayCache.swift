// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The overlays of each user. The overlay of a document with pending writes is one mutation that turns the remote
/// document into the local view (S9).
struct OverlayCache {
  /// An overlay, its origin, and the newest batch that it includes.
  struct Entry {
    var mutation: Mutation
    var origin: OverlayOrigin?
    var largestBatch: BatchID
  }

  /// The state of a user's pending writes for a document.
  enum Pending {
    case nothing
    /// The document has pending batches, but they do not change it.
    case withoutEffect
    case overlay(Entry)

    var entry: Entry? { if case .overlay(let entry) = self { entry } else { nil } }
  }

  let connection: Connection
  private let memory = OverlayMemory()

  init(connection: Connection) { self.connection = connection }

  /// Discards the overlays in memory, because a rollback or another client may have changed the table.
  func forget() { memory.forget() }

  func overlay(
    _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) -> Mutation? {
    if let entry = memory[OverlayMemory.Place(collection, name, user)] { return entry.mutation }
    return try storedOverlay(collection, name, of: user)
  }

  /// The overlay in the table, which is read without using the copy in memory.
  func storedOverlay(
    _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) -> Mutation? {
    try connection.first(
      """
      SELECT mutation, origin, largest_batch, checksum, user FROM overlays WHERE collection = ? AND name = ? AND user = ?
      """, collection, name, user
    ) { row throws(StoreError) in try Self.mutation(row, from: 0) }
  }

  func pending(
    _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) -> Pending {
    if let entry = memory[OverlayMemory.Place(collection, name, user)] { return .overlay(entry) }
    let found = try connection.first(
      """
      SELECT batch, mutation, origin, largest_batch, checksum, user FROM pending_documents
      WHERE collection = ? AND name = ? AND user = ? ORDER BY batch LIMIT 1
      """, collection, name, user
    ) { row throws(StoreError) -> Pending in
      // The row with batch 0 is the overlay, which is sorted before the batches.
      row.integer(0) != 0 ? .withoutEffect : .overlay(try Self.entry(row, from: 1))
    }
    return found ?? .nothing
  }

  /// Reads five columns: the mutation, its origin, the newest batch, the checksum of these three, and the overlay's
  /// user.
  private static func entry(_ row: Row, from column: Int32) throws(StoreError) -> Entry {
    let mutation = try mutation(row, from: column)
    let largestBatch = BatchID(row.integer(column + 2))
    do throws(ModelError) {
      let origin = try OverlayOrigin(decoding: row.blob(column + 1), mutation, largestBatch: largestBatch)
      return Entry(mutation: mutation, origin: origin, largestBatch: largestBatch)
    } catch {
      throw .damaged("an overlay cannot be read (\(error.message))")
    }
  }

  func set(
    _ entry: Entry, _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) {
    let mutation = entry.mutation.encoded()
    let origin = entry.origin?.encoded(entry.mutation, largestBatch: entry.largestBatch)
    try connection.run(
      """
      INSERT INTO pending_documents (collection, name, user, batch, largest_batch, mutation, origin, checksum)
      VALUES (?, ?, ?, 0, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        largest_batch = excluded.largest_batch, mutation = excluded.mutation, origin = excluded.origin,
        checksum = excluded.checksum
      """, collection, name, user, entry.largestBatch.rawValue, mutation, origin,
      RowChecksum.of(mutation, origin ?? [], numbers: (entry.largestBatch.rawValue, user.rawValue)))
    memory.set(entry, size: mutation.count, at: OverlayMemory.Place(collection, name, user))
  }

  /// Adds a new batch to a document's list, and stores the overlay that includes the batch.
  /// - Parameter entry: the overlay; `nil` if the document's batches have no effect, so that it has no overlay.
  func add(
    _ batch: BatchID, _ entry: Entry?, _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) {
    guard let entry else {
      try remove(collection, name, of: user)
      return try connection.run(
        "INSERT INTO pending_documents (collection, name, user, batch) VALUES (?, ?, ?, ?)", collection, name, user,
        batch.rawValue)
    }
    let mutation = entry.mutation.encoded()
    let origin = entry.origin?.encoded(entry.mutation, largestBatch: entry.largestBatch)
    // One statement for both rows, because each statement takes a significant part of a write's time.
    try connection.run(
      """
      INSERT INTO pending_documents (collection, name, user, batch, largest_batch, mutation, origin, checksum)
      VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7), (?1, ?2, ?3, ?8, NULL, NULL, NULL, NULL)
      ON CONFLICT DO UPDATE SET
        largest_batch = excluded.largest_batch, mutation = excluded.mutation, origin = excluded.origin,
        checksum = excluded.checksum
      """, collection, name, user, entry.largestBatch.rawValue, mutation, origin,
      RowChecksum.of(mutation, origin ?? [], numbers: (entry.largestBatch.rawValue, user.rawValue)), batch.rawValue)
    memory.set(entry, size: mutation.count, at: OverlayMemory.Place(collection, name, user))
  }

  /// Removes a batch from a document's list. Does not change the overlay.
  func remove(
    _ batch: BatchID, _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) {
    try connection.run(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ? AND batch = ?", collection, name,
      user, batch.rawValue)
  }

  /// Removes the overlay and all batches of a document.
  func removeAll(
    _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) {
    memory.remove(OverlayMemory.Place(collection, name, user))
    try connection.run(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ?", collection, name, user)
  }

  func remove(
    _ collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) {
    memory.remove(OverlayMemory.Place(collection, name, user))
    try connection.run(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ? AND batch = 0", collection, name,
      user)
  }

  func overlays(
    in collection: CollectionNumber, of user: UserNumber
  ) throws(StoreError) -> [Mutation] {
    try connection.all(
      "SELECT mutation, origin, largest_batch, checksum, user FROM overlays WHERE collection = ? AND user = ?",
      collection, user
    ) { row throws(StoreError) in try Self.mutation(row, from: 0) }
  }

  /// Reads the overlays of all users. Takes O(size) time.
  func verify() throws(StoreError) {
    try connection.forEachRow("SELECT mutation, origin, largest_batch, checksum, user FROM overlays") {
      row throws(StoreError) in _ = try Self.entry(row, from: 0)
    }
  }

  private static func mutation(_ row: Row, from column: Int32) throws(StoreError) -> Mutation {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(column + 3), for: row.blobBytes(column), row.blobBytes(column + 1),
      numbers: (row.integer(column + 2), row.integer(column + 4)))
    guard isIntact else { throw .damaged("an overlay has changed on disk") }
    do throws(ModelError) {
      return try Mutation(decoding: row.blob(column))
    } catch {
      throw .damaged("an overlay cannot be read (\(error.message))")
    }
  }
}

/// The most recently written overlays, kept in memory. Without this cache, the next write to the document, or the
/// acknowledgement of a write, would have to read and decode the overlay.
final class OverlayMemory {
  /// The key of an overlay.
  struct Place: Hashable {
    private let collection: CollectionNumber
    private let user: UserNumber
    private let name: String

    init(_ collection: CollectionNumber, _ name: String, _ user: UserNumber) {
      self.collection = collection
      self.user = user
      self.name = name
    }

    static func == (left: Place, right: Place) -> Bool {
      left.collection == right.collection && left.user == right.user && left.name.equalsUTF8(right.name)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(collection)
      name.hashUTF8(into: &hasher)
    }
  }

  /// The maximum number of overlays in memory. If it is reached, all of them are discarded.
  private static let capacity = 2048
  /// The maximum size in bytes of an encoded mutation that is kept in memory.
  private static let largest = 1024

  private var entries: [Place: OverlayCache.Entry] = [:]

  subscript(place: Place) -> OverlayCache.Entry? { entries.isEmpty ? nil : entries[place] }

  /// - Parameter size: the size in bytes of the encoded mutation.
  func set(_ entry: OverlayCache.Entry, size: Int, at place: Place) {
    guard size <= Self.largest else { return remove(place) }
    if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
    entries[place] = entry
  }

  func remove(_ place: Place) {
    if !entries.isEmpty { entries[place] = nil }
  }

  func forget() { entries = [:] }
}
