// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreLocal

@Suite("Garbage collection in slices")
struct GarbageCollectionRunTests {
  private static let text = Value.string(String(repeating: "x", count: 400))

  /// A cache with 2000 documents in each of three collections, each under a released target; the oldest is `c0`.
  private func filled(_ place: Place) throws -> LocalStore {
    var store = try place.open()
    for number in 0..<3 {
      let id = try store.allocateTarget(collection("c\(number)").target).id
      let documents = (0..<2000).map { doc("c\(number)/d\($0)", at: 1, ["text": Self.text]) }
      _ = try store.apply(event(at: Int64(number + 1), documents, addedTo: id, token: token("t")))
      try store.releaseTarget(id)
    }
    return store
  }

  private func copy(of place: Place) throws -> Place {
    let copy = Place(.durable)
    try FileManager.default.copyItem(atPath: place.path, toPath: copy.path)
    return copy
  }

  /// A run whose slices do a few pieces of work each.
  private func begin(_ store: borrowing LocalStore, _ percentile: Int, dry: Bool = false) throws -> GarbageCollectionRun
  {
    try #require(
      try store.beginGarbageCollection(
        thresholdBytes: 0, percentile: percentile, maximumSequenceNumbers: 1000, isDryRun: dry, pacer: .pieces(4)))
  }

  private func count(_ store: borrowing LocalStore, _ name: String) throws -> Int {
    try store.execute(collection(name), usingPreviousResults: false).documents.count
  }

  @Test("Garbage collection takes many slices, and each leaves a consistent cache", arguments: Storage.allCases)
  func slices(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try filled(place)
    // Three targets, of which the oldest goes.
    var run = try begin(store, 34)
    var slices = 0

    while !run.isFinished {
      try store.continueGarbageCollection(&run)
      slices += 1
      let violations = try store.checkInvariants()
      #expect(violations == [])
    }

    #expect(slices > 5)
    #expect(
      run.result
        == GarbageCollectionResult(didRun: true, sequenceNumbersCollected: 1, targetsRemoved: 1, documentsRemoved: 2000)
    )
    let left = try ["c0", "c1", "c2"].map { name throws in try count(store, name) }
    #expect(left == [0, 2000, 2000])
  }

  @Test("Garbage collection stopped after any slice leaves a consistent cache")
  func interrupted() throws {
    let original = Place(.durable)
    try filled(original).close()
    let uninterrupted = try copy(of: original)
    var store = try uninterrupted.open()
    var run = try begin(store, 34)
    var total = 0
    while !run.isFinished {
      try store.continueGarbageCollection(&run)
      total += 1
    }
    store.close()

    for slices in stride(from: 1, to: total, by: TestSize.isFull ? 1 : 3) {
      let place = try copy(of: original)
      var store = try place.open()
      var run = try begin(store, 34)
      for _ in 0..<slices { try store.continueGarbageCollection(&run) }
      // Closed without a word to the run, as by the end of the process.
      store.close()
      store = try place.open()

      let violations = try store.checkInvariants()
      #expect(violations == [], "after \(slices) slices")
      // Whoever asks for the collected query again gets a target that begins anew.
      let data = try store.allocateTarget(collection("c0").target)
      let isUntouched = data.resumeToken != nil
      #expect(isUntouched || data.snapshotVersion == nil)
      try store.releaseTarget(data.id)
      let result = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: .max)
      #expect(result.didRun)
      let left = try ["c0", "c1", "c2"].map { name throws in try count(store, name) }
      #expect(left == [0, 0, 0], "after \(slices) slices")
      let remaining = try store.checkInvariants()
      #expect(remaining == [])
      store.close()
    }
  }

  @Test("Garbage collection keeps a document that comes into use between two slices", arguments: Storage.allCases)
  func changes(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let documents = (0..<4000).map { doc("rooms/d\($0)", at: 1, ["text": Self.text]) }
    _ = try store.apply(event(at: 1, documents))
    let other = try store.allocateTarget(collection("other").target).id
    var run = try begin(store, 100)
    // Until it is about to remove what it has found.
    while run.documentsRemoved == 0 { try store.continueGarbageCollection(&run) }

    // The last documents come into use in four ways.
    _ = try store.write([patch("rooms/d3999", ["x": .integer(1)])], at: now)
    store.addLimboReference(key("rooms/d3998"), TargetID(1))
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: other, isFromCache: true, added: [key("rooms/d3997")], removed: [])])
    _ = try store.apply(event(at: 5, [doc("rooms/d3996", at: 5, ["new": .integer(1)])], addedTo: other))
    while !run.isFinished { try store.continueGarbageCollection(&run) }

    #expect(run.documentsRemoved == 3996)
    for name in ["d3999", "d3998", "d3997", "d3996"] {
      let document = try store.remoteDocument(key("rooms/\(name)"))
      #expect(document != nil, "\(name)")
    }
    let violations = try store.checkInvariants()
    #expect(violations == [])
  }

  @Test("A target requested again during its collection gets a new id and no resume token", arguments: Storage.allCases)
  func relisten(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try filled(place)
    let before = try #require(try store.targetData(for: collection("c0").target))
    var run = try begin(store, 34)
    while run.targetsRemoved == 0 { try store.continueGarbageCollection(&run) }

    let again = try store.allocateTarget(collection("c0").target)
    _ = try store.apply(event(at: 9, [doc("c0/d7", at: 9, ["new": .integer(1)])], addedTo: again.id, token: token("u")))
    while !run.isFinished { try store.continueGarbageCollection(&run) }

    #expect(again.id != before.id)
    #expect(again.resumeToken == nil)
    let keys = try store.remoteKeys(of: again.id)
    #expect(keys == [key("c0/d7")])
    let left = try count(store, "c0")
    #expect(left == 1)
  }

  @Test("A dry run reports the evictions and changes nothing", arguments: Storage.allCases)
  func dryRun(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try filled(place)
    _ = try store.write([patch("c0/d1", ["x": .integer(1)])], at: now)
    let before = try store.occupancy()
    var dry = try begin(store, 34, dry: true)
    while !dry.isFinished { try store.continueGarbageCollection(&dry) }
    let after = try store.occupancy()

    var wet = try begin(store, 34)
    while !wet.isFinished { try store.continueGarbageCollection(&wet) }

    #expect(before == after)
    #expect(dry.documentsRemoved == 0)
    #expect(dry.plan.documents == 1999)
    #expect(dry.plan.documents == wet.documentsRemoved)
    #expect(dry.plan.targets.map(\.target) == [collection("c0").target])
    #expect(dry.plan.targets.map(\.documents) == [2000])
    #expect(dry.plan.bytes > 1999 * 400 && dry.plan.bytes < 1999 * 450)
    #expect(dry.plan.sequenceNumbersCollected == 1 && dry.plan.sequenceNumbers == 3)
  }

  @Test("The cache size is the size of its files, and collection frees disk space")
  func fileSize() throws {
    let place = Place(.durable)
    var store = try filled(place)
    func filesOnDisk() throws -> Int64 {
      try ["", "-wal"].reduce(0) { sum, suffix in
        let path = place.databasePath + suffix
        guard FileManager.default.fileExists(atPath: path) else { return sum }
        return sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0)
      }
    }
    let full = try store.byteSize()
    let fullOnDisk = try filesOnDisk()

    _ = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    // Still open: nothing waits for the end of the session.
    let empty = try store.byteSize()
    let emptyOnDisk = try filesOnDisk()
    #expect(full == fullOnDisk && full > 2_500_000)
    #expect(empty == emptyOnDisk && empty < 200_000)
    let free = try store.occupancy().freeBytes
    #expect(free == 0)
  }

  @Test("A cache opened with a smaller limit has a small WAL and shrinks in steps")
  func smallerSize() throws {
    let place = Place(.durable)
    var store = try place.open(.leastRecentlyUsed(thresholdBytes: 100_000_000))
    for number in 0..<60 {
      let documents = (0..<100).map { doc("rooms/\(number)-\($0)", at: 1, ["text": Self.text]) }
      _ = try store.apply(event(at: Int64(number + 1), documents))
    }
    store.close()
    let limit: Int64 = 1_000_000

    store = try place.open(.leastRecentlyUsed(thresholdBytes: limit))
    let start = try store.byteSize()
    var sizes: [Int64] = [start]
    while sizes.last ?? 0 >= limit, sizes.count < 60 {
      _ = try store.collectGarbage(thresholdBytes: limit, percentile: 10, maximumSequenceNumbers: 1000)
      sizes.append(try store.byteSize())
    }

    #expect(start > 2 * limit)
    #expect(sizes.last ?? 0 < limit)
    #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 > $1 })
    // Writing does not let the log grow back above the limit.
    for number in 0..<200 { _ = try store.write([set("rooms/w", ["n": .integer(Int64(number))])], at: now) }
    let after = try store.byteSize()
    #expect(after < limit * 3 / 2)
  }
}
