// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreLocal

@Suite("Least-recently-used garbage collection")
struct LRUGarbageCollectionTests {
  @Test("Only a cache above the size threshold is garbage-collected", arguments: Storage.allCases)
  func threshold(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1)]))
    let size = try store.byteSize()

    let below = try store.collectGarbage(thresholdBytes: size + 1, percentile: 100, maximumSequenceNumbers: 1000)
    let at = try store.collectGarbage(thresholdBytes: size, percentile: 100, maximumSequenceNumbers: 1000)

    #expect(below == .skipped)
    #expect(at.didRun)
    #expect(at.documentsRemoved == 1)
  }

  @Test("The oldest targets and orphaned documents are evicted first", arguments: Storage.allCases)
  func oldestFirst(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    // Ten released targets with a document each, from old to new.
    for number in 0..<10 {
      let id = try store.allocateTarget(collection("c\(number)").target).id
      _ = try store.apply(event(at: Int64(number + 1), [doc("c\(number)/d", at: 1)], addedTo: id))
      try store.releaseTarget(id)
    }

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 30, maximumSequenceNumbers: 1000)
    let capped = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 2)

    #expect(
      result
        == GarbageCollectionResult(didRun: true, sequenceNumbersCollected: 3, targetsRemoved: 3, documentsRemoved: 3))
    #expect(
      capped
        == GarbageCollectionResult(didRun: true, sequenceNumbersCollected: 2, targetsRemoved: 2, documentsRemoved: 2))
    let cached = try (0..<10).map { number throws in try store.remoteDocument(key("c\(number)/d")) != nil }
    #expect(cached == Array(repeating: false, count: 5) + Array(repeating: true, count: 5))
    let known = try (0..<10).map { number throws in try store.targetData(for: collection("c\(number)").target) != nil }
    #expect(known == cached)
  }

  @Test("Garbage collection keeps referenced documents", arguments: Storage.allCases)
  func references(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let active = try store.allocateTarget(collection("active").target).id
    let query = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("active/a", at: 1)], addedTo: active))
    _ = try store.apply(
      event(at: 1, ["pending", "others", "shown", "limbo", "plain"].map { doc("rooms/\($0)", at: 1) }))
    try store.start(user: "other")
    _ = try store.write([patch("rooms/others", ["x": .integer(1)])], at: now)
    _ = try store.changeUser(to: nil)
    _ = try store.write([patch("rooms/pending", ["x": .integer(1)])], at: now)
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: query, isFromCache: true, added: [key("rooms/shown")], removed: [])])
    store.addLimboReference(key("rooms/limbo"), TargetID(1))

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    #expect(result.targetsRemoved == 0)
    #expect(result.documentsRemoved == 1)
    for path in ["active/a", "rooms/pending", "rooms/others", "rooms/shown", "rooms/limbo"] {
      let remote = try store.remoteDocument(key(path))
      #expect(remote != nil, "\(path)")
    }
    let plain = try store.remoteDocument(key("rooms/plain"))
    #expect(plain == nil)
  }

  @Test("Garbage collection keeps documents in a view, but not documents that left it")
  func shown() throws {
    let place = Place(.memory)
    var store = try place.open()
    let names = ["a", "b", "c", "d", "e"]
    let id = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, names.map { doc("rooms/\($0)", at: 1) }))
    func show(_ added: [String], without removed: [String] = []) throws {
      let change = LocalViewChanges(
        targetID: id, isFromCache: true, added: added.map { key("rooms/\($0)") },
        removed: Set(removed.map { key("rooms/\($0)") }))
      try store.notifyLocalViewChanges([change])
    }

    try show(["a", "b"])
    try show(["c"])
    try show(["d"], without: ["a"])
    try show(["a"], without: ["b", "d"])
    _ = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    let kept = try names.filter { name throws in try store.remoteDocument(key("rooms/\(name)")) != nil }
    #expect(kept == ["a", "c"])
  }

  @Test("Leaving a view counts as the last use of a document")
  func recency() throws {
    let place = Place(.memory)
    var store = try place.open()
    let id = try store.allocateTarget(collection("x").target).id
    for name in ["a", "b", "c"] { _ = try store.apply(event(at: 1, [doc("rooms/\(name)", at: 1)])) }

    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: id, isFromCache: true, added: [key("rooms/a")], removed: [])])
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: id, isFromCache: true, added: [], removed: [key("rooms/a")])])
    // The target and three documents have a number each: half of them are two.
    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 50, maximumSequenceNumbers: 1000)

    #expect(result.documentsRemoved == 1)
    let names = try ["a", "b", "c"].filter { name throws in try store.remoteDocument(key("rooms/\(name)")) != nil }
    #expect(names == ["a", "c"])
  }

  @Test("Garbage collection frees disk space")
  func shrinks() throws {
    let place = Place(.durable)
    var store = try place.open()
    let id = try store.allocateTarget(collection("rooms").target).id
    let text = Value.string(String(repeating: "x", count: 1000))
    let documents = (0..<2000).map { doc("rooms/\($0)", at: 1, ["text": text]) }
    _ = try store.apply(event(at: 1, documents, addedTo: id))
    try store.releaseTarget(id)
    let full = try store.byteSize()

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    #expect(result.documentsRemoved == 2000)
    let empty = try store.byteSize()
    store.close()
    let file = try FileManager.default.attributesOfItem(atPath: place.databasePath)[.size] as? Int64
    #expect(full > 2_000_000)
    #expect(empty < full / 4)
    #expect(try #require(file) < full / 4)
  }

  @Test("A cache without garbage collection evicts nothing")
  func never() throws {
    let place = Place(.memory)
    var store = try place.open(.never)
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1)]))

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    #expect(result == .skipped)
    let remote = try store.remoteDocument(key("rooms/a"))
    #expect(remote != nil)
  }
}
