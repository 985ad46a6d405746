// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreBackend

/// Commits that share a transaction of the log.
@Suite struct CommitGroupTests {
  private static func orders(_ mutations: Mutation...) -> [CommitOrder] {
    mutations.map { CommitOrder([$0], in: database) }
  }

  @Test("Each commit in a group sees earlier ones, gets its own version and fails alone")
  func each() async throws {
    let backend = try makeBackend()
    let results = await backend.commit(
      Self.orders(
        set("c/a", ["v": 1]), transform("c/a", .increment(1)), set("c/b", [:], .exists(true)),
        transform("c/a", .increment(1)), set("c/b", [:], .exists(false)), set("c/b", [:], .exists(false))))

    #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true, true, false])
    let answers = results.compactMap { try? $0.get() }
    #expect(answers.map { $0.results[0].transformResults } == [[], [2], [3], []])
    #expect(zip(answers, answers.dropFirst()).allSatisfy { $0.commitTime < $1.commitTime })
    #expect(throws: RPCStatus(.notFound, "No document to update: \(database.documentsName)/c/b")) {
      try results[2].get()
    }
    let document = try await backend.read("c/a")
    #expect(document["v"] == 3 && document.version == answers[2].commitTime)
    #expect(try await backend.readTime(of: database) == answers[3].commitTime)
  }

  @Test("If a commit group's SQL transaction fails, its commits are stored one by one")
  func alone() async throws {
    let clock = TestClock()
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("d/before", [:]))
    // No version follows the first one.
    clock.set(Timestamp.latest.microseconds)
    let results = await backend.commit(Self.orders(set("c/a", ["v": 1]), set("c/b", ["v": 2])))

    #expect((try? results[0].get()) != nil)
    let error = #expect(throws: RPCStatus.self) { try results[1].get() }
    #expect(error?.code == .internal)
    #expect(try await backend.paths(query("c")) == ["c/a"])
  }

  @Test("A listener is notified once of a commit group's final state")
  func told() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/old", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()
    _ = await backend.commit(
      Self.orders(
        set("c/a", ["v": 1]), set("c/gone", [:]), set("c/a", ["v": 2]), delete("c/gone"), delete("c/old"),
        set("c/old", ["v": 1])))

    let messages = try await watch.messages()
    #expect(messages.sorted() == ["DOC c/a +[2] -[]", "DOC c/old +[2] -[]", "SNAPSHOT"])
    #expect(watch.client.documents[2]?[key("c/a")]?["v"] == 2)
  }

  @Test("Commits to several databases have separate notifications and versions")
  func databases() async throws {
    let backend = try makeBackend()
    let other = DatabaseID(project: "p", database: "other")
    var watch = await WatchDriver(backend, in: other)
    try await watch.add(2, query("c"))
    try await watch.receive()
    let results = await backend.commit([
      CommitOrder([set("c/a", ["v": 1])], in: database), CommitOrder([set("c/a", ["v": 2])], in: other),
    ])

    #expect(try results.map { try $0.get().commitTime }.count == 2)
    #expect(try await watch.messages() == ["DOC c/a +[2] -[]", "SNAPSHOT"])
    #expect(watch.client.documents[2]?[key("c/a")]?["v"] == 2)
    #expect(try await backend.read("c/a")["v"] == 1)
  }

  @Test("Grouped commits share WAL frames and survive a kill")
  func frames() async throws {
    let directory = TemporaryFolder()
    let clock = TestClock(5_000_000)
    let backend = try makeBackend(.directory(directory.path), clock: clock)
    for number in 0..<8 { try await backend.commit(set("c/\(number)", ["v": 0])) }
    func frames() throws -> Int {
      let log = try Data(contentsOf: URL(filePath: directory.path + "/backend.sqlite3-wal"))
      return (log.count - 32) / (24 + 4_096)
    }
    let before = try frames()
    for number in 0..<8 { try await backend.commit(set("c/\(number)", ["v": 1])) }
    let apart = try frames() - before
    // Of the document, its earlier version with an entry of its index, and the change.
    #expect(apart == 8 * 4)
    let results = await backend.commit((0..<8).map { CommitOrder([set("c/\($0)", ["v": 2])], in: database) })
    #expect(try frames() - before - apart == 4)

    // A copy of the files while the backend is open is what a killed process leaves behind.
    let copy = try directory.copy()
    clock.set(1_000)
    let revived = try makeBackend(.directory(copy.path), clock: clock)
    #expect(try await revived.runQuery(query("c"), in: database).map { $0["v"] } == Array(repeating: 2, count: 8))
    let last = try #require(results.last).get().commitTime
    #expect(try await revived.readTime(of: database) == last)
    #expect(try await revived.commit(set("c/0", ["v": 3])).commitTime > last)
  }

  @Test("The version of a commit without changes is not reused")
  func unchanged() async throws {
    let directory = TemporaryFolder()
    let clock = TestClock(5_000_000)
    let backend = try makeBackend(.directory(directory.path), clock: clock)
    try await backend.commit(set("c/a", [:]))
    let last = try await backend.commit(set("c/a", [:])).commitTime
    clock.set(1_000)
    let copy = try directory.copy()
    let revived = try makeBackend(.directory(copy.path), clock: clock)
    #expect(try await revived.commit(set("c/a", ["v": 1])).commitTime > last)
  }
}
