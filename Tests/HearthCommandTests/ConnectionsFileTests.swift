// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

/// `connections.toml`, and the options that its names stand for.
@Suite struct ConnectionsFileTests {
  private let paths = Paths(environment: ["HOME": "/home/ada"])

  private func file(_ text: String) -> ConnectionsFile {
    ConnectionsFile(text, name: "connections.toml", folder: "/home/ada/.config/hearth", home: "/home/ada")
  }

  private let good = """
    [local]
    emulator = "127.0.0.1:8080"
    project = "shop"

    [prod]
    credentials = "keys/prod.json"
    host = "example.com"
    trust = "~/ca.pem"
    project = "shop"
    database = "orders"
    readonly = true

    [mine]
    data = "/srv/data"
    production = true

    [usual]
    embedded = true

    [guarded]
    emulator = "localhost:8080"
    admin-secret = "keys/admin"
    """

  private func options(_ arguments: String...) throws -> StorageOptions {
    try ConnectionsFile.$given.withValue(file(good)) { try StorageOptions.parse(arguments) }
  }

  @Test("A connection provides its options to every command")
  func stands() throws {
    let file = file(good)
    #expect(file.problems == [] && file.connections.map(\.name) == ["local", "prod", "mine", "usual", "guarded"])
    let local = try options("--connection", "local").locations(paths)
    #expect(local.backend == (try options("--emulator", "127.0.0.1:8080").locations(paths).backend))
    #expect(local.database.project == "shop" && local.connection?.name == "local")
    #expect(!local.isProduction && !local.isReadOnly)
    #expect(try options("-Clocal").locations(paths).backend == local.backend)
    let prod = try options("-C", "prod")
    #expect(prod.remote.credentials == "/home/ada/.config/hearth/keys/prod.json")
    #expect(prod.remote.trust == "/home/ada/ca.pem")
    #expect(prod.locations(paths).isProduction && prod.isReadOnly && prod.database == "orders")
    let mine = try options("-C", "mine", "--project", "p").locations(paths)
    #expect(mine.backend == .embedded(folder: "/srv/data") && mine.isProduction && mine.database.project == "p")
    let guarded = try options("-C", "guarded").locations(paths)
    #expect(
      guarded.backend
        == (try options("--emulator", "localhost:8080", "--admin-secret", "/home/ada/.config/hearth/keys/admin")
          .locations(paths).backend))
    #expect(!guarded.isProduction)
    #expect(try options("-C", "usual").locations(paths).backend == options().locations(paths).backend)
  }

  @Test(
    "An option that contradicts the connection is rejected, and the error names both",
    arguments: [
      (["-C", "local", "--emulator", "h:1"], ["--connection local", "--emulator"]),
      (["-C", "local", "--data", "/x"], ["--connection local", "--data"]),
      (["-C", "local", "--in-memory"], ["--connection local", "--in-memory"]),
      (["-C", "prod", "--project", "other"], ["--connection prod", "shop", "--project", "other"]),
      (["-C", "prod", "--database", "x"], ["--connection prod", "--database"]),
      (["-C", "lokal"], ["lokal", "Did you mean local?"]),
    ])
  func contradictions(arguments: [String], parts: [String]) {
    let error = #expect(throws: (any Error).self) {
      try ConnectionsFile.$given.withValue(file(good)) { try StorageOptions.parse(arguments) }
    }
    let text = error.map { StorageOptions.message(for: $0) } ?? ""
    for part in parts { #expect(text.contains(part), "\(text)") }
  }

  @Test(
    "An invalid connection is reported with line and key, and the others still work",
    arguments: [
      ("emulater = \"x\"", 2, "unknown key \"emulater\"; did you mean emulator?"),
      ("emulator = 5", 2, "emulator must be text"), ("cloud = \"yes\"", 2, "cloud must be true or false"),
      ("emulator = \"h:1\"\ncloud = true", 3, "emulator and cloud both name a backend"),
      ("project = \"p\"", 1, "no backend"), ("data = \"d\"\ntrust = \"x\"", 3, "trust needs a TLS backend"),
      ("cloud = true\nadmin-secret = \"x\"", 3, "admin-secret is for 'hearth serve'"),
      ("emulator = \"h:99999\"", 2, "emulator \"h:99999\" is not an address"),
      ("cloud = true\nhost = \"h:99999\"", 3, "host \"h:99999\" is not an address"),
      ("cloud = true\nreadonly = 1", 3, "readonly must be true or false"),
    ])
  func problems(lines: String, line: Int, reason: String) {
    let file = file("[bad]\n\(lines)\n\n[good]\ncloud = true\n")
    #expect(file.connections.map(\.name) == ["good"])
    let text = file.problems.first?.text ?? ""
    #expect(text.hasPrefix("connections.toml:\(line): [bad] ") && text.contains(reason), "\(text)")
    let failure = #expect(throws: CommandFailure.self) { try file.connection(named: "bad") }
    #expect(failure?.status == .configuration && failure?.message == text)
  }

  @Test("An invalid TOML file disables all connections, because one may be read-only")
  func broken() {
    let file = file("[prod]\ncloud = true\nreadonly = yes please\n")
    #expect(file.connections == [] && file.problems.first?.text.hasPrefix("connections.toml:3: ") == true)
    let failure = #expect(throws: CommandFailure.self) { try file.connection(named: "prod") }
    #expect(failure?.status == .configuration)
    let outside = self.file("cloud = true\n[a]\ncloud = true\n")
    #expect(outside.connections.map(\.name) == ["a"] && outside.problems.first?.text.contains("outside") == true)
  }

  @Test("An invalid server address is reported with the connection's name")
  func address() {
    let file = file("[odd]\nemulator = \"https://h:1\"\n")
    let error = #expect(throws: (any Error).self) {
      try ConnectionsFile.$given.withValue(file) { try StorageOptions.parse(["-C", "odd"]) }
    }
    #expect(error.map { StorageOptions.message(for: $0) }?.contains("connections.toml:2: [odd]") == true)
  }

  @Test("Either side of 'diff' can be a saved connection with project, database and time")
  func compared() throws {
    let file = file("[there]\nemulator = \"localhost:81\"\nproject = \"p\"\n")
    try ConnectionsFile.$given.withValue(file) {
      let here = try StorageOptions.parse(["--data", "/d"]).locations
      let side = try ComparedSide("connection:there@-10m", in: here)
      guard case .database(let locations, let path, let time?) = side else {
        Issue.record("no database as of when: \(side)")
        return
      }
      #expect(locations.database.project == "p" && path.isRoot && time.seconds > 0)
      #expect(locations.backend == (try StorageOptions.parse(["-C", "there"]).locations.backend))
      let failure = #expect(throws: CommandFailure.self) { try ComparedSide("connection:ther", in: here) }
      #expect(failure?.message == "unknown connection \"ther\". Did you mean there?")
    }
  }

  @Test("A shell command without a backend option uses the shell's backend and project")
  func inherited() throws {
    let shell = ShellSurroundings(try options("-C", "local"))
    try Surroundings.$current.withValue(shell) {
      let plain = try options().locations(paths)
      #expect(plain.connection?.name == "local" && plain.database.project == "shop")
      let other = try options("--database", "d").locations(paths)
      #expect(other.connection?.name == "local" && other.database.database == "d")
      #expect(try options("--data", "/x").locations(paths).backend == .embedded(folder: "/x"))
      #expect(try options("-C", "usual").locations(paths).database.project == "hearth")
    }
    let readOnly = ShellSurroundings(try options(), isReadOnly: true)
    #expect(try Surroundings.$current.withValue(readOnly) { try options("-C", "local").isReadOnly })
  }
}
