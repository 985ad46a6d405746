// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// Instances, references, snapshots and errors as values.
@Suite(.timeLimit(.minutes(10)))
struct ReferenceTests {
  @Test("Each database has one instance; the default app uses the default database")
  func instances() {
    #expect(Firestore.firestore() === Firestore.firestore(app: .default))
    #expect(Firestore.firestore() === Firestore.firestore(database: "(default)"))
    #expect(Firestore.firestore(database: "second") !== Firestore.firestore())
    #expect(Firestore.firestore(database: "second").databaseID == "second")
    #expect(Firestore.firestore().app == .default)
  }

  @Test("References have ids, paths, parents and children")
  func paths() {
    let db = Firestore.firestore(app: FirestoreApp(name: "references", backend: .inMemory.patient))
    let district = db.document("/cities/SF/districts/Mission/")
    #expect(district.documentID == "Mission")
    #expect(district.path == "cities/SF/districts/Mission")
    #expect(district.parent.collectionID == "districts")
    #expect(district.parent.path == "cities/SF/districts")
    #expect(district.parent.parent == db.document("cities/SF"))
    #expect(district.parent.parent?.parent.parent == nil)
    #expect(district.firestore === db)
    #expect(district == db.collection("cities").document("SF").collection("districts").document("Mission"))
    #expect(db.collection("cities").document("SF/districts/Mission") == district)
    let ids = (0..<100).map { _ in db.collection("cities").document().documentID }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { $0.utf8.count == 20 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
  }

  @Test("Snapshots with equal keys and data are equal, whatever their metadata")
  func snapshotEquality() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await test.db.disableNetwork()
      try await city.enqueueData(["name": "San Francisco"]).local
      let pending = try await city.getDocument()
      try await test.db.enableNetwork()
      try await test.db.waitForPendingWrites()
      let stored = try await city.getDocument(source: .server)
      #expect(pending.metadata != stored.metadata)
      #expect(pending == stored)
      try await city.updateData(["name": "SF"])
      #expect((try await city.getDocument() == stored) == false)
      #expect((try await test.db.document("cities/LA").getDocument(source: .server) == stored) == false)
      let query = test.db.collection("cities")
      #expect(try await query.getDocuments(source: .server) == query.getDocuments(source: .server))
    }
  }

  @Test("Timestamps keep microseconds like the backend")
  func timestampPrecision() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await city.setData(["at": Timestamp(seconds: 1, nanoseconds: 123_456_789)])
      let stored = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(stored.get("at") as? Timestamp == Timestamp(seconds: 1, nanoseconds: 123_456_000))
    }
    #expect(Timestamp(seconds: 1, nanoseconds: 2) < Timestamp(seconds: 1, nanoseconds: 3))
    #expect(Timestamp(date: Date(timeIntervalSince1970: 1.5)) == Timestamp(seconds: 1, nanoseconds: 500_000_000))
    #expect(Timestamp(date: Date(timeIntervalSince1970: -0.5)) == Timestamp(seconds: -1, nanoseconds: 500_000_000))
  }

  @Test("Listeners and completions run in order on the queue in the settings")
  func dispatchQueue() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "callbacks")
    queue.setSpecific(key: key, value: "here")
    let settings = FirestoreSettings()
    settings.dispatchQueue = queue
    db.settings = settings
    let calls = Events<String>()
    @Sendable func note(_ what: String) {
      calls.send(what + " " + (DispatchQueue.getSpecific(key: key) ?? "elsewhere"))
    }
    db.document("cities/SF").addSnapshotListener { _, _ in note("listener") }
    #expect(await calls.next() == "listener here")
    db.document("cities/LA").setData([:]) { _ in note("write") }
    #expect(await calls.next() == "write here")
    db.document("cities/LA").getDocument { _, _ in note("read") }
    #expect(await calls.next() == "read here")
    db.runTransaction({ _, _ in nil }, completion: { _, _ in note("transaction") })
    #expect(await calls.next() == "transaction here")
    db.document("a/b/c").getDocument { _, _ in note("mistake") }
    #expect(await calls.next() == "mistake here")
    db.loadBundle(Data()).addObserver { _ in note("bundle") }
    #expect(await calls.next() == "bundle here")
    db.terminate { _ in note("end") }
    #expect(await calls.next() == "end here")
  }

  @Test("Error codes have the numbers and names of the other SDKs")
  func errorCodes() {
    let names = [
      "ok", "cancelled", "unknown", "invalid-argument", "deadline-exceeded", "not-found", "already-exists",
      "permission-denied", "resource-exhausted", "failed-precondition", "aborted", "out-of-range", "unimplemented",
      "internal", "unavailable", "data-loss", "unauthenticated",
    ]
    #expect(FirestoreErrorCode.Code.allCases.map(\.name) == names)
    #expect(FirestoreErrorCode.Code.allCases.map(\.rawValue) == Array(0...16))
    let error = FirestoreError(.notFound, "No document to update.") as any Error as NSError
    #expect(error.domain == FirestoreErrorDomain)
    #expect(FirestoreErrorCode.Code(rawValue: error.code) == .notFound)
    #expect(error.localizedDescription == "No document to update.")
  }
}
