// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreBackend

@Suite struct DurabilityTests {
  @Test("Documents, versions and responses survive a restart, even if the clock went back")
  func restart() async throws {
    let directory = TemporaryFolder()
    let clock = TestClock(5_000_000)
    let request = WriteRequestID(clientID: [1], batchID: BatchID(1))
    var last: SnapshotVersion?
    do {
      let backend = try makeBackend(.directory(directory.path), clock: clock)
      try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
      last = try await backend.commit(set("c/a", ["v": 1])).commitTime
    }
    clock.set(1_000)

    let backend = try makeBackend(.directory(directory.path), clock: clock)
    #expect(try await backend.readTime(of: database) == last)
    let again = try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
    #expect(again.results[0].transformResults == [1])
    #expect(try await backend.read("c/a")["v"] == 1)
    let next = try await backend.commit(set("c/b", [:])).commitTime
    #expect(next > (try #require(last)))
  }

  @Test("A resume token survives a restart")
  func tokens() async throws {
    let directory = TemporaryFolder()
    var token: ResumeToken?
    do {
      let backend = try makeBackend(.directory(directory.path))
      try await backend.commit(set("c/a", [:]), set("c/b", [:]))
      var watch = await WatchDriver(backend)
      try await watch.add(2, query("c"))
      try await watch.receive()
      token = watch.client.token
      try await backend.commit(delete("c/a"))
    }

    let backend = try makeBackend(.directory(directory.path))
    try await backend.commit(set("c/d", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"), resume: .token(try #require(token)), expectedCount: 2)

    #expect(
      try await watch.messages()
        == ["ADD [2]", "DELETE c/a +[] -[2]", "DOC c/d +[2] -[]", "CURRENT [2]", "SNAPSHOT"])
  }

  @Test("A client with a resume token from lost commits gets a target reset", arguments: [true, false])
  func restoredCopy(_ commitsAfterwards: Bool) async throws {
    let folder = TemporaryFolder()
    let clock = TestClock(1_000_000)
    do { try await makeBackend(.directory(folder.path), clock: clock).commit(set("c/a", [:]), set("c/b", [:])) }
    let copy = try folder.copy()
    var token: ResumeToken?
    var last: SnapshotVersion?
    do {
      let backend = try makeBackend(.directory(folder.path), clock: clock)
      last = try await backend.commit(set("c/lost", [:]), delete("c/a")).commitTime
      var watch = await WatchDriver(backend)
      try await watch.add(2, query("c"))
      try await watch.receive()
      token = watch.client.token
    }
    clock.advance(10_000_000)

    let backend = try makeBackend(.directory(copy.path), clock: clock)
    #expect(try await backend.readTime(of: database) >= (try #require(last)))
    if commitsAfterwards { try await backend.commit(set("c/new", [:])) }
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"), resume: .token(try #require(token)), expectedCount: 2)

    let messages = try await watch.messages()
    #expect(messages.contains("RESET [2]"))
    #expect(Set(watch.client.paths(2)) == Set(["c/a", "c/b"] + (commitsAfterwards ? ["c/new"] : [])))
    // The copy's own positions are known, from before and after it was made.
    let own = try #require(watch.client.token)
    await backend.closeWatch(watch.session)
    var again = await WatchDriver(backend)
    try await again.add(2, query("c"), resume: .token(own), expectedCount: commitsAfterwards ? 3 : 2)
    #expect(try await again.messages() == ["ADD [2]", "CURRENT [2]", "SNAPSHOT"])
  }

  @Test("S10: Acknowledged commits survive a kill")
  func killed() async throws {
    let directory = TemporaryFolder()
    let backend = try makeBackend(.directory(directory.path))
    for n in 0..<50 { try await backend.commit(set("c/\(n)", ["n": .integer(Int64(n))])) }

    // A copy of the files while the backend is open is what a killed process leaves behind.
    let copy = try directory.copy()
    try await backend.commit(set("c/after", [:]))
    let revived = try makeBackend(.directory(copy.path))

    let documents = try await revived.runQuery(query("c"), in: database)
    #expect(documents.count == 50)
    #expect(documents.allSatisfy { $0["n"] == .integer(Int64($0.key.documentID) ?? -1) })
    let count = try await revived.aggregate(
      ReadRequest(ServedQuery(query("c")), in: database), [Aggregation(alias: "n", function: .count)]
    ).values
    #expect(count["n"] == 50)
  }

  @Test("The error for a directory in use names its process; after a close, opening works")
  func locked() async throws {
    let directory = TemporaryFolder()
    do {
      let backend = try makeBackend(.directory(directory.path))
      let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(directory.path)) }
      #expect(error?.kind == .locked)
      #expect(error?.status.code == .failedPrecondition)
      #expect(error?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
      try await backend.commit(set("c/a", [:]))
    }
    #expect(try await makeBackend(.directory(directory.path)).read("c/a").exists)
  }

  @Test("A file that is not a database is reported and left in place")
  func garbage() async throws {
    let directory = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    let garbage = Data(repeating: 0x55, count: 8192)
    let file = directory.path + "/backend.sqlite3"
    try garbage.write(to: URL(fileURLWithPath: file))

    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(directory.path)) }

    #expect(error?.kind == .corrupt)
    #expect(error?.status.code == .dataLoss)
    #expect(error?.message.contains(file) == true)
    #expect(error?.message.contains("'hearth repair --data \(directory.path)'") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == garbage)
  }

  @Test("The error for a directory that cannot be created names the directory")
  func notWritable() throws {
    let directory = TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: directory.path))
    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(directory.path + "/data")) }
    #expect(error?.kind == .notWritable)
    #expect(error?.message.contains(directory.path) == true)
  }

  @Test("A database of a later version is left unchanged")
  func newerSchema() throws {
    let directory = TemporaryFolder()
    do {
      let file = try BackendFile(BackendConfiguration(location: .directory(directory.path), now: TestClock().now))
      try file.access { connection throws(StoreError) in
        try connection.execute("PRAGMA user_version = 99")
      }
    }
    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(directory.path)) }
    #expect(error?.kind == .newerSchema)
  }
}
