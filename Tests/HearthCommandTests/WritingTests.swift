// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

/// Data in memory, as commands find it.
private struct Ground {
  let datastore: InProcessDatastore
  let owner: DatabaseID

  init(_ documents: [String: Fields], in owner: DatabaseID = database) async throws {
    self.owner = owner
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    datastore = InProcessDatastore(backend: backend, database: owner)
    let writes = documents.map { Mutation(key: key($0), operation: .set($1)) }
    for start in stride(from: 0, to: writes.count, by: 500) {
      _ = try await datastore.commit(Array(writes[start..<min(start + 500, writes.count)]))
    }
  }

  /// All documents.
  func paths() async throws -> [String] {
    var paths: [String] = []
    let walk = DocumentWalk(at: datastore, owner, isRecursive: true)
    for id in try await datastore.listCollectionIDs(below: .root) {
      try await walk.visit(ResourcePath(id)) { paths.append($0.key.path.text) }
    }
    return paths
  }

  func fields(_ path: String) async throws -> Fields? {
    try await datastore.lookup([key(path)]).first?.data?.fields
  }
}

@Suite struct RecursiveDeletionTests {
  private func delete(_ roots: String..., in ground: Ground) async throws -> Int {
    var deletion = RecursiveDeletion(at: ground.datastore, database)
    try await deletion.run(roots.map { ResourcePath($0) }) { _ in }
    return deletion.deleted
  }

  @Test("Deleting a collection deletes all descendants and nothing else")
  func collection() async throws {
    let ground = try await Ground([
      "a/b": [:], "a/b/c/d": [:], "a/ghost/c/d": [:], "a/ghost/c/ghost/e/f": [:], "ab/kept": [:], "b/a/b/kept": [:],
    ])
    #expect(try await delete("a", in: ground) == 4)
    #expect(try await ground.paths() == ["ab/kept", "b/a/b/kept"])
    #expect(try await delete("a", in: ground) == 0)
  }

  @Test("Deleting documents also deletes their descendants, each only once")
  func documents() async throws {
    let ground = try await Ground(["a/b": [:], "a/b/c/d": [:], "a/bc": [:], "a/ghost/c/d": [:]])
    #expect(try await delete("a/b/c/d", "a/b", "a/ghost", in: ground) == 3)
    #expect(try await ground.paths() == ["a/bc"])
  }

  @Test("Collections with several pages of names and with subcollections are deleted")
  func pages() async throws {
    var documents: [String: Fields] = [:]
    for number in 0..<2500 { documents["a/\(number)"] = [:] }
    for number in stride(from: 0, to: 2500, by: 50) { documents["a/\(number)/c/d"] = [:] }
    let ground = try await Ground(documents)
    #expect(try await delete("a", in: ground) == 2550)
    #expect(try await ground.paths() == [])
  }
}

@Suite struct BulkWriterTests {
  @Test("A document that fails its precondition is skipped, and the others are written")
  func skipping() async throws {
    var documents: [String: Fields] = [:]
    for number in 0..<20 where number != 7 { documents["a/\(number)"] = ["n": 0] }
    let ground = try await Ground(documents)
    let writer = BulkWriter(datastore: ground.datastore, isRepeatable: false)
    var told: [Int] = []
    let outcome = try await writer.write { add in
      for number in 0..<20 {
        let update = Mutation(
          key: key("a/\(number)"), operation: .patch(["n": 1], FieldMask([FieldPath("n")])),
          precondition: .exists(true))
        try await add(BulkWriter.Unit(key: update.key, mutations: [update]))
      }
    } progress: {
      told.append($0)
    }
    #expect(outcome.written == 19 && told == [19])
    #expect(outcome.skipped.map(\.key) == [key("a/7")])
    #expect(try await ground.datastore.keys(of: Query(path: ResourcePath("a"), filters: [ones]).target).count == 19)
  }

