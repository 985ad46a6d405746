// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Dispatch
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreServer
import FirestoreTesting
import Foundation
import Glibc
import Hearth
import Testing

/// A server that ends and begins anew on the same data and port, and answers that never arrived.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct RestartTests {
  @Test("A listener resumes after its server restarts with the same data")
  func restart() async throws {
    let folder = TemporaryFolder()
    let port = try ReservedPort()
    let events = Events<[String]>()
    let answers = Events<Bool>()
    let (clients, hand) = AsyncStream.makeStream(of: Firestore.self)
    try await serve(folder.path, port) { server in
      let db = World(at: server).client()
      hand.yield(db)
      _ = db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        let place = snapshot?.metadata.isFromCache == true ? "cache" : "server"
        events.send([place] + (snapshot?.documents.map(\.documentID) ?? []))
      }
      try await db.document("cities/LA").setData(["n": 1])
      #expect(await events.first { $0 == ["server", "LA"] } != nil)
    }
    hand.finish()
    for await db in clients {
      #expect(await events.first { $0 == ["cache", "LA"] } != nil)
      db.document("cities/SF").setData(["n": 2]) { answers.send($0 == nil) }
      #expect(await events.first { $0 == ["cache", "LA", "SF"] } != nil)
      try await serve(folder.path, port) { _ in
        #expect(await answers.next() == true)
        #expect(await events.first { $0 == ["server", "LA", "SF"] } != nil)
        try await db.terminate()
      }
    }
  }

  /// Serves what is in the directory while `body` runs, once nobody else does.
  private func serve(
    _ directory: String, _ port: ReservedPort, _ body: @escaping @Sendable (Endpoint) async throws -> Void
  ) async throws {
    await free(directory)
    let backend = try LocalBackend(
      BackendConfiguration(location: .directory(directory), now: { FirestoreModel.Timestamp.ofTests }),
      on: ServerThread.executor, pause: ServerThread.pause)
    try await Server.run(backend, port: port.number, body)
  }

  /// Waits until the server before has let the directory go: its last objects may outlive its last call.
  private func free(_ directory: String) async {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "wait for the data directory").async {
        let descriptor = open(directory + "/lock", O_RDWR)
        if descriptor >= 0 {
          flock(descriptor, LOCK_EX)
          close(descriptor)
        }
        continuation.resume()
      }
    }
  }

  @Test("A batch with a lost response is answered on retry and not applied twice")
  func lostAnswer() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let port = try ReservedPort()
      let line = try await Proxy(to: server, port: port.number)
      let world = World(at: line.endpoint)
      let db = world.client()
      let other = world.client(GRPCDatastore(server, database: world.database, credentials: .emulatorOwner))
      // Opens the write stream.
      try await db.document("counters/one").setData(["n": 1])
      let seen = Events<Int?>()
      let registration = other.document("counters/one").addSnapshotListener { snapshot, _ in
        seen.send(snapshot?.get("n") as? Int)
      }
      line.goMute()
      let answers = Events<Bool>()
      db.document("counters/one").updateData(["n": FieldValue.increment(Int64(1))]) { answers.send($0 == nil) }
      // It is applied, and nobody has told the client.
      #expect(await seen.first { $0 == 2 } != nil)
      try await line.close()
      let restored = try await Proxy(to: server, port: port.number)
      #expect(await answers.next() == true)
      let document = try await other.document("counters/one").getDocument(source: .server)
      #expect(document.get("n") as? Int == 2)
      registration.remove()
      try await db.terminate()
      try await other.terminate()
      try await restored.close()
    }
  }
}
