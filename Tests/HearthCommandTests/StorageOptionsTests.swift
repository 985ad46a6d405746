// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

/// Which data and which cache a command uses.
@Suite struct StorageOptionsTests {
  private let paths = Paths(environment: ["HOME": "/home/ada"])

  private func cache(_ arguments: String...) throws -> StorageLocation {
    try StorageOptions.parse(arguments).locations(paths).cache
  }

  @Test("An embedded backend's cache is in its data folder by project and database")
  func embedded() throws {
    let data = "/home/ada/.local/share/hearth/backend"
    #expect(try cache() == .directory("\(data)/cache/hearth/%28default%29"))
    #expect(try cache("--database", "default") == .directory("\(data)/cache/hearth/default"))
    #expect(try cache("--data", "/a", "--project", "x.y") == .directory("/a/cache/x%2Ey/%28default%29"))
    #expect(try cache("--data", "/b", "--project", "x%2Ey") == .directory("/b/cache/x%252Ey/%28default%29"))
    #expect(try cache("--cache", "/c") == .directory("/c"))
    #expect(try cache("--in-memory") == .memory)
  }

  @Test("A server's cache is stored by address, ignoring case")
  func remote() throws {
    let caches = "/home/ada/.local/share/hearth/cache/remote"
    #expect(
      try cache("--emulator", "Localhost:80", "--project", "p")
        == .directory("\(caches)/localhost%3A80/p/%28default%29"))
    #expect(
      try cache("--emulator", "localhost:81", "--project", "p", "--database", "d")
        == .directory("\(caches)/localhost%3A81/p/d"))
  }

  @Test(
    "Unsafe ids, empty folders and contradictory options are rejected",
    arguments: [
      (["--project", ".."], "\"..\""), (["--project", "a/b"], "slash"), (["--database", "."], "\".\""),
      (["--data", ""], "--data is empty"), (["--cache", ""], "--cache is empty"),
      (["--in-memory", "--cache", "c"], "Remove --cache"), (["--in-memory", "--data", "d"], "Remove --data"),
      (["--emulator", "https://h:1"], "--host"), (["--host", "http://h"], "--emulator"),
      (["--insecure-credentials"], "--host"),
      (["--admin-secret", "f", "--emulator", "10.0.0.7:80"], "plain text"),
      (["--admin-secret", "f", "--emulator", "127.example.com:80"], "plain text"),
      (["--admin-secret", "f", "--emulator", "127.0.0.999:80"], "plain text"),
      (["--admin-secret", "f", "--cloud"], "hearth serve"),
    ])
  func refused(arguments: [String], reason: String) {
    let error = #expect(throws: (any Error).self) { try StorageOptions.parse(arguments) }
    #expect(error.map { StorageOptions.message(for: $0).contains(reason) } == true, "\(String(describing: error))")
  }

  @Test(
    "An administrator's secret is sent without TLS only to the local machine",
    arguments: [
      (["--emulator", "localhost:1"], false), (["--emulator", "127.0.0.2:1"], false),
      (["--emulator", "[::1]:1"], false),
      (["--host", "example.com"], true),
    ])
  func adminSecret(arguments: [String], isTLS: Bool) throws {
    let locations = try StorageOptions.parse(arguments + ["--admin-secret", "f"]).locations(paths)
    guard case .remote(let remote) = locations.backend else {
      Issue.record("\(locations.backend)")
      return
    }
    #expect(remote.identity == .admin(secretFile: "f") && locations.isCloud == isTLS)
    #expect(remote.allowsInsecureCredentials == !isTLS)
  }

  @Test("An emulator with a trusted certificate uses TLS, with or without a secret")
  func secureEmulator() throws {
    for (arguments, identity) in [
      ([], RemoteBackend.Identity.owner), (["--admin-secret", "s"], .admin(secretFile: "s")),
    ] {
      for address in ["10.0.0.7:8443", "https://10.0.0.7:8443", "[::1]:8443"] {
        let options = try StorageOptions.parse(["--emulator", address, "--trust", "ca.pem"] + arguments)
        guard case .remote(let remote) = options.locations(paths).backend else {
          Issue.record("\(options.locations(paths).backend)")
          return
        }
        #expect(remote.endpoint.security == .tls(trustRoots: "ca.pem") && remote.endpoint.port == 8443)
        #expect(remote.identity == identity && !remote.allowsInsecureCredentials)
        #expect(options.locations(paths).isCloud == (identity != .owner))
      }
    }
  }

  @Test("A key file's project must be valid, unless an option names another project")
  func keyFile() throws {
    let file = TemporaryFolder()
    try Data(#"{"type": "service_account", "project_id": "../../x"}"#.utf8).write(to: URL(fileURLWithPath: file.path))
    let error = #expect(throws: (any Error).self) { try StorageOptions.parse(["--credentials", file.path]) }
    let message = error.map { StorageOptions.message(for: $0) } ?? ""
    #expect(message.contains(file.path) && message.contains("../../x") && message.contains("--project"), "\(message)")
    let named = try StorageOptions.parse(["--credentials", file.path, "--project", "p"])
    #expect(named.locations(paths).database.project == "p")
  }

  @Test("Reading never creates the data folder and reports missing data or cache")
  func reading() throws {
    let folder = TemporaryFolder()
    let locations = try StorageOptions.parse(["--data", folder.path]).locations(paths)
    let noData = #expect(throws: CommandFailure.self) { try locations.requireData() }
    #expect(noData?.status == .noInput && noData?.message.contains(folder.path) == true)
    let noCache = #expect(throws: CommandFailure.self) { try locations.readStore(isMade: false) }
    #expect(noCache?.status == .noInput && noCache?.message.contains(folder.path + "/cache") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.path))

    _ = try LocalBackend(BackendConfiguration(location: .directory(folder.path), now: { Timestamp(seconds: 0) }))
    try locations.requireData()
  }

  @Test("A command's cache is on disk for its connection's database, or in memory")
  func claims() throws {
    let folder = TemporaryFolder()
    let locations = try StorageOptions.parse(["--data", folder.path]).locations(paths)
    let connection = try BackendConnection.open(locations.backend, locations.database)
    let store = locations.store(for: connection, .never)
    #expect(store.location == locations.cache)
    #expect(store.claim == connection.identity.map { CacheClaim($0, replacesOthers: true) } && store.claim != nil)
    // Nothing can be made there, not even by root.
    let standIn = try BackendConnection.openOrFallBack(.embedded(folder: "/proc/hearth"), locations.database)
    #expect(standIn.problem != nil && locations.store(for: standIn, .never).location == .memory)

    let remote = try StorageOptions.parse(["--emulator", "h:1", "--cache", folder.path]).locations(paths)
    let server = remote.store(for: try BackendConnection.open(remote.backend, remote.database), .never)
    #expect(server.claim == CacheClaim(.server("h:1", remote.database)))
  }
}