  private var ones: Filter { .field(FieldFilter(FieldPath("n"), .equal, .integer(1))) }

  @Test("A server rejection ends the work and reports the documents written before it")
  func refusal() async throws {
    let ground = try await Ground([:])
    let writer = BulkWriter(datastore: ground.datastore, isRepeatable: false)
    do {
      _ = try await writer.write { add in
        for number in 0..<501 {
          let id = number == 500 ? "__reserved__" : "\(number)"
          try await add(
            BulkWriter.Unit(key: key("a/\(id)"), mutations: [Mutation(key: key("a/\(id)"), operation: .set([:]))]))
        }
      } progress: { _ in
      }
      Issue.record("nothing was refused")
    } catch let interruption as BulkWriter.Interruption {
      #expect(interruption.done.written == 500)
      #expect((interruption.failure("updated") as? CommandFailure)?.message.hasSuffix("Updated so far: 500.") == true)
    }
  }
}

@Suite struct DocumentCopyTests {
  private let documents: [String: Fields] = [
    "a/x": ["n": 1], "a/y": ["n": 2], "a/x/sub/s": ["n": 3], "a/ghost/sub/t": ["n": 4], "b/x": ["n": 5],
  ]

  private func copy(
    _ source: String, _ named: String, in ground: Ground, recursive: Bool = false, move: Bool = false,
    overwrites: Bool = false
  ) async throws -> Int {
    let source = ResourcePath(source)
    let copy = DocumentCopy(
      source: DocumentCopy.Place(datastore: ground.datastore, database: database, path: source),
      destination: DocumentCopy.Place(
        datastore: ground.datastore, database: database,
        path: DocumentCopy.destination(of: source, ResourcePath(named))),
      isRecursive: recursive, isMove: move, overwrites: overwrites)
    try copy.check()
    return try await copy.run { _ in }.written
  }

