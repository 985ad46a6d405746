// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import Foundation
import Glibc
import Testing
import X509

/// Servers whose certificates an authority has issued through one in between, as public ones do.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct CertificateChainTests {
  private typealias Terms = IssuedCertificate.Terms

  private let root: IssuedCertificate
  private let between: IssuedCertificate

  init() throws {
    root = try IssuedCertificate("Root", .authority)
    between = try IssuedCertificate("Between", .authority, by: root)
  }

  /// - Returns: why a client that trusts the roots does not speak to the server; `nil` if it does.
  private func refusal(
    of files: CertificateFiles, trusting roots: [IssuedCertificate], as host: String = "localhost",
    at address: String = "127.0.0.1"
  ) async throws -> RPCStatus? {
    let trusted = try CertificateFiles(roots)
    let result = Refusal()
    try await Server.run(tls: files.tls, host: address) { server in
      let endpoint = Endpoint(host: host, port: server.port, security: .tls(trustRoots: trusted.chain))
      let datastore = GRPCDatastore(
        endpoint, database: DatabaseID(project: "tls"), credentials: .emulatorOwner)
      do throws(RPCStatus) { _ = try await datastore.listCollectionIDs(below: .root) } catch { await result.set(error) }
      await datastore.close()
    }
    withExtendedLifetime(trusted) {}
    return await result.status
  }

  private actor Refusal {
    private(set) var status: RPCStatus?
    func set(_ status: RPCStatus) { self.status = status }
  }

  @Test(
    "A certificate chain to a trusted root is accepted by name and by address", arguments: ["localhost", "127.0.0.1"])
  func good(host: String) async throws {
    let files = try IssuedCertificate("server", .server, by: between).files(sending: [between])
    #expect(try await refusal(of: files, trusting: [root], as: host) == nil)
    // The one in between may be what is trusted, along with its root.
    #expect(try await refusal(of: files, trusting: [root, between], as: host) == nil)
  }

  private static var hasIPv6: Bool {
    let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in6()
    (address.sin6_family, address.sin6_addr) = (sa_family_t(AF_INET6), in6addr_loopback)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
      }
    }
  }

  @Test("A certificate chain to a trusted root is accepted over IPv6", .enabled(if: hasIPv6))
  func version6() async throws {
    let files = try IssuedCertificate("server", .server, by: between).files(sending: [between])
    #expect(try await refusal(of: files, trusting: [root], as: "::1", at: "::1") == nil)
    var elsewhere = Terms.server
    elsewhere.addresses = [[127, 0, 0, 1]]
    let other = try IssuedCertificate("server", elsewhere, by: between).files(sending: [between])
    #expect(try await refusal(of: other, trusting: [root], as: "::1", at: "::1")?.code == .unavailable)
  }

  private func expectRefused(
    _ files: CertificateFiles, trusting roots: [IssuedCertificate], as host: String = "localhost", _ what: String
  ) async throws {
    let status = try await refusal(of: files, trusting: roots, as: host)
    #expect(status?.code == .unavailable, "\(what)")
    #expect(status?.message.contains("certificate") == true, "\(what): \(status?.message ?? "accepted")")
  }

  @Test("A certificate chain that is incomplete or has another root is rejected")
  func wrongChains() async throws {
    let server = try IssuedCertificate("server", .server, by: between)
    let stranger = try IssuedCertificate("Root", .authority)
    let strangeBetween = try IssuedCertificate("Between", .authority, by: stranger)
    try await expectRefused(server.files(), trusting: [root], "without the one in between")
    try await expectRefused(server.files(sending: [strangeBetween]), trusting: [root], "with another of its name")
    try await expectRefused(
      server.files(sending: [between]), trusting: [stranger], "trusting another of the root's name")
    try await expectRefused(
      server.files(sending: [between, root]), trusting: [stranger], "with the root that it sends itself")
    let own = try IssuedCertificate("localhost", .server)
    try await expectRefused(own.files(), trusting: [root], "signed by itself")

    var plain = Terms.authority
    plain.pathLength = nil
    let noAuthority = try IssuedCertificate("Between", plain, by: root)
    let below = try IssuedCertificate("server", .server, by: noAuthority)
    try await expectRefused(below.files(sending: [noAuthority]), trusting: [root], "issued by what is no authority")
    let leafBelow = try IssuedCertificate("other", .server, by: server)
    try await expectRefused(leafBelow.files(sending: [server, between]), trusting: [root], "issued by a server")

    var narrow = Terms.authority
    narrow.pathLength = 0
    let last = try IssuedCertificate("Last", narrow, by: root)
    let tooLow = try IssuedCertificate("Too low", .authority, by: last)
    let lowest = try IssuedCertificate("server", .server, by: tooLow)
    try await expectRefused(
      lowest.files(sending: [tooLow, last]), trusting: [root], "longer than the authority allows")
  }

  @Test(
    "A certificate chain is rejected if a certificate is expired or not yet valid",
    arguments: [-7_200.0 ... -60, 600...3_600])
  func wrongTimes(validity: ClosedRange<TimeInterval>) async throws {
    var (late, lateAuthority) = (Terms.server, Terms.authority)
    (late.validity, lateAuthority.validity) = (validity, validity)
    let server = try IssuedCertificate("server", late, by: between)
    try await expectRefused(server.files(sending: [between]), trusting: [root], "the server's")
    let lateBetween = try IssuedCertificate("Between", lateAuthority, by: root)
    let below = try IssuedCertificate("server", .server, by: lateBetween)
    try await expectRefused(below.files(sending: [lateBetween]), trusting: [root], "the one in between")
    let lateRoot = try IssuedCertificate("Root", lateAuthority)
    let lowest = try IssuedCertificate("server", .server, by: lateRoot)
    try await expectRefused(lowest.files(), trusting: [lateRoot], "the root")
  }

  @Test("A certificate for another name, address or purpose is rejected")
  func wrongNames() async throws {
    for (names, addresses, host) in [
      (["elsewhere.test"], [[127, 0, 0, 1]], "localhost"), (["localhost.elsewhere.test"], [], "localhost"),
      (["*"], [], "localhost"), (["*.localhost"], [], "localhost"), (["l*"], [], "localhost"),
      (["localhost"], [[127, 0, 0, 2]], "127.0.0.1"), (["127.0.0.1"], [], "127.0.0.1"),
    ] as [([String], [[UInt8]], String)] {
      var terms = Terms.server
      (terms.names, terms.addresses) = (names, addresses)
      let files = try IssuedCertificate("server", terms, by: between).files(sending: [between])
      try await expectRefused(files, trusting: [root], as: host, "\(names) \(addresses) for \(host)")
    }
    for purpose in [ExtendedKeyUsage.Usage.clientAuth, .codeSigning, .emailProtection] {
      var terms = Terms.server
      terms.purposes = [purpose]
      let files = try IssuedCertificate("server", terms, by: between).files(sending: [between])
      try await expectRefused(files, trusting: [root], "for \(purpose)")
    }
  }
}
