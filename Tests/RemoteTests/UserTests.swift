// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreAccess
import FirestoreBackend
import FirestoreGRPC
import FirestoreRules
import Foundation
import Hearth
import Synchronization
import Testing

/// Apps with users, at a server with security rules.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct UserTests {
  private static let own = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /notes/{id} {
          allow read: if resource == null || resource.data.owner == request.auth.uid;
          allow write: if request.resource.data.owner == request.auth.uid;
        }
      }
    }
    """

  private static func source(_ text: String) throws -> AccessRules.Source {
    .ruleset(try #require(Ruleset.compile([RulesFile(name: "test.rules", content: text)]).ruleset))
  }

  /// Runs a test with an app of a user, and one of an administrator, at a server with these rules.
  private static func run(
    _ test: @escaping @Sendable (UserSession, _ db: Firestore, _ owner: Firestore, AccessRules) async throws -> Void
  ) async throws {
    let rules = AccessRules()
    rules.set(try source(own))
    try await Server.run(try LocalBackend.inMemory(), rules: rules) { endpoint in
      let session = UserSession()
      func client(_ credentials: UserSession?) -> Firestore {
        let app = FirestoreApp(
          name: UUID().uuidString, projectID: "p", backend: .remote().timed(by: HastyClock()), credentials: credentials)
        let db = Firestore.firestore(app: app)
        db.useEmulator(withHost: endpoint.host, port: endpoint.port)
        let settings = db.settings
        settings.cacheSettings = MemoryCacheSettings()
        db.settings = settings
        return db
      }
      let (db, owner) = (client(session), client(nil))
      do {
        try await test(session, db, owner, rules)
      } catch {
        try await db.terminate()
        try await owner.terminate()
        throw error
      }
      try await db.terminate()
      try await owner.terminate()
    }
  }

  private static func refused(_ body: () async throws -> Void, _ place: SourceLocation = #_sourceLocation) async {
    do {
      try await body()
      Issue.record("allowed", sourceLocation: place)
    } catch { #expect((error as? FirestoreError)?.code == .permissionDenied, "\(error)", sourceLocation: place) }
  }

  @Test("Calls use the signed-in user, with the user's permissions")
  func names() async throws {
    try await Self.run { session, db, owner, _ in
      let note = db.document("notes/a")
      await Self.refused { try await note.setData(["owner": "alice"]) }
      try session.signIn(mockUser: "alice")
      try await note.setData(["owner": "alice"])
      #expect(try await note.getDocument(source: .server).exists)
      try session.signIn(mockUser: "bob")
      await Self.refused { _ = try await note.getDocument(source: .server) }
      #expect(try await owner.document("notes/a").getDocument(source: .server).get("owner") as? String == "alice")
    }
  }

  @Test("Offline writes wait for their user and are never sent as another user")
  func queues() async throws {
    try await Self.run { session, db, owner, _ in
      try session.signIn(mockUser: "alice")
      try await db.disableNetwork()
      db.document("notes/a").setData(["owner": "alice"]) { _ in }
      #expect(try await db.document("notes/a").getDocument(source: .cache).metadata.hasPendingWrites)
      try session.signIn(mockUser: "bob")
      try await db.enableNetwork()
      // Bob's own write has been answered, and Alice's was not sent before it.
      try await db.document("notes/b").setData(["owner": "bob"])
      #expect(try await owner.document("notes/a").getDocument(source: .server).exists == false)
      try session.signIn(mockUser: "alice")
      let sent = Events<Bool>()
      let registration = owner.document("notes/a").addSnapshotListener { snapshot, _ in
        sent.send(snapshot?.exists == true)
      }
      #expect(await sent.first { $0 } != nil)
      registration.remove()
    }
  }

  @Test("A listener ends with permission-denied when rules or data no longer allow it")
  func listeners() async throws {
    try await Self.run { session, db, owner, rules in
      try session.signIn(mockUser: "alice")
      try await owner.document("notes/a").setData(["owner": "alice", "n": 1])
      try await owner.document("notes/b").setData(["owner": "alice"])
      let (data, changed) = (Events<String>(), Events<String>())
      let listeners = [("a", data), ("b", changed)].map { id, events in
        db.document("notes/\(id)").addSnapshotListener { snapshot, error in
          events.send((error as? FirestoreError)?.code.name ?? snapshot?.get("owner") as? String ?? "none")
        }
      }
      #expect(await data.first { $0 == "alice" } != nil)
      #expect(await changed.first { $0 == "alice" } != nil)
      try await owner.document("notes/a").updateData(["owner": "bob"])
      #expect(await data.next() == "permission-denied")
      rules.set(try Self.source(Self.own.replacing("resource == null ||", with: "false &&")))
      #expect(await changed.next() == "permission-denied")
      for listener in listeners { listener.remove() }
    }
  }

  @Test("Without a token a call fails with the provider's error and is not sent")
  func withoutToken() async throws {
    let asked = Mutex<[Bool]>([])
    try await Self.run { session, db, _, _ in
      session.signIn(userID: "alice") { forcingRefresh in
        asked.withLock { $0.append(forcingRefresh) }
        struct NoToken: Error {}
        throw NoToken()
      }
      let error = await #expect(throws: FirestoreError.self) {
        _ = try await db.document("notes/a").getDocument(source: .server)
      }
      #expect(error?.code == .unavailable)
    }
    #expect(asked.withLock { $0.first } == false)
  }
}
