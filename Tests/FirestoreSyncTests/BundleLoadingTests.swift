// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Synchronization
import Testing

/// Bundles on their way into the cache.
@Suite(.timeLimit(.minutes(10)))
struct BundleLoadingTests {
  private func bundle(_ count: Int, createdAt seconds: Int64 = 1) -> Bundle {
    let entries = (0..<count).map { number in
      Bundle.Entry(document: doc("rooms/\(1000 + number)", at: 1), queries: [], byteEnd: 10 * (number + 1))
    }
    return Bundle(id: "b", createTime: at(seconds), entries: entries)
  }

  @Test("The engine serves other work between the slices of a bundle")
  func interleaving() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      let mailbox = SnapshotMailbox(capacity: 100)
      _ = test.engine.listen(to: query("rooms"), options: ListenerOptions(), into: mailbox)
      let reports = Mutex<[BundleProgress]>([])
      let end = try await test.engine.load(bundle(250), byteCount: 2500) { progress in
        // Enqueued between two slices, since each slice is enqueued when this has returned.
        if reports.withLock({
          $0.append(progress)
          return $0.count
        }) == 2 {
          _ = test.engine.write([set("rooms/a")])
        }
      }

      #expect(reports.withLock { $0.map(\.documents) } == [0, 100, 200])
      #expect(reports.withLock { $0.map(\.bytes) } == [0, 1000, 2000])
      #expect(end.documents == 250)
      #expect(end.bytes == 2500)
      var counts: [Int] = []
      while counts.last != 251 { counts.append(try await mailbox.snapshot().documents.count) }
      #expect(counts == [0, 100, 101, 201, 251])
    }
  }

  @Test("A partly stored bundle is loaded again, and a completely stored one is not")
  func again() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      let loading = Task {
        try await test.engine.load(bundle(250), byteCount: 2500) { progress in
          // Cancels the task that this is called in.
          if progress.documents == 100 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      await #expect { _ = try await loading.value } throws: { ($0 as? RPCStatus)?.code == .cancelled }
      #expect(try await test.engine.cachedDocuments(query("rooms")).count == 100)

      let reports = Mutex(0)
      _ = try await test.engine.load(bundle(250), byteCount: 2500) { _ in reports.withLock { $0 += 1 } }
      #expect(reports.withLock { $0 } == 3)
      #expect(try await test.engine.cachedDocuments(query("rooms")).count == 250)

      let end = try await test.engine.load(bundle(260), byteCount: 2600) { _ in reports.withLock { $0 += 1 } }
      #expect(end.documents == 260)
      #expect(reports.withLock { $0 } == 4)
      #expect(try await test.engine.cachedDocuments(query("rooms")).count == 250)
      _ = try await test.engine.load(bundle(260, createdAt: 2), byteCount: 2600) { _ in }
      #expect(try await test.engine.cachedDocuments(query("rooms")).count == 260)
    }
  }
}
