// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import SeededRandom

/// The caches and plain SQLite tables that all cases with the same document count share. They are created when they are
/// first used, and removed at the end.
final class Workbench {
  let size: Int
  let documents: [Document]
  let repetitions: Int
  private let directory: String
  private var template: String?
  private var floors: [Bool: SQLiteFloor] = [:]
  private var copies = 0

  /// - Parameter repetitions: the number of repetitions. With `nil`, the default, which is higher for small document
  ///   counts.
  init(documents size: Int, repetitions: Int? = nil) throws {
    self.size = size
    self.repetitions = repetitions ?? (size > 20_000 ? 5 : 9)
    documents = SampleData.documents(size)
    directory = NSTemporaryDirectory() + "hearth-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  // A failure leaves files in the temporary folder, which the system empties.
  deinit { try? FileManager.default.removeItem(atPath: directory) }

  /// The query for this value of `state` is already in sync.
  static let syncedState = 7

  // MARK: Caches

  static func configuration(_ path: String?, _ policy: GarbageCollectionPolicy? = nil) -> LocalStoreConfiguration {
    LocalStoreConfiguration(
      location: path.map { .directory($0) } ?? .memory,
      policy: policy ?? .leastRecentlyUsed(thresholdBytes: 100 * 1024 * 1024),
      database: DatabaseID(project: "bench"))
  }

  /// Creates a path for a new directory of this workbench.
  func newPath() -> String {
    copies += 1
    return "\(directory)/cache-\(copies)"
  }

  /// The directory of a cache with the documents and one synced target. Do not write to it.
  func filledCache() throws -> String {
    if let template { return template }
    let path = newPath()
    var store = try LocalStore(Self.configuration(path))
    try fill(&store)
    store.close()
    template = path
    return path
  }

  /// A writable copy of the filled cache.
  func copyOfFilledCache() throws -> String {
    let path = newPath()
    try FileManager.default.copyItem(atPath: try filledCache(), toPath: path)
    return path
  }

  /// A writable copy of the filled cache, in which the given indexes are completely built.
  func copyOfFilledCache(with indexes: [FieldIndex]) throws -> String {
    let path = try copyOfFilledCache()
    if indexes.isEmpty { return path }
    var store = try LocalStore(Self.configuration(path))
    try store.setIndexes(indexes)
    while try store.backfillIndexes() {}
    store.close()
    return path
  }

  /// Waits until the files of a cache are on disk, as they would be for a cache that was written earlier.
  func waitForDisk(_ path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      guard let file = FileHandle(forUpdatingAtPath: "\(path)/\(name)") else { continue }
      try file.synchronize()
      try file.close()
    }
  }

  // Removing a missing file is not an error.
  func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// Stores all documents, and marks the query for `syncedState` as in sync.
  func fill(_ store: inout LocalStore) throws {
    try store.start(user: nil)
    for (number, batch) in snapshots().enumerated() { _ = try store.apply(event(batch, number)) }
    let query = Self.equalityQuery(Self.syncedState)
    let data = try store.allocateTarget(query.target)
    let hits = documents.filter { query.matches($0) }
    var event = event([], size)
    event.targetChanges[data.id] = TargetChange(
      resumeToken: ResumeToken([1]), isCurrent: true, added: Set(hits.map(\.key)))
    _ = try store.apply(event)
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: data.id, isFromCache: false, added: hits.map(\.key), removed: [])])
    try store.releaseTarget(data.id)
  }

  /// The documents in batches, as a backend would send them.
  func snapshots(of size: Int = 500) -> [ArraySlice<Document>] {
    stride(from: 0, to: documents.count, by: size).map { documents[$0..<min($0 + size, documents.count)] }
  }

  func event(_ documents: some Sequence<Document>, _ number: Int, addedTo target: TargetID? = nil) -> RemoteEvent {
    var event = RemoteEvent(version: SnapshotVersion(microseconds: SampleData.firstVersion + Int64(number)))
    for document in documents { event.documents[document.key] = document }
    if let target {
      event.targetChanges[target] = TargetChange(
        resumeToken: ResumeToken([UInt8(number & 0xff), 1]), isCurrent: true, added: Set(event.documents.keys))
    }
    return event
  }

  // MARK: Queries

  static func equalityQuery(_ state: Int, in collection: ResourcePath = SampleData.collection) -> Query {
    Query(path: collection, filters: [.field(FieldFilter(FieldPath("state"), .equal, SampleData.state(state)))])
  }

  static let orderLimitQuery = Query(
    path: SampleData.collection, explicitOrderBy: [OrderBy(FieldPath("population"))], limit: 50)

  static let collectionQuery = Query(path: SampleData.collection)

  // MARK: Floor

  /// The documents in plain SQLite tables.
  func floor(inMemory: Bool = false) throws -> SQLiteFloor {
    if let floor = floors[inMemory] { return floor }
    let floor = try SQLiteFloor(inMemory ? nil : newPath())
    try floor.insert(documents)
    floors[inMemory] = floor
    return floor
  }
}

