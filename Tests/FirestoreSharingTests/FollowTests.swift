// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestoreSharing

@Suite("Commit notifications between processes", .timeLimit(.minutes(10)))
struct FollowTests {
  @Test("Every process receives all commits and keeps receiving under a new owner")
  func shared() async throws {
    let folder = try Folder()
    var first: SharedData? = try SharedData.open(folder.path, as: "first")
    let second = try SharedData.open(try folder.alias("second"), as: "second", patience: .seconds(60))
    let store = second.datastore(for: database)
    let (stream, continuation) = AsyncStream.makeStream(of: CommitUpdate.self)
    let following = Task {
      let error = await #expect(throws: RPCStatus.self) {
        try await store.followCommits { news in continuation.yield(news) }
      }
      #expect(error?.code == .cancelled)
    }
    var news = stream.makeAsyncIterator()
    #expect(await news.next() == .everything)
    _ = try await first?.datastore(for: database).commit([increment("c/a")])
    #expect(await news.next() == .collections([CollectionNotice(ResourcePath("c"), created: 1)]))
    _ = try await store.commit([increment("c/a")])
    #expect(await news.next() == .collections([CollectionNotice(ResourcePath("c"), changed: 1)]))

    first = nil
    #expect(first == nil)
    #expect(await news.next() == .everything)
    _ = try await store.commit([increment("d/a")])
    #expect(await news.next() == .collections([CollectionNotice(ResourcePath("d"), created: 1)]))
    following.cancel()
    await following.value
  }
}
