// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// Every snapshot says why it fired.
@Suite("Snapshot causes", .timeLimit(.minutes(10)))
struct SnapshotCauseTests {
  @Test("Local writes, acknowledgements and network changes are reported as causes")
  func writes() async throws {
    try await TestDatabase.run { test async throws in
      let causes = Events<[SnapshotCause]>()
      test.db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        if let snapshot { causes.send(snapshot.metadata.causes) }
      }
      let first = await causes.next()
      #expect(first?.first == .listenerAdded)

      let write = try test.db.document("cities/SF").enqueueData(["n": 1])
      let id = try await write.id
      #expect(await causes.first { $0.contains(.localWrite(id)) } != nil)
      // The view changes when the acknowledgement is there and the watch stream has the document, in whatever order.
      #expect(await causes.first { $0.contains { $0.name == "server" || $0 == .acknowledged(id) } } != nil)

      try await test.db.disableNetwork()
      #expect(await causes.first { $0.contains(.networkDisabled) } == [.networkDisabled])

      let taken = try test.db.document("cities/LA").enqueueData(["n": 1])
      let takenID = try await taken.id
      #expect(await causes.first { $0.contains(.localWrite(takenID)) } == [.localWrite(takenID)])
      try await test.db.cancelPendingWrite(takenID)
      #expect(await causes.first { $0.contains(.cancelled(takenID)) } == [.cancelled(takenID)])

      // The backend has the document already, so the write is rejected; the view had shown it deleted.
      let refused = try test.db.batch()
        .deleteDocument(test.db.document("cities/SF"))
        .updateData(["n": 2], forDocument: test.db.document("cities/none")).enqueue()
      let refusedID = try await refused.id
      #expect(await causes.first { $0.contains(.localWrite(refusedID)) } != nil)
      try await test.db.enableNetwork()
      let rejection = await causes.first { $0.contains { $0.name == "rejected" } }
      let description = rejection?.map(\.description).joined(separator: "; ")
      #expect(description?.contains("write #\(refusedID) rejected: not-found") == true)
    }
  }

  @Test("Server changes, existence filters and lookups are reported as causes")
  func server() async throws {
    let datastore = ScriptedDatastore()
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .datastore(datastore).patient))
    let causes = Events<[SnapshotCause]>()
    db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
      if let snapshot { causes.send(snapshot.metadata.causes) }
    }
    let stream = try #require(await datastore.watches.next())
    let target = try #require(await stream.target()).id

    await stream.send(
      .added([target]), .document(city("A"), updated: [target], removed: []),
      .document(city("B"), updated: [target], removed: []), .current([target], ResumeToken([1])),
      .snapshot(version(5), nil))
    #expect(await causes.next() == [.listenerAdded, .server(Hearth.Timestamp(seconds: 5, nanoseconds: 0))])

    await stream.send(.filter(target, ExistenceFilter(count: 1)), .snapshot(version(6), nil))
    let counted = await causes.first { $0.contains(.existenceFilter) }
    #expect(counted == [.server(Hearth.Timestamp(seconds: 6, nanoseconds: 0)), .existenceFilter])

    // The target is watched anew without its old result; B is not in the new one, so it is looked up.
    #expect(await stream.target()?.id == target)
    await stream.send(
      .removed([target], cause: nil), .added([target]), .document(city("A"), updated: [target], removed: []),
      .current([target], ResumeToken([2])), .snapshot(version(7), nil))
    let lookup = try #require(await stream.target())
    #expect(lookup.purpose == .limboResolution)
    await stream.send(.added([lookup.id]), .current([lookup.id], ResumeToken([3])), .snapshot(version(8), nil))
    let resolved = await causes.first { $0.contains(.limboResolved(path: "cities/B")) }
    #expect(resolved?.map(\.description).last == "looked up cities/B")

    // Losing an open connection may be nothing; not getting a new one means offline.
    stream.fail(RPCStatus(.unavailable, "gone"))
    let second = try #require(await datastore.watches.next())
    second.fail(RPCStatus(.unavailable, "gone"))
    #expect(await causes.first { $0.contains(.offline) } == [.offline])
    try await db.terminate()
  }

  @Test("A snapshot cause has a readable description")
  func descriptions() {
    let causes: [SnapshotCause] = [
      .listenerAdded, .localWrite(3), .acknowledged(3), .rejected(3, FirestoreError(.permissionDenied, "no")),
      .cancelled(3), .server(Hearth.Timestamp(seconds: 5, nanoseconds: 0)), .networkDisabled, .offline,
      .limboResolved(path: "cities/B"), .existenceFilter, .userChanged, .bundleLoaded("b"), .cacheRecovered,
    ]
    #expect(Set(causes.map(\.description)).count == causes.count)
    #expect(causes[5].description == "changes from the server as of 1970-01-01T00:00:05Z")
  }

  private func city(_ name: String) -> Document {
    Document(
      key: DocumentKey(unchecked: ResourcePath("cities/" + name)), version: version(5),
      state: .found(DocumentData(["n": .integer(1)])))
  }

  private func version(_ seconds: Int64) -> SnapshotVersion { SnapshotVersion(microseconds: seconds * 1_000_000) }
}

extension ScriptedDatastore.Connection<WatchRequest, WatchEvent> {
  /// The next target that the client wants to watch.
  fileprivate func target() async -> WatchTarget? {
    while let request = await request() { if case .add(let target) = request { return target } }
    return nil
  }

  fileprivate func send(_ changes: WatchChange...) async {
    for change in changes { await send(.changes([change])) }
  }
}
