// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import FirestoreBackend

/// News of commits by collection.
@Suite(.timeLimit(.minutes(15)))
struct FollowTests {
  /// Follows a database until the test has seen enough.
  private func following(
    _ backend: LocalBackend, in followed: DatabaseID = database,
    _ body: (inout AsyncStream<CommitUpdate>.Iterator) async throws -> Void
  ) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: CommitUpdate.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let end = await backend.followCommits(in: followed) { news async throws(Never) in continuation.yield(news) }
        #expect(end.code == .cancelled)
      }
      var news = stream.makeAsyncIterator()
      #expect(await news.next() == .everything)
      try await body(&news)
      group.cancelAll()
    }
    #expect(await backend.followers.isEmpty)
  }

  @Test("The first commit notification covers everything; later ones list collections")
  func news() async throws {
    let backend = try makeBackend()
    try await following(backend) { news in
      try await backend.commit(
        [set("b/x", ["n": 1]), set("a/x", ["n": 1]), set("a/y", ["n": 1]), set("a/y/c/z", ["n": 1])], in: database)
      #expect(
        await news.next()
          == .collections([
            CollectionNotice(ResourcePath("a"), created: 2), CollectionNotice(ResourcePath("a/y/c"), created: 1),
            CollectionNotice(ResourcePath("b"), created: 1),
          ]))
      try await backend.commit([set("a/x", ["n": 2]), delete("a/y")], in: database)
      #expect(await news.next() == .collections([CollectionNotice(ResourcePath("a"), deleted: 1, changed: 1)]))
    }
  }

  @Test("Commits without changes or in other databases send no notification")
  func nothing() async throws {
    let backend = try makeBackend()
    let other = DatabaseID(project: "other")
    try await backend.commit([set("a/x", ["n": 1])], in: database)
    try await following(backend) { news in
      try await backend.commit([set("a/x", ["n": 1]), delete("a/none")], in: database)
      try await backend.commit([set("q/x", ["n": 1])], in: other)
      try await backend.commit([set("a/z", ["n": 1])], in: database)
      #expect(await news.next() == .collections([CollectionNotice(ResourcePath("a"), created: 1)]))
    }
  }

  @Test("Unread commit notifications merge; above a limit they cover all collections")
  func burst() {
    var notices = CollectionNotices()
    #expect(notices.take() == nil)
    func transition(_ path: String, existed: Bool, exists: Bool) -> DocumentTransition {
      let document = Document(key: key(path), version: nil, state: .found(DocumentData(["n": 1])))
      return DocumentTransition(
        key: document.key, position: DocumentPosition(collection: 1, name: DocumentName("x")),
        before: existed ? document : nil,
        after: exists ? document : Document(key: document.key, version: nil, state: .missing))
    }
    for number in 0..<100 { notices.note(transition("a/\(number)", existed: false, exists: true)) }
    for number in 0..<30 { notices.note(transition("a/\(number)", existed: true, exists: false)) }
    notices.note(transition("a/99", existed: true, exists: true))
    #expect(
      notices.take()
        == .collections([CollectionNotice(ResourcePath("a"), created: 100, deleted: 30, changed: 1)]))
    for number in 0...CollectionNotices.most { notices.note(transition("c\(number)/x", existed: false, exists: true)) }
    #expect(notices.take() == .everything)
    #expect(notices.take() == nil)
  }

  @Test("Clearing or seeding a database notifies that everything may have changed")
  func everything() async throws {
    let backend = try makeBackend()
    try await following(backend) { news in
      try await backend.seed([(key("a/x"), ["n": 1] as Fields)], in: database)
      #expect(await news.next() == .everything)
      try await backend.deleteAllDocuments(in: database)
      #expect(await news.next() == .everything)
    }
  }

  @Test("Commit notifications end with the error that closed the data")
  func end() async throws {
    let backend = try makeBackend()
    let status = RPCStatus(.dataLoss, "gone")
    let end = await backend.followCommits(in: database) { news async throws(Never) in await backend.endWatches(status) }
    #expect(end == status)
  }
}
