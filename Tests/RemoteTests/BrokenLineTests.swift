// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreGRPC
import FirestoreModel
import Foundation
import Hearth
import Testing

/// What happens to the connection must not be seen in what a listener is told, except that it is from the cache. A line
/// that is cut and laid anew at the same port stands for a server that is killed and started again.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct BrokenLineTests {
  @Test("A listener resumes after its server is killed and restarted")
  func restart() async throws {
    try await Server.run { server in
      let port = try ReservedPort()
      let line = try await Proxy(to: server, port: port.number)
      let db = World(at: line.endpoint).client()
      let events = Events<[String]>()
      let registration = db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        let place = snapshot?.metadata.isFromCache == true ? "cache" : "server"
        events.send([place] + (snapshot?.documents.map(\.documentID) ?? []))
      }
      try await db.document("cities/LA").setData(["n": 1])
      #expect(await events.first { $0 == ["server", "LA"] } != nil)
      try await line.close()
      #expect(await events.first { $0 == ["cache", "LA"] } != nil)
      let answers = Events<Bool>()
      db.document("cities/SF").setData(["n": 2]) { answers.send($0 == nil) }
      #expect(await events.first { $0 == ["cache", "LA", "SF"] } != nil)
      let restored = try await Proxy(to: server, port: port.number)
      #expect(await answers.next() == true)
      #expect(await events.first { $0 == ["server", "LA", "SF"] } != nil)
      registration.remove()
      try await db.terminate()
      try await restored.close()
    }
  }

  @Test("A dead connection is detected, and missed changes arrive on the next one")
  func halfOpen() async throws {
    try await Server.run { server in
      let line = try await Proxy(to: server)
      let world = World(at: line.endpoint, keepalive: (time: .milliseconds(200), timeout: .milliseconds(500)))
      let db = world.client()
      let other = world.client(
        GRPCDatastore(server, database: world.database, credentials: .emulatorOwner))
      let events = Events<[String]>()
      let registration = db.collection("cities").addSnapshotListener { snapshot, _ in
        events.send(snapshot?.documents.map(\.documentID) ?? [])
      }
      try await other.document("cities/LA").setData(["n": 1])
      #expect(await events.first { $0 == ["LA"] } != nil)
      line.goDead()
      try await other.document("cities/SF").setData(["n": 1])
      line.revive()
      #expect(await events.first { $0 == ["LA", "SF"] } != nil)
      registration.remove()
      try await db.terminate()
      try await other.terminate()
      try await line.close()
    }
  }

  @Test("A client without a server reads its cache and sends its writes later")
  func lateServer() async throws {
    try await Server.run { server in
      let port = try ReservedPort()
      let db = World(at: Endpoint(host: "127.0.0.1", port: port.number, security: .plaintext)).client()
      let events = Events<[String]>()
      let registration = db.collection("cities").addSnapshotListener { snapshot, _ in
        events.send(snapshot?.documents.map(\.documentID) ?? [])
      }
      let answers = Events<Bool>()
      db.document("cities/SF").setData(["n": 2]) { answers.send($0 == nil) }
      #expect(await events.first { $0 == ["SF"] } != nil)
      let line = try await Proxy(to: server, port: port.number)
      #expect(await answers.next() == true)
      registration.remove()
      try await db.terminate()
      try await line.close()
    }
  }
}
