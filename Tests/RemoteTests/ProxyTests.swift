// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreProxy
import FirestoreQuery
import FirestoreTesting
import Foundation
import Hearth
import Synchronization
import Testing

/// Clients that reach a server through a proxy that disturbs them.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  private typealias Endpoint = FirestoreGRPC.Endpoint

  /// Runs a proxy to an address while `body` runs.
  private func proxy(
    to target: Endpoint, _ faults: [FaultChange] = [], _ report: (@Sendable (ProtocolEvent) -> Void)? = nil,
    _ body: @escaping @Sendable (ProxyServer, Endpoint) async throws -> Void
  ) async throws {
    var configuration = ProxyServer.Configuration(host: "127.0.0.1", port: 0, target: target)
    configuration.faults = faults
    let server = ProxyServer(configuration)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        try await server.run(report: report) { continuation.yield($0) }
      }
      for await port in ports {
        try await body(server, Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
        group.cancelAll()
      }
      try await group.waitForAll()
    }
  }

  /// Runs a server and a proxy to it.
  private func served(
    _ faults: [FaultChange] = [], _ report: (@Sendable (ProtocolEvent) -> Void)? = nil,
    _ body: @escaping @Sendable (ProxyServer, Endpoint) async throws -> Void
  ) async throws {
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await proxy(to: target, faults, report, body)
    }
  }

  private func status(_ body: () async throws -> Void) async -> RPCStatus? {
    do { try await body() } catch { return error as? RPCStatus ?? RPCStatus(.unknown, "\(error)") }
    return nil
  }

  private func rest(
    _ verb: String, _ path: String, _ endpoint: Endpoint, body: String = ""
  ) async throws -> String {
    try await RawHTTP.exchange(
      "\(verb) /v1/\(database.documentsName)\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", endpoint)
  }

  private let increment = FirestoreModel.Mutation(
    key: key("c/a"), operation: .patch([:], FieldMask([])),
    transforms: [FieldTransform(path: FirestoreModel.FieldPath("n"), operation: .increment(1))])

  @Test("Listeners, writes and reads behave the same through a proxy")
  func transparent() async throws {
    try await served { _, endpoint in
      try await World(at: endpoint).run { db, other in
        let snapshots = db.collection("c").snapshots
        try await other.document("c/a").setData(["n": 1])
        for try await snapshot in snapshots where snapshot.documents.first?.data()["n"] as? Int == 1 { break }
        #expect(try await other.collection("c").getDocuments().count == 1)
      }
    }
  }

  #if HEARTH_ORACLES
    @Test(
      "Plain-text clients reach a trusted TLS server through the proxy"
    )
    func overTLS() async throws {
      let certificate = try TestCertificate(names: ["localhost"], address: [127, 0, 0, 1])
      try await Server.run(tls: certificate.tls) { server in
        let target = Endpoint(host: "localhost", port: server.port, security: .tls(trustRoots: certificate.certificate))
        try await proxy(to: target) { _, endpoint in
          try await World(at: endpoint).run { db, other in
            let snapshots = db.collection("c").snapshots
            try await other.document("c/a").setData(["n": 1])
            for try await snapshot in snapshots where snapshot.documents.first?.data()["n"] as? Int == 1 { break }
          }
          let datastore = GRPCDatastore(endpoint, database: database, credentials: .emulatorOwner)
          _ = try await datastore.commit([increment])
          await datastore.close()
          #expect(try await rest("GET", "/c/a", endpoint).contains("\"integerValue\": \"1\""))
        }
        var stranger = target
        stranger.security = .tls(trustRoots: nil)
        try await proxy(to: stranger) { _, endpoint in
          let datastore = GRPCDatastore(endpoint, database: database, credentials: .emulatorOwner)
          let refusal = await status { _ = try await datastore.lookup([key("c/a")]) }
          #expect(refusal?.code == .unavailable, "\(String(describing: refusal))")
          await datastore.close()
        }
      }
    }
  #endif

  @Test("A write with a lost response is applied, and its retry is not applied again")
  func lostAnswer() async throws {
    try await served { proxy, endpoint in
      let world = World(at: endpoint)
      let datastore = world.datastore()
      try await proxy.perform(.event(.write(.dropAcknowledgement)))
      #expect(await status { _ = try await datastore.commit([increment]) }?.code == .unavailable)
      let value = try await datastore.lookup([key("c/a")])[0][FirestoreModel.FieldPath("n")]
      #expect(value == 1)

      try await world.run { db, _ in
        try await proxy.perform(.event(.write(.dropAcknowledgement)))
        try await db.document("c/a").updateData(["n": FieldValue.increment(Int64(1))])
      }
      let again = try await datastore.lookup([key("c/a")])[0][FirestoreModel.FieldPath("n")]
      #expect(again == 2)
    }
  }

  @Test("A lost request is not applied, and a rejected request returns its code")
  func refused() async throws {
    try await served { proxy, endpoint in
      let datastore = World(at: endpoint).datastore()
      try await proxy.perform(.event(.write(.dropRequest)))
      #expect(await status { _ = try await datastore.commit([increment]) }?.code == .unavailable)
      try await proxy.perform(.event(.write(.reject(.resourceExhausted))))
      #expect(await status { _ = try await datastore.commit([increment]) }?.code == .resourceExhausted)
      #expect(try await datastore.lookup([key("c/a")])[0].exists == false)
      try await proxy.perform(.event(.read(.permissionDenied)))
      #expect(await status { _ = try await datastore.lookup([key("c/a")]) }?.code == .permissionDenied)

      try await proxy.perform(.event(.write(.reject(.unavailable))))
      let refused = try await rest("POST", ":commit", endpoint, body: #"{"writes": []}"#)
      #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains(#""status": "UNAVAILABLE""#))
      let passed = try await rest("PATCH", "/c/b", endpoint, body: #"{"fields": {"n": {"integerValue": "1"}}}"#)
      #expect(passed.hasPrefix("HTTP/1.1 200 "))
      try await proxy.perform(.event(.write(.dropAcknowledgement)))
      let lost = try await rest("PATCH", "/c/d", endpoint, body: #"{"fields": {"n": {"integerValue": "1"}}}"#)
      #expect(lost.isEmpty)
      let read = try await rest("GET", "/c/d", endpoint)
      #expect(read.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("A listener is rejected once and works when reopened")
  func refusedListener() async throws {
    try await served([.event(.listen(.permissionDenied))]) { _, endpoint in
      try await World(at: endpoint).run { db, _ in
        await #expect(throws: (any Error).self) { for try await _ in db.collection("c").snapshots {} }
        for try await snapshot in db.collection("c").snapshots where !snapshot.metadata.isFromCache { break }
      }
    }
  }

  @Test("The fault 'down' makes one type of call or all calls unavailable until 'up'")
  func down() async throws {
    try await served { proxy, endpoint in
      let datastore = World(at: endpoint).datastore()
      try await proxy.perform(.down(.write))
      #expect(await status { _ = try await datastore.commit([increment]) }?.code == .unavailable)
      _ = try await datastore.lookup([key("c/a")])
      try await proxy.perform(.down(nil))
      #expect(await status { _ = try await datastore.lookup([key("c/a")]) }?.code == .unavailable)
      // A connection that is closed as it comes may be gone before the request is written.
      let nothing = (try? await rest("GET", "/c/a", endpoint)) ?? ""
      #expect(nothing.isEmpty)
      try await proxy.perform(.up)
      _ = try await datastore.commit([increment])
    }
  }

  @Test("Without a server the proxy returns unavailable over gRPC and 503 over HTTP")
  func unreachable() async throws {
    // Nobody may listen on a port below this one without leave, and nobody does.
    try await proxy(to: Endpoint(host: "127.0.0.1", port: 1, security: .plaintext)) { _, endpoint in
      let failure = await status { _ = try await World(at: endpoint).datastore().lookup([key("c/a")]) }
      #expect(failure?.code == .unavailable && failure?.message.contains("127.0.0.1:1 cannot be reached") == true)
      let answer = try await rest("GET", "/c/a", endpoint)
      #expect(answer.hasPrefix("HTTP/1.1 503 "))
    }
  }

  @Test("A client that sends garbage is reported and disconnected, and others continue")
  func garbage() async throws {
    let remarks = Mutex<[String]>([])
    try await served([], { event in if let remark = event.remark { remarks.withLock { $0.append(remark) } } }) {
      _, endpoint in
      _ = try await RawHTTP.exchange("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is no frame, and never was one", endpoint)
      _ = try await RawHTTP.exchange("nonsense\r\n\r\n", endpoint)
      _ = try await World(at: endpoint).datastore().commit([increment])
    }
    #expect(remarks.withLock { $0.contains { $0.hasPrefix("the client violated the HTTP/2 protocol") } })
    #expect(remarks.withLock { $0.contains { $0.hasPrefix("the client violated the HTTP protocol:") } })
  }

  @Test("An expired token is rejected until the client reconnects")
  func expired() async throws {
    try await served { proxy, endpoint in
      let datastore = World(at: endpoint).datastore()
      _ = try await datastore.lookup([key("c/a")])
      try await proxy.perform(.event(.expireToken))
      #expect(await status { _ = try await datastore.lookup([key("c/a")]) }?.code == .unauthenticated)
      _ = try await World(at: endpoint).datastore().lookup([key("c/a")])
      try await proxy.perform(.calm)
      _ = try await datastore.lookup([key("c/a")])
    }
  }

  @Test("The proxy reports streams and messages by name, without contents")
  func told() async throws {
    let events = Mutex<[ProtocolEvent]>([])
    try await served([], { event in events.withLock { $0.append(event) } }) { _, endpoint in
      try await World(at: endpoint).run { db, _ in
        for try await snapshot in db.collection("c").snapshots where !snapshot.metadata.isFromCache { break }
        try await db.document("c/a").setData(["secret": "abc"])
      }
    }
    let seen = events.withLock { $0 }
    #expect(
      seen.contains {
        $0.message?.kind == "addTarget" && $0.message?.collection == "c" && $0.message?.tokenLength == 0
      })
    #expect(seen.contains { $0.message?.kind == "writes" && $0.message?.documents == ["c/a"] })
    #expect(seen.contains { $0.message?.kind == "current" })
    #expect(!"\(seen)".contains("secret"))
  }
}