  @Test("Documents and collections are copied to a path, with or without descendants")
  func places() async throws {
    let ground = try await Ground(documents)
    #expect(try await copy("a/x", "c/z", in: ground) == 1)
    #expect(try await copy("a/x", "d", in: ground, recursive: true) == 2)
    #expect(try await copy("a", "e", in: ground) == 2)
    #expect(try await copy("a", "f/g", in: ground, recursive: true) == 4)
    #expect(
      try await ground.paths().filter { !$0.hasPrefix("a/") && !$0.hasPrefix("b/") } == [
        "c/z", "d/x", "d/x/sub/s", "e/x", "e/y", "f/g/a/ghost/sub/t", "f/g/a/x", "f/g/a/x/sub/s", "f/g/a/y",
      ])
    #expect(try await ground.fields("f/g/a/ghost/sub/t") == ["n": 4])
  }

  @Test("A move leaves nothing at the source")
  func move() async throws {
    let ground = try await Ground(documents)
    #expect(try await copy("a", "c", in: ground, recursive: true, move: true) == 4)
    #expect(try await ground.paths() == ["b/x", "c/ghost/sub/t", "c/x", "c/x/sub/s", "c/y"])
  }

  @Test("Existing destination documents are kept unless overwriting is requested")
  func destination() async throws {
    let ground = try await Ground(documents)
    await #expect { try await copy("a", "b", in: ground) } throws: { ($0 as? CommandFailure)?.status == .alreadyExists }
    await #expect { try await copy("a/y", "b/x", in: ground) } throws: {
      ($0 as? CommandFailure)?.status == .alreadyExists
    }
    #expect(try await ground.fields("b/x") == ["n": 5])
    #expect(try await copy("a", "b", in: ground, overwrites: true) == 2)
    #expect(try await ground.fields("b/x") == ["n": 1])
  }

  @Test("An invalid target path and an empty source have different exit statuses")
  func refusals() async throws {
    let ground = try await Ground(documents)
    func status(_ source: String, _ named: String, recursive: Bool = true) async -> CInt? {
      do {
        _ = try await copy(source, named, in: ground, recursive: recursive)
        return nil
      } catch { return (error as? CommandFailure)?.status.rawValue }
    }
    #expect(await status("a", "a") == 64)
    #expect(await status("a/x", "a") == 64)
    #expect(await status("a", "a/x") == 64)
    #expect(await status("nothing", "c") == 4)
    #expect(await status("a/nobody", "c") == 4)
    #expect(await status("a/x", "a/x/sub", recursive: false) == nil)
  }

  private let other = DatabaseID(project: "other", database: "(default)")

  private func transfer(_ path: String, from ground: Ground, to there: Ground) -> DocumentCopy {
    DocumentCopy(
      source: DocumentCopy.Place(datastore: ground.datastore, database: database, path: ResourcePath(path)),
      destination: DocumentCopy.Place(datastore: there.datastore, database: other, path: ResourcePath(path)),
      isElsewhere: true, isRecursive: true)
  }

  @Test("Copying a database rewrites references to it, and keeps references to others")
  func elsewhere() async throws {
    var documents = documents
    let foreign = Value.reference(DatabaseID(project: "third", database: "d"), key("a/x"))
    documents["a/x"] = [
      "own": .reference(database, key("a/y")), "foreign": foreign,
      "deep": .map(["list": .array([.reference(database, key("b/x"))])]),
    ]
    let (ground, there) = (try await Ground(documents), try await Ground([:], in: other))
    #expect(try await transfer("", from: ground, to: there).count { _ in } == 5)
    #expect(try await transfer("", from: ground, to: there).run { _ in }.written == 5)
    #expect(try await there.paths() == ground.paths())
    #expect(
      try await there.fields("a/x") == [
        "own": .reference(other, key("a/y")), "foreign": foreign,
        "deep": .map(["list": .array([.reference(other, key("b/x"))])]),
      ])
    await #expect { try await transfer("", from: ground, to: there).run { _ in } } throws: {
      ($0 as? CommandFailure)?.status == .alreadyExists
    }
    var again = transfer("a", from: ground, to: there)
    again.overwrites = true
    #expect(try await again.run { _ in }.written == 4)
  }

  @Test("A move to another database keeps source documents that changed meanwhile")
  func moveElsewhere() async throws {
    let (ground, there) = (try await Ground(documents), try await Ground([:], in: other))
    var move = transfer("a", from: ground, to: there)
    move.isMove = true
    move.source.datastore = StaleDatastore(base: ground.datastore, stale: key("a/y"))
    let outcome = try await move.run { _ in }
    #expect(outcome.written == 3 && outcome.skipped.map(\.key) == [key("a/y")])
    #expect(try await ground.paths() == ["a/y", "b/x"])
    #expect(try await there.paths() == ["a/ghost/sub/t", "a/x", "a/x/sub/s", "a/y"])
  }

  @Test("A destination has the source's project and database unless an option names one")
  func destinations() throws {
    let here = try StorageOptions.parse(["--data", "/d", "--project", "p", "--database", "b"]).locations
    func there(_ arguments: String...) throws -> String {
      try DestinationOptions.parse(arguments).applied(to: here).name
    }
    #expect(try there() == "p/b in /d")
    #expect(try there("--to-database", "c") == "p/c in /d")
    #expect(try there("--to-project", "q") == "q/b in /d")
    #expect { try there("--to-project", "a/b") } throws: {
      DestinationOptions.message(for: $0).contains("Invalid --to-project: \"a/b\"")
    }
  }
}

/// A database in which a document is changed each time before it is deleted.
private struct StaleDatastore: DatastoreWrapper {
  let base: any Datastore
  let stale: DocumentKey

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    if mutations.contains(where: { $0.key == stale }) {
      _ = try await base.commit([Mutation(key: stale, operation: .set(["n": 0]))])
    }
    return try await base.commit(mutations)
  }
}
