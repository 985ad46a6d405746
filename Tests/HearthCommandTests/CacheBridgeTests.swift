// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Foundation
import Testing

@testable import DashboardHost

@MainActor
@Suite("Manual cache management", .serialized)
struct CacheBridgeTests {
  /// Reads a collection once, so that the cache has it.
  private func read(_ path: String, _ test: BridgeHarness) async throws {
    test.bridge.perform(.ask(WindowTag(1), Query(path: ResourcePath(path))))
    _ = try await test.next { if case .windowLoaded(_, let documents, false, _) = $0 { documents } else { nil } }
  }

  @Test("Eviction keeps pinned documents and pending writes, and the notice reports both")
  func evict() async throws {
    try await BridgeHarness.run { test in
      for id in ["a", "b", "c", "d"] { try await test.others(set("rooms/\(id)", ["n": 1])) }
      try await read("rooms", test)
      test.bridge.perform(.setNetwork(enabled: false))
      try await test.isOffline(true)
      let pin = Retention(Query(path: ResourcePath("rooms/a")).target, .pinned, since: .now)
      test.bridge.perform(.retain(pin))
      #expect(try await test.next { if case .retentions(let all) = $0 { all } else { nil } } == [pin])
      test.bridge.perform(.write([patch("rooms/b", ["n": 2])]))
      _ = try await test.next { if case .pendingWrites(let writes, _) = $0, !writes.isEmpty { () } else { nil } }

      test.bridge.perform(.evict(.path(ResourcePath("rooms"))))
      let account = try await test.notice("evicted")
      #expect(
        account
          == "2 documents of rooms evicted; 1 stays: shown, listened to or pinned; "
          + "1 stays: with pending writes")
      #expect(await test.bridge.cachedDocument(key("rooms/a"))?.exists == true)
      #expect(await test.bridge.cachedDocument(key("rooms/c"))?.exists != true)

      test.bridge.perform(.release(pin))
      _ = try await test.next { if case .retentions([]) = $0 { () } else { nil } }
      test.bridge.perform(.evict(.path(ResourcePath("rooms/a"))))
      #expect(try await test.notice("evicted") == "rooms/a evicted")
      test.bridge.perform(.evict(.path(ResourcePath("rooms/a"))))
      #expect(try await test.notice("in the cache") == "rooms/a is not in the cache")
    }
  }

  @Test("Evicted documents are read again in full by the next listener")
  func again() async throws {
    try await BridgeHarness.run { test in
      for id in ["a", "b"] { try await test.others(set("rooms/\(id)", ["n": 1])) }
      try await read("rooms", test)
      test.bridge.perform(.evict(.path(ResourcePath("rooms/a"))))
      _ = try await test.notice("evicted")
      test.bridge.perform(.ask(WindowTag(2), Query(path: ResourcePath("rooms"))))
      let documents = try await test.next {
        if case .windowLoaded(WindowTag(2), let documents, false, _) = $0 { documents } else { nil }
      }
      #expect(documents.map(\.key.documentID) == ["a", "b"])
    }
  }

  @Test(
    "'freeze' exports the cache offline, and clients and servers can read the file",
    arguments: ["bundle", "jsonl"])
  func freeze(_ kind: String) async throws {
    let folder = try TemporaryFolder.made()
    let file = folder("cache.\(kind)")
    let written: [String: Fields] = [
      "rooms/a": ["n": 1, "name": "A"], "rooms/b": ["n": 2.5, "tags": .array(["x", .null])],
    ]
    try await BridgeHarness.run { test in
      for (path, fields) in written.sorted(by: { $0.key < $1.key }) { try await test.others(set(path, fields)) }
      try await test.others(set("halls/a", ["n": 3]))
      try await read("rooms", test)
      test.bridge.perform(.setNetwork(enabled: false))
      try await test.isOffline(true)
      // What waits is not in it.
      test.bridge.perform(.write([patch("rooms/a", ["n": 9])]))
      _ = try await test.next { if case .pendingWrites(let writes, _) = $0, !writes.isEmpty { () } else { nil } }
      test.bridge.perform(.transfer(.freezing(nil, file: file)))
      let account = try await test.nextOfHost { if case .transferred(let account) = $0 { account } else { nil } }
      #expect(account.end == .complete && account.documents == 2, "\(account)")
    }
    try await BridgeHarness.run { other in
      if kind == "bundle" {
        other.bridge.perform(.setNetwork(enabled: false))
        try await other.isOffline(true)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        _ = try await other.bridge.engine.loadBundle(bytes)
        for (path, fields) in written {
          #expect(try await other.bridge.engine.cachedDocument(key(path))?.data?.fields == fields)
        }
      } else {
        other.bridge.perform(.transfer(.importing(file: file, into: nil)))
        let account = try await other.nextOfHost { if case .transferred(let account) = $0 { account } else { nil } }
        #expect(account.documents == 2, "\(account)")
        for (path, fields) in written { #expect(try await other.stored(path) == fields) }
      }
    }
  }

  @Test("Eviction by age keeps recent documents; a lifetime without effect has no message")
  func ages() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("rooms/a", ["n": 1]))
      try await read("rooms", test)
      test.bridge.perform(.evict(.everything, olderThan: .seconds(3_600)))
      let account = try await test.notice("evicted")
      #expect(account.contains("0 documents evicted") && account.contains("in sync within 1 h"), "\(account)")
      let rooms = Query(path: ResourcePath("rooms")).target
      test.bridge.perform(.retain(Retention(rooms, .lifetime(.seconds(3_600)), since: .now)))
      _ = try await test.next { if case .retentions(let all) = $0, !all.isEmpty { () } else { nil } }
      test.bridge.perform(.applyLifetimes)
      test.bridge.perform(.evict(.path(ResourcePath("rooms/none"))))
      #expect(try await test.notice("rooms") == "rooms/none is not in the cache")
    }
  }

  @Test("A query's lifetime evicts only its matches, and a purge removes tombstones")
  func queries() async throws {
    try await BridgeHarness.run { test in
      for id in ["a", "b"] { try await test.others(set("rooms/\(id)", ["state": id == "a" ? "done" : "open"])) }
      try await read("rooms", test)
      let done = Query(
        path: ResourcePath("rooms"), filters: [.field(FieldFilter(FieldPath("state"), .equal, .string("done")))])
      test.bridge.perform(.retain(Retention(done.target, .lifetime(.microseconds(1)), since: .now)))
      _ = try await test.next { if case .retentions(let all) = $0, !all.isEmpty { () } else { nil } }
      test.bridge.perform(.applyLifetimes)
      #expect(
        try await test.notice("evicted")
          == "1 document of rooms where state == \"done\" evicted, 0 ms after their last sync")
      #expect(await test.bridge.cachedDocument(key("rooms/a")) == nil)
      #expect(await test.bridge.cachedDocument(key("rooms/b"))?.exists == true)

      test.bridge.perform(.openDetail(key("rooms/none")))
      try await test.detail { $0?.exists == false }
      test.bridge.perform(.evict(.tombstones(nil)))
      #expect(
        try await test.notice("tombstone")
          == "0 tombstones removed; 1 stays: shown, listened to or pinned")
      test.bridge.perform(.closeDetail(key("rooms/none")))
      test.bridge.perform(.evict(.tombstones(ResourcePath("rooms"))))
      #expect(
        try await test.notice("tombstone")
          == "1 tombstone of rooms removed")
    }
  }

  @Test("A set-aside write is listed as rejected and can be sent again")
  func aside() async throws {
    try await BridgeHarness.run { test in
      test.bridge.perform(.setNetwork(enabled: false))
      try await test.isOffline(true)
      test.bridge.perform(.write([set("rooms/a", ["n": 1])]))
      let batch = try await test.next { if case .pendingWrites(let writes, _) = $0 { writes.first?.id } else { nil } }
      test.bridge.perform(.setWriteAside(batch))
      let cancelled = try await test.next { if case .writeCancelled(let batch) = $0 { batch } else { nil } }
      let rejected = try await test.next {
        if case .rejectedWrites(let writes) = $0, !writes.isEmpty { writes } else { nil }
      }
      #expect(cancelled == batch && rejected.map(\.id) == [batch] && rejected.allSatisfy(\.isSetAside))
      test.bridge.perform(.setNetwork(enabled: true))
      test.bridge.perform(.resend(batch))
      try await test.acknowledged()
      #expect(try await test.stored("rooms/a") == ["n": 1])
    }
  }
}
