// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import DashboardHost

@MainActor
@Suite("The cache by hand", .serialized)
struct CacheBridgeTests {
  /// Reads a collection once, so that the cache has it.
  private func read(_ path: String, _ test: BridgeHarness) async throws {
    test.bridge.perform(.ask(WindowTag(1), Query(path: ResourcePath(path))))
    _ = try await test.next { if case .windowLoaded(_, let documents, false, _) = $0 { documents } else { nil } }
  }

  @Test("What nothing holds leaves the cache; what is pinned or waits to be sent stays, and the notice says so")
  func evict() async throws {
    try await BridgeHarness.run { test in
      for id in ["a", "b", "c", "d"] { try await test.others(set("rooms/\(id)", ["n": 1])) }
      try await read("rooms", test)
      test.bridge.perform(.setNetwork(enabled: false))
      try await test.isOffline(true)
      test.bridge.perform(.pin(Query(path: ResourcePath("rooms/a"))))
      test.bridge.perform(.write([patch("rooms/b", ["n": 2])]))
      _ = try await test.next { if case .pendingWrites(let writes, _) = $0, !writes.isEmpty { () } else { nil } }

      test.bridge.perform(.evict(ResourcePath("rooms")))
      let account = try await test.notice("left the cache")
      #expect(
        account
          == "2 documents of rooms left the cache; 1 stays that is shown, listened to or pinned; "
          + "1 stays with pending writes")
      #expect(await test.bridge.cachedDocument(key("rooms/a"))?.exists == true)
      #expect(await test.bridge.cachedDocument(key("rooms/c"))?.exists != true)

      test.bridge.perform(.unpin(Query(path: ResourcePath("rooms/a"))))
      test.bridge.perform(.evict(ResourcePath("rooms/a")))
      #expect(try await test.notice("left the cache") == "rooms/a left the cache")
      test.bridge.perform(.evict(ResourcePath("rooms/a")))
      #expect(try await test.notice("in the cache") == "rooms/a is not in the cache")
    }
  }

  @Test("Evicted documents are all read again when somebody listens")
  func again() async throws {
    try await BridgeHarness.run { test in
      for id in ["a", "b"] { try await test.others(set("rooms/\(id)", ["n": 1])) }
      try await read("rooms", test)
      test.bridge.perform(.evict(ResourcePath("rooms/a")))
      _ = try await test.notice("left the cache")
      test.bridge.perform(.ask(WindowTag(2), Query(path: ResourcePath("rooms"))))
      let documents = try await test.next {
        if case .windowLoaded(WindowTag(2), let documents, false, _) = $0 { documents } else { nil }
      }
      #expect(documents.map(\.key.documentID) == ["a", "b"])
    }
  }
}
