// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import ClientTesting
import FirestoreEmulator
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import Hearth
import Testing

@testable import TransportSecurity

/// A server with a certificate of its own, and what a client says that does not like it.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct TLSTests {
  private static let database = DatabaseID(project: "tls")

  private func failure(at endpoint: Endpoint) async throws -> RPCStatus {
    let datastore = GRPCDatastore(endpoint, database: Self.database, credentials: .emulatorOwner)
    let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
    await datastore.close()
    let failure = try #require(status)
    #expect(failure.code == .unavailable)
    #expect(!failure.message.contains { $0.isNewline } && failure.message.utf8.count < 300, "\(failure.message)")
    #expect(failure.message.hasPrefix(endpoint.text), "\(failure.message)")
    return failure
  }

  @Test(
    "A server with a trusted certificate is read, written and listened to", arguments: ["localhost", "127.0.0.1"])
  func accepted(host: String) async throws {
    let certificate = try TestCertificate(names: ["localhost"], address: [127, 0, 0, 1])
    try await Server.run(tls: certificate.tls) { server in
      let endpoint = Endpoint(host: host, port: server.port, security: .tls(trustRoots: certificate.certificate))
      let db = World(at: endpoint).client()
      let events = Events<[String]>()
      let registration = db.collection("cities").addSnapshotListener { snapshot, _ in
        events.send(snapshot?.documents.map(\.documentID) ?? [])
      }
      try await db.document("cities/LA").setData(["n": 1])
      #expect(await events.first { $0 == ["LA"] } != nil)
      registration.remove()
      try await db.terminate()
    }
  }

  @Test("An untrusted certificate is rejected, and the error suggests --trust")
  func untrusted() async throws {
    let (own, other) = (try TestCertificate(names: ["localhost"]), try TestCertificate(names: ["localhost"]))
    try await Server.run(tls: own.tls) { server in
      for roots in [nil, other.certificate] {
        let status = try await failure(
          at: Endpoint(host: "localhost", port: server.port, security: .tls(trustRoots: roots)))
        #expect(status.message.contains("certificate") && status.message.contains("--trust"), "\(status.message)")
      }
    }
  }

  @Test("A certificate for another host is rejected with the name mismatch")
  func wrongHost() async throws {
    let certificate = try TestCertificate(names: ["elsewhere.test"])
    try await Server.run(tls: certificate.tls) { server in
      let status = try await failure(
        at: Endpoint(host: "localhost", port: server.port, security: .tls(trustRoots: certificate.certificate)))
      #expect(status.message.contains("another host name"), "\(status.message)")
    }
  }

  @Test("An expired certificate is rejected, and the error mentions the clock")
  func expired() async throws {
    let certificate = try TestCertificate(names: ["localhost"], lifetime: -3600)
    try await Server.run(tls: certificate.tls) { server in
      let status = try await failure(
        at: Endpoint(host: "localhost", port: server.port, security: .tls(trustRoots: certificate.certificate)))
      #expect(status.message.contains("certificate") && status.message.contains("clock"), "\(status.message)")
    }
  }

  @Test("Plain text to a TLS server and TLS to a plain-text server are distinguished")
  func mixedUp() async throws {
    let certificate = try TestCertificate(names: ["localhost"])
    try await Server.run(tls: certificate.tls) { server in
      let status = try await failure(at: Endpoint(host: "localhost", port: server.port, security: .plaintext))
      #expect(status.message.contains("expects TLS"), "\(status.message)")
    }
    try await Server.run(tls: nil) { server in
      let status = try await failure(
        at: Endpoint(host: "localhost", port: server.port, security: .tls(trustRoots: certificate.certificate)))
      #expect(status.message.contains("does not speak TLS"), "\(status.message)")
    }
  }

  @Test("A server names the certificate or key that it cannot use")
  func unusable() async throws {
    let (own, other) = (try TestCertificate(names: ["localhost"]), try TestCertificate(names: ["localhost"]))
    for (certificate, key, names) in [
      (own.key, own.key, [own.key]), (own.certificate, own.certificate, [own.certificate]),
      (own.certificate, other.key, [own.certificate, other.key]),
    ] {
      let tls = EmulatorServer.Configuration.TLS(certificate: certificate, key: key)
      let status = await #expect(throws: RPCStatus.self) { try await Server.run(tls: tls) { _ in } }
      #expect(status?.code == .failedPrecondition)
      #expect(names.allSatisfy { status?.message.contains($0) == true }, "\(status?.message ?? "")")
    }
  }

  @Test("The error for an invalid file of trusted certificates names the file", arguments: ["", "no certificate"])
  func trustFile(content: String) async throws {
    let file = TemporaryFolder()
    if !content.isEmpty { try Data(content.utf8).write(to: URL(filePath: file.path)) }
    let endpoint = Endpoint(host: "localhost", port: 1, security: .tls(trustRoots: file.path))
    let datastore = GRPCDatastore(endpoint, database: Self.database, credentials: .emulatorOwner)
    let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
    await datastore.close()
    #expect(status?.code == .invalidArgument)
    #expect(status?.message.contains(file.path) == true && status?.message.contains("--trust") == true)
  }

  @Test("Every TLS 1.2 cipher suite has forward secrecy and authenticated encryption")
  func suites() throws {
    let handler = try TLSContext(trustRoots: nil, http2: true).clientHandler(for: .host("localhost"))
    var names: [String] = []
    while let name = SSL_get_cipher_list(handler.ssl, Int32(names.count)) { names.append(String(cString: name)) }
    #expect(names.contains("ECDHE-ECDSA-AES128-GCM-SHA256") && names.contains("TLS_AES_128_GCM_SHA256"))
    let others = names.filter { name in
      !name.hasPrefix("TLS_") && !(name.hasPrefix("ECDHE-") && (name.contains("GCM") || name.contains("CHACHA20")))
    }
    #expect(others == [])
  }
}
