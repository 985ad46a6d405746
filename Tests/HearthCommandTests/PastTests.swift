// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

/// Reading what was there before.
@Suite struct PastTests {
  private func walked(_ datastore: any Datastore) async throws -> [String] {
    var paths: [String] = []
    try await DocumentWalk(at: datastore, database, isRecursive: true).visit(.root) { paths.append($0.key.path.text) }
    return paths
  }

  @Test("Reads in the past return that moment's documents, query results and counts")
  func reading() async throws {
    let clock = TestClock(seconds: 1_700_000_000)
    let datastore = try clock.datastore()
    _ = try await datastore.commit(
      ["a/b", "a/ghost/c/d", "x/y"].map { Mutation(key: key($0), operation: .set(["n": 1])) })
    clock.advance(seconds: 60)
    let before = clock.time
    clock.advance(seconds: 60)
    _ = try await datastore.commit(["a/b", "a/ghost/c/d"].map { Mutation(key: key($0), operation: .delete) })
    _ = try await datastore.commit([Mutation(key: key("x/y"), operation: .set(["n": 2]))])
    _ = try await datastore.commit([Mutation(key: key("x/z"), operation: .set(["n": 3]))])

    let past = PastDatastore(base: datastore, time: before)

    #expect(try await walked(past) == ["a/b", "a/ghost/c/d", "x/y"])
    #expect(try await walked(datastore) == ["x/y", "x/z"])
    #expect(try await past.lookup([key("x/y")]).first?.data?.fields == ["n": 1])
    #expect(try await past.count(Query(path: ResourcePath("x"))) == 1)
    #expect(try await past.key(at: 0, of: Query(path: ResourcePath("x")).target) == key("x/y"))
    #expect(try await past.key(at: 1, of: Query(path: ResourcePath("x")).target) == nil)
    #expect(try await past.databases(of: nil) == [database])
    let status = await #expect(throws: RPCStatus.self) { try await past.execute(PipelineMessage([])) }
    #expect(status?.code == .unimplemented)
  }

