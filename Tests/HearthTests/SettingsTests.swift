// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Dispatch
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// What can be set, what is equal, and what a client says about itself.
@Suite(.timeLimit(.minutes(10)))
struct SettingsTests {
  private func database(_ project: String = "p" + UUID().uuidString) -> Firestore {
    .firestore(app: FirestoreApp(name: UUID().uuidString, projectID: project, backend: .inMemory.patient))
  }

  @Test("useEmulator sets the host and port without TLS, before first use only")
  func emulator() async throws {
    let db = database()
    #expect(db.settings.host == "embedded" && FirestoreSettings().host == "firestore.googleapis.com")
    #expect(db.settings.isSSLEnabled)
    db.useEmulator(withHost: "::1", port: 8080)
    #expect(db.settings.host == "[::1]:8080")
    db.useEmulator(withHost: "localhost", port: 8080)
    #expect(db.settings.host == "localhost:8080")
    #expect(!db.settings.isSSLEnabled)
    try await db.document("a/b").enqueueData([:]).local

    db.useEmulator(withHost: "localhost", port: 9090)
    #expect(db.settings.host == "localhost:8080")
    await #expect { try await db.document("a/b").enqueueData([:]).local } throws: {
      code(of: $0) == .failedPrecondition
    }
    // The settings in force take the mistake back.
    db.useEmulator(withHost: "localhost", port: 8080)
    try await db.document("a/b").enqueueData([:]).local
    try await db.terminate()
  }

  @Test(
    "An invalid host or port fails every call until corrected",
    arguments: [("", 80), ("h", 0), ("h", 65536)])
  func wrongEmulator(host: String, port: Int) async throws {
    let db = database()
    db.useEmulator(withHost: host, port: port)
    await #expect { try await db.document("a/b").enqueueData([:]).local } throws: { code(of: $0) == .invalidArgument }
    db.useEmulator(withHost: "localhost", port: 8080)
    try await db.document("a/b").enqueueData([:]).local
    try await db.terminate()
  }

  @Test("Settings are copied and compared by value")
  func equality() {
    let db = database()
    let settings = db.settings
    #expect(settings == FirestoreSettings())
    #expect(settings.hashValue == FirestoreSettings().hashValue)
    settings.host = "example.com"
    #expect(settings != db.settings)
    #expect(db.settings.host == "embedded")
    let memory = FirestoreSettings()
    memory.cacheSettings = MemoryCacheSettings()
    #expect(memory != FirestoreSettings())
    let other = FirestoreSettings()
    other.isPersistenceEnabled = false
    #expect(memory == other)
    other.dispatchQueue = DispatchQueue(label: "elsewhere")
    #expect(memory != other)

    let (options, more) = (TransactionOptions(), TransactionOptions())
    #expect(options == more)
    more.maxAttempts = 6
    #expect(Set([options, more]).count == 2)
  }

  @Test("References, filters and sentinels are compared by value")
  func equalValues() {
    let (db, other) = (database(), database())
    #expect(FieldValue.increment(Int64(1)) == .increment(Int64(1)))
    #expect(FieldValue.increment(Int64(1)) != .increment(1.0))
    #expect(FieldValue.arrayUnion([1, "a"]) == .arrayUnion([1, "a"]))
    #expect(FieldValue.arrayUnion([1]) != .arrayRemove([1]))
    #expect(FieldValue.delete() != .serverTimestamp())
    let filter = Filter.andFilter([.whereField("a", isEqualTo: 1), .whereField("b", in: [1, 2])])
    #expect(filter == .andFilter([.whereField("a", isEqualTo: 1), .whereField("b", in: [1, 2])]))
    #expect(filter != .orFilter([.whereField("a", isEqualTo: 1), .whereField("b", in: [1, 2])]))
    #expect(db.collection("a").whereFilter(filter) == db.collection("a").whereFilter(filter))
    #expect((db.collection("a").limit(to: 1) == other.collection("a").limit(to: 1)) == false)
    #expect(Set([db.document("a/b"), db.collection("a").document("b"), other.document("a/b")]).count == 2)
    #expect(Set([db.collection("a"), db.document("a/b").parent, other.collection("a")]).count == 2)
    #expect(db.collection("a").count == db.collection("a").aggregate([.count()]))
    #expect(AggregateField.sum("a") == .sum(FieldPath(["a"])))
    #expect(AggregateField.sum("a") != .average("a"))
  }

  @Test("Index definitions load from a stream, and data that is not text is rejected")
  func indexesFromStream() async throws {
    let db = database()
    let json = """
      {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
        {"fieldPath": "state", "order": "ASCENDING"}, {"fieldPath": "population", "order": "DESCENDING"}]}]}
      """
    try await db.setIndexConfiguration(InputStream(data: Data(json.utf8)))
    #expect(try await db.localIndexes().count == 1)
    let errors = Events<FirestoreErrorCode.Code>()
    for wrong in [Data([0xFF, 0xFE]), Data("{".utf8)] {
      db.setIndexConfiguration(InputStream(data: wrong), completion: errors.completion)
      #expect(await errors.next() == .invalidArgument)
    }
    #expect(try await db.localIndexes().count == 1)
    try await db.terminate()
    await #expect { try await db.setIndexConfiguration(InputStream(data: Data(json.utf8))) } throws: {
      code(of: $0) == .failedPrecondition
    }
  }

  @Test("With logging enabled a client logs its connection and writes, not documents")
  func logging() async throws {
    let project = "p" + UUID().uuidString
    let lines = Events<String>()
    await OneAtATime.log.take()
    // Other clients of this process write lines too.
    Firestore.enableLogging { entry in
      if entry.database.contains(project), !entry.isWarning { lines.send("\(entry)") }
    }
    let db = database(project)
    try await db.document("secret/plan").setData(["code": "hidden"])
    await #expect(throws: FirestoreError.self) { try await db.document("secret/none").updateData(["code": "hidden"]) }
    try await db.disableNetwork()
    var seen: [String] = []
    while let line = await lines.next() {
      seen.append(line)
      if line.hasSuffix("offline (the network is disabled)") { break }
    }
    Firestore.enableLogging(false)
    await OneAtATime.log.give()
    try await db.terminate()

    #expect(seen.contains { $0.contains("rejected, not-found") })
    #expect(!seen.contains { $0.contains("hidden") })
  }
}