/// The documents of all cases: cities with 12 fields, about 460 bytes on the wire, and random ids like those of
/// `addDocument`. `state` has 50 values, so an equality query matches one in fifty documents.
enum SampleData {
  static let collection = ResourcePath("cities")
  /// A second collection. It shows whether the cost of a query depends on documents in other collections.
  static let otherCollection = ResourcePath("villages")
  static let stateCount = 50
  static let firstVersion: Int64 = 1_700_000_000_000_000

  static func state(_ number: Int) -> Value { .string("state-\(number / 10)\(number % 10)") }

  /// - Parameter collection: the collection of the documents. It is also the seed of their ids.
  static func documents(_ count: Int, in collection: ResourcePath = SampleData.collection) -> [Document] {
    var random = SeededGenerator(seed: collection == Self.collection ? 1 : 2)
    return (0..<count).map { document($0, collection.appending(id(&random)), &random) }
  }

  private static func document(_ number: Int, _ path: ResourcePath, _ random: inout SeededGenerator) -> Document {
    let version = SnapshotVersion(microseconds: firstVersion + Int64(number / 500))
    return Document(
      key: DocumentKey(unchecked: path), version: version, createTime: version,
      state: .found(DocumentData(encoded: EncodedFields(fields(number, &random)))))
  }

  static func fields(_ number: Int, _ random: inout SeededGenerator) -> Fields {
    [
      "name": .string("City of \(text(12, &random))"),
      "state": state(Int.random(in: 0..<stateCount, using: &random)),
      "country": .string("country-\(Int.random(in: 0..<200, using: &random))"),
      "population": .integer(Int64.random(in: 1_000..<40_000_000, using: &random)),
      "elevation": .integer(Int64.random(in: 0..<4_000, using: &random)),
      "area": .double(Double.random(in: 1..<10_000, using: &random)),
      "rating": .double(Double.random(in: 0..<5, using: &random)),
      "isCapital": .boolean(number % 40 == 0),
      "founded": .timestamp(Timestamp(seconds: Int64.random(in: -30_000_000_000..<1_600_000_000, using: &random))),
      "description": .string(text(150, &random)),
      "location": .map([
        "latitude": .double(Double.random(in: -90...90, using: &random)),
        "longitude": .double(Double.random(in: -180...180, using: &random)), "zone": .string("UTC+\(number % 12)"),
      ]),
      "tags": .array((0..<3).map { _ in .string("tag-\(Int.random(in: 0..<100, using: &random))") }),
    ]
  }

  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

  private static func id(_ random: inout SeededGenerator) -> String { text(20, &random) }

  private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
    String(decoding: (0..<count).map { _ in letters[Int(random.next() % UInt64(letters.count))] }, as: UTF8.self)
  }
}