  @Test("A read time too old or in the future gets a clear error; past data is read-only")
  func refusals() async throws {
    let clock = TestClock(seconds: 1_700_000_000)
    let datastore = try clock.datastore()
    _ = try await datastore.commit([Mutation(key: key("a/b"), operation: .set([:]))])
    clock.advance(seconds: 7200)
    _ = try await datastore.commit([Mutation(key: key("a/c"), operation: .set([:]))])
    func refusal(_ seconds: Int64) async -> RPCStatus? {
      let time = SnapshotVersion(Timestamp(seconds: clock.now().seconds + seconds))
      do throws(RPCStatus) {
        _ = try await PastDatastore(base: datastore, time: time).listCollectionIDs(below: .root)
        return nil
      } catch { return error }
    }
    #expect(await refusal(-60) == nil)
    let old = await refusal(-7000)
    #expect(
      old?.code == .outOfRange && old?.message.contains("cannot be read. The oldest readable time is ") == true
        && old?.message.hasSuffix("earlier versions are kept for an hour.") == true)
    let future = await refusal(600)
    #expect(future?.code == .outOfRange && future?.message.contains("later than the backend's clock") == true)
    await #expect(throws: RPCStatus.self) {
      try await PastDatastore(base: datastore, time: clock.time).commit([])
    }
  }

  @Test("A read as of its start returns that version, even hours after the last commit")
  func beginning() async throws {
    let clock = TestClock(seconds: 1_700_000_000)
    let datastore = try clock.datastore()
    _ = try await datastore.commit(["a/b", "a/b/c/d"].map { Mutation(key: key($0), operation: .set(["k": 1])) })
    clock.advance(seconds: 7200)
    // This device's clock may be ahead of the backend's.
    for ahead in [0, 300] as [Int64] {
      let now = Timestamp(seconds: clock.now().seconds + ahead)
      let time = try #require(try await datastore.beginning(now: now))
      #expect(time <= clock.time)
    }
    let time = try #require(try await datastore.beginning(now: clock.now()))
    clock.advance(seconds: 1)
    _ = try await datastore.commit(["a/b", "a/b/c/d"].map { Mutation(key: key($0), operation: .set(["k": 2])) })
    let past = PastDatastore(base: datastore, time: time, isBeginning: true)

    var values: [Value?] = []
    try await DocumentWalk(at: past, database, isRecursive: true).visit(.root) { values.append($0.data?.fields["k"]) }

    #expect(values == [1, 1])
  }

  @Test("A read whose start time was pruned fails with advice")
  func lostBeginning() async throws {
    let clock = TestClock(seconds: 1_700_000_000)
    let datastore = try clock.datastore()
    _ = try await datastore.commit([Mutation(key: key("a/b"), operation: .set(["k": 1]))])
    let time = try #require(try await datastore.beginning(now: clock.now()))
    clock.advance(seconds: 7200)
    _ = try await datastore.commit([Mutation(key: key("a/b"), operation: .set(["k": 2]))])
    let past = PastDatastore(base: datastore, time: time, isBeginning: true)
    let status = await #expect(throws: RPCStatus.self) {
      try await DocumentWalk(at: past, database, isRecursive: true).visit(.root) { _ in }
    }
    #expect(status?.code == .aborted && status?.message.contains("--live") == true, "\(status?.message ?? "")")
    #expect(ExitStatus(.aborted) == .tryAgain)
    #expect(try await UnavailablePast(base: datastore).beginning(now: clock.now()) == nil)
  }

  @Test("A projection returns the selected fields and the fields of the query's order")
  func projection() async throws {
    let datastore = try TestClock(seconds: 1_700_000_000).datastore()
    for number in 0..<3 {
      let fields: Fields = ["n": .integer(Int64(-number)), "m": .map(["x": 1, "y": 2]), "big": "…"]
      _ = try await datastore.commit([Mutation(key: key("c/\(number)"), operation: .set(fields))])
    }
    let mask = FieldMask([FieldPath(segments: ["m", "x"])])
    var pages = DocumentPages(of: Query(path: ResourcePath("c")), at: datastore, database, projection: mask)
    #expect(try await pages.next()?.map { $0.data?.fields } == Array(repeating: ["m": .map(["x": 1])], count: 3))
    let ordered = Query(path: ResourcePath("c"), explicitOrderBy: [OrderBy(FieldPath("n"), .ascending)])
    pages = DocumentPages(of: ordered, at: datastore, database, projection: mask)
    try await pages.drop(1)
    let page = try #require(try await pages.next())
    #expect(page.map(\.key) == [key("c/1"), key("c/0")])
    #expect(page.first?.data?.fields == ["n": -1, "m": .map(["x": 1])])
    #expect(try await datastore.lookup([key("c/1")], .names).first?.data?.fields == [:])
  }

  @Test("A moment on the command line is a time, a day, an age or now, in microseconds")
  func moments() throws {
    let now = Timestamp(seconds: 1000, nanoseconds: 123_456_789)
    func parse(_ text: String) -> Timestamp? { try? MomentText.parse(text, now: now) }
    #expect(parse("now") == Timestamp(seconds: 1000, nanoseconds: 123_456_000))
    #expect(parse("-90s") == Timestamp(seconds: 910, nanoseconds: 123_456_000))
    #expect(parse("-1m") == Timestamp(seconds: 940, nanoseconds: 123_456_000))
    #expect(parse("1970-01-01T00:00:05.0000019Z") == Timestamp(seconds: 5, nanoseconds: 1000))
    #expect(parse("1970-01-02") == Timestamp(seconds: 86400))
    for wrong in ["", "-", "5m", "yesterday", "-5x", "cities"] { #expect(parse(wrong) == nil, "\(wrong)") }
  }

  @Test("In a side of diff, the text after the last @ is a moment or part of the name")
  func sides() throws {
    let locations = try StorageOptions.parse(["--in-memory"]).locations
    func side(_ text: String) throws -> (ResourcePath, Timestamp?)? {
      guard case .database(_, let path, let time) = try ComparedSide(text, in: locations) else { return nil }
      return (path, time)
    }
    #expect(try side("users/ada@example.com")?.0.text == "users/ada@example.com")
    #expect(try side("users/ada@example.com")?.1 == nil)
    let dated = try side("users/ada@example.com@1970-01-02")
    #expect(dated?.0.text == "users/ada@example.com" && dated?.1 == Timestamp(seconds: 86400))
    #expect(try side("/@now")?.0.isRoot == true && side("/@now")?.1 != nil)
    #expect { try side("nothing.gz") } throws: { ($0 as? CommandFailure)?.status == .noInput }
    #expect(throws: CommandFailure.self) { try ComparedSide("c@1970-01-02", in: locations).at(Timestamp(seconds: 1)) }
  }
}

extension TestClock {
  fileprivate var time: SnapshotVersion { SnapshotVersion(now()) }

  fileprivate func datastore() throws -> InProcessDatastore {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: now))
    return InProcessDatastore(backend: backend, database: database)
  }
}

/// A backend that answers for the present only.
private struct UnavailablePast: DatastoreWrapper {
  let base: any Datastore

  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    if let read = read as? any TimedRead, read.view.time != nil {
      throw RPCStatus(.unimplemented, "This backend answers for the present only.")
    }
    return try await base.read(read)
  }
}
