// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreLocal
@testable import FirestoreSQLite

/// What stores that share a cache do besides what the spec tests say of several clients.
@Suite struct SharingTests {
  private let folder = TemporaryFolder()

  private func open(isShared: Bool = true) throws -> LocalStore {
    try LocalStore(
      LocalStoreConfiguration(
        location: .directory(folder.path), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20),
        database: DatabaseID(project: "p"), isShared: isShared))
  }

  private func set(_ path: String, _ number: Int64) -> Mutation {
    Mutation(key: key(path), operation: .set(["n": .integer(number)]))
  }

  private static let time = Timestamp(seconds: 0)

  @Test("A client may become primary depending on network, visibility and the lease")
  func candidates() {
    func client(_ alive: Int64, network: Bool, visible: Bool) -> SharingTables.Client {
      SharingTables.Client(id: 2, alive: alive, usesNetwork: network, isVisible: visible, heard: 0)
    }
    func may(
      _ network: Bool, _ visible: Bool, lease: (holder: Int64, time: Int64)? = nil, _ others: [SharingTables.Client]
    ) -> Bool {
      Lease.mayBeTaken(
        by: 1, SharedClientState(usesNetwork: network, isVisible: visible), lease, others: others, at: 20_000_000)
    }
    #expect(may(false, false, []))
    // A lease holds five seconds; its holder gives it up for somebody who is online.
    #expect(!may(true, true, lease: (2, 15_000_000), []))
    #expect(may(true, true, lease: (2, 14_999_999), []))
    #expect(may(true, false, lease: (1, 20_000_000), [client(20_000_000, network: true, visible: true)]))
    #expect(!may(false, true, lease: (1, 20_000_000), [client(20_000_000, network: true, visible: false)]))
    // Whoever is online or, of two equals, visible is better placed, if it has said so lately.
    #expect(!may(false, true, [client(20_000_000, network: true, visible: false)]))
    #expect(!may(true, false, [client(20_000_000, network: true, visible: true)]))
    #expect(may(true, false, [client(14_000_000, network: true, visible: true)]))
    #expect(may(true, false, [client(20_000_000, network: false, visible: true)]))
    // A time in the future is no time.
    #expect(may(true, true, lease: (2, 20_000_001), []))
  }

  @Test("A notice to other clients round-trips through storage")
  func notices() throws {
    let response = CommitResponse(
      commitTime: SnapshotVersion(microseconds: 5),
      results: [MutationResult(version: SnapshotVersion(microseconds: 4), transformResults: [.integer(3), .null])])
    let keys = [key("a/b"), key("a/ü")]
    let all: [Notice] = [
      .batchAdded(BatchID(7)), .batchSettled(BatchID(7), .acknowledged(response), keys),
      .batchSettled(BatchID(8), .rejected(RPCStatus(.permissionDenied, "no")), keys), .documents(keys), .documents(nil),
      .bundle(keys), .bundle(nil), .target(TargetID(4), isCurrent: true), .target(TargetID(4), isCurrent: false),
      .targetRefused(TargetID(4), RPCStatus(.unauthenticated, "who?")), .targets, .onlineState, .rejectedWrites,
      .cleared,
    ]
    for notice in all {
      let again = try Notice(notice.kind.rawValue, notice.subject, notice.content)
      #expect("\(again)" == "\(notice)")
    }
    #expect(throws: StoreError.self) { _ = try Notice(99, nil, []) }
    #expect(throws: StoreError.self) { _ = try Notice(Notice.Kind.documents.rawValue, nil, [0xff]) }
  }

  @Test("Stores of one cache share data and never assign the same batch or target id")
  func numbers() throws {
    var first = try open()
    var second = try open()
    try first.start(user: nil)
    try second.start(user: nil)
    var batches: [BatchID] = []
    for number in 0..<4 {
      batches.append(try first.write([set("rooms/a", Int64(number))], at: Self.time).batchID)
      batches.append(try second.write([set("rooms/b", Int64(number))], at: Self.time).batchID)
    }
    #expect(batches == batches.sorted() && Set(batches).count == 8)
    #expect(try first.pendingBatches().map(\.id) == batches)
    #expect(try first.document(key("rooms/b"))?.data?.fields == ["n": .integer(3)])

    let rooms = try first.allocateTarget(Query(path: ResourcePath("rooms")).target)
    let other = try second.allocateTarget(Query(path: ResourcePath("halls")).target)
    #expect(try second.allocateTarget(Query(path: ResourcePath("rooms")).target).id == rooms.id)
    #expect(rooms.id != other.id)
    first.close()
    second.close()
  }

  @Test("Another user's pending write is applied to a new version of the document (S9)")
  func otherUsers() throws {
    var first = try open()
    var second = try open()
    try first.start(user: "ada")
    try second.start(user: "bob")
    _ = try first.refreshLease(SharedClientState(usesNetwork: true, isVisible: false), wasPrimary: false, at: Self.time)
    var add = Mutation(key: key("rooms/a"), operation: .patch(Fields(), FieldMask([])))
    add.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))]
    _ = try second.write([add], at: Self.time)

    let version = SnapshotVersion(microseconds: 10)
    let document = Document(
      key: key("rooms/a"), version: version, state: .found(DocumentData(["n": .integer(41), "m": .integer(2)])))
    _ = try first.apply(RemoteEvent(version: version, documents: [document.key: document]))

    #expect(try first.document(key("rooms/a"))?.data?.fields == ["n": .integer(41), "m": .integer(2)])
    #expect(try second.document(key("rooms/a"))?.data?.fields == ["n": .integer(1), "m": .integer(2)])
    #expect(try second.checkInvariants() == [])
    first.close()
    second.close()
  }

  @Test("A client that lost the lease cannot store changes reserved to the primary")
  func lostLease() throws {
    var first = try open()
    var second = try open()
    try first.start(user: nil)
    try second.start(user: nil)
    let state = SharedClientState(usesNetwork: true, isVisible: false)
    #expect(try first.refreshLease(state, wasPrimary: false, at: Self.time).lease.isHeld)
    #expect(try !second.refreshLease(state, wasPrimary: false, at: Self.time).lease.isHeld)
    // The first was stopped for six seconds.
    #expect(try second.refreshLease(state, wasPrimary: false, at: Timestamp(seconds: 6)).lease.isHeld)

    let batch = try first.write([set("rooms/a", 1)], at: Self.time).batchID
    let answer = CommitResponse(
      commitTime: SnapshotVersion(microseconds: 9),
      results: [MutationResult(version: SnapshotVersion(microseconds: 9))])
    let refusal = #expect(throws: StoreError.self) { _ = try first.acknowledge(batch, answer) }
    #expect(refusal?.kind == .leaseLost)
    #expect(try first.pendingBatches().map(\.id) == [batch])
    let lost = try first.refreshLease(state, wasPrimary: true, at: Timestamp(seconds: 6)).lease
    #expect(!lost.isHeld && lost.wasLost)
    first.close()
    #expect(try second.refreshLease(state, wasPrimary: true, at: Timestamp(seconds: 7)).lease.isHeld)
    second.close()
  }

  @Test("Notices that every client has read are deleted")
  func forgotten() throws {
    var first = try open()
    var second = try open()
    try first.start(user: nil)
    try second.start(user: nil)
    let state = SharedClientState(usesNetwork: true, isVisible: false)
    _ = try first.refreshLease(state, wasPrimary: false, at: Self.time)
    for number in 0..<5 { _ = try first.write([set("rooms/a", Int64(number))], at: Self.time) }

    let news = try #require(try second.news(isPrimary: false))
    second.heard(news)
    _ = try second.refreshLease(state, wasPrimary: false, at: Self.time)
    let own = try #require(try first.news(isPrimary: true))
    first.heard(own)
    _ = try first.refreshLease(state, wasPrimary: true, at: Self.time)

    #expect(!news.notices.isEmpty && own.notices.isEmpty)
    #expect(try first.database.connection.integer("SELECT count(*) FROM sharing_notices") == 0)
    second.close()
    first.close()
  }

  @Test("A single client writes no notices, and a cache can turn sharing on and off")
  func alone() throws {
    var store = try open()
    try store.start(user: nil)
    _ = try store.write([set("rooms/a", 1)], at: Self.time)
    let wasAlone = store.isAlone
    #expect(wasAlone)
    #expect(try store.database.connection.integer("SELECT count(*) FROM sharing_notices") == 0)
    var guest = try open()
    try guest.start(user: nil)
    _ = try store.write([set("rooms/a", 2)], at: Self.time)
    let isAlone = store.isAlone
    #expect(!isAlone)
    #expect(try store.database.connection.integer("SELECT count(*) FROM sharing_notices") == 1)
    #expect(try guest.news(isPrimary: false)?.notices.count == 1)
    guest.close()
    store.close()

    let refusal = try open(isShared: false)
    #expect(try refusal.checkInvariants() == [])
    let error = #expect(throws: StoreError.self) { _ = try open() }
    #expect(error?.kind == .locked && error?.message.contains("which does not share it") == true)
    refusal.close()
    let again = try open()
    #expect(try again.checkInvariants() == [])
    let count = again.clientCount
    #expect(count == 1)
    again.close()
  }
}
