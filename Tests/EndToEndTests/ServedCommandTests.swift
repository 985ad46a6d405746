// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// The commands against a `hearth serve` in a process of its own.
  @Suite(.serialized) struct ServedCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., at server: ServeProcess) async throws -> HeadlessRun {
      try await HeadlessRun(arguments + ["--emulator", server.address], surroundings)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    @Test("Repeating a killed import to a server leaves exactly the imported documents")
    func transfer() async throws {
      let server = try await ServeProcess(surroundings)
      let filling = String(repeating: "é", count: 120)
      let lines = (0..<2_000).map { number in
        "{\"path\": \"c/d\(1_000_000 + number * 7_919 % 2_000)\", \"data\": {\"n\": \(number), \"s\": \"\(filling)\"}}\n"
      }
      try surroundings.write("in.jsonl", lines.joined())
      let arguments = ["import", "-", "--resume", path("progress"), "--emulator", server.address]
      let process = try ChildProcess(
        [Surroundings.hearth] + arguments, environment: surroundings.environment, streams: .pipes)
      // More than fits into the pipe: when it is written, some of it was read.
      process.write(lines.prefix(1_000).joined())
      kill(process.id, SIGKILL)
      #expect(try await process.exitStatus() == 128 + SIGKILL)

      let second = try await HeadlessRun(arguments, input: lines.joined(), surroundings)
      #expect(second.status == 0, "\(second.errors)")
      let exported = try await hearth("export", "--all", "--recursive", "-o", path("out.jsonl"), at: server)
      #expect(exported.status == 0, "\(exported.errors)")
      #expect(try surroundings.text("out.jsonl") == lines.sorted().joined())
    }

    @Test("A write without a response is reported as possibly applied, not as failed")
    func givenUp() async throws {
      // Takes connections and never says a word.
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &size) == 0
        }
      }
      #expect(isListening)
      let place = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
      let run = try await HeadlessRun(
        ["update", "c/a", "n={\"$increment\": 1}", "--timeout", "300ms", "--emulator", place], surroundings)
      #expect(run.status == 75)
      #expect(run.errors.contains("c/a: no answer within"), "\(run.errors)")
      #expect(run.errors.contains("may have been applied"), "\(run.errors)")
    }

    @Test("Watching a query prints one line per change made by another process")
    func watch() async throws {
      let server = try await ServeProcess(surroundings)
      let watch = try ChildProcess(
        [Surroundings.hearth, "watch", "cities", "--where", "state == CA", "--json", "--emulator", server.address],
        environment: surroundings.environment, streams: .pipes)
      _ = try await hearth("set", "cities/SF", "{\"state\": \"CA\", \"n\": 1}", at: server)
      #expect(try await watch.line().hasPrefix("{\"type\": \"added\", \"path\": \"cities/SF\""))
      _ = try await hearth("set", "cities/NY", "{\"state\": \"NY\"}", at: server)
      _ = try await hearth("update", "cities/SF", "n=2", at: server)
      #expect(
        try await watch.line().hasPrefix("{\"type\": \"modified\", \"path\": \"cities/SF\", \"changed\": [\"n\"]"))
      _ = try await hearth("update", "cities/SF", "state=NV", at: server)
      #expect(try await watch.line().hasPrefix("{\"type\": \"removed\", \"path\": \"cities/SF\""))
      _ = try await hearth("update", "cities/NY", "state=CA", at: server)
      #expect(try await watch.line().hasPrefix("{\"type\": \"added\", \"path\": \"cities/NY\""))
      kill(watch.id, SIGTERM)
      #expect(try await ChildProcess.all(watch.output) == "")
      #expect(try await watch.exitStatus() == 0)
    }

    @Test(
      "Without a server, a command exits with 69 and an error line, not an empty result",
      arguments: [
        "get a/b", "get a", "watch a", "watch a --until 1 --timeout 5s", "export a", "export --all", "set a/b {}",
        "update a/b n=1", "delete a/b", "delete a --recursive --yes",
      ])
    func unreachable(command: String) async throws {
      let run = try await HeadlessRun(
        command.split(separator: " ").map(String.init) + ["--emulator", "127.0.0.1:1"], surroundings)
      #expect(run.status == 69 && run.output == "", "\(run.output)")
      #expect(run.hasOneErrorLine && run.errors.contains("refuses"), "\(run.errors)")
    }

    @Test("If the server uses TLS and the command does not, it exits with 69 and says so")
    func speaksTLS() async throws {
      try surroundings.write("cert.pem", TLSFiles.certificate)
      try surroundings.write("key.pem", TLSFiles.key)
      // A key that others may read is refused.
      chmod(path("key.pem"), 0o600)
      let server = try await ServeProcess(
        surroundings, ["--in-memory", "--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")])
      let run = try await hearth("get", "a/b", at: server)
      #expect(run.status == 69 && run.hasOneErrorLine && run.errors.contains("TLS"), "\(run.errors)")
      // Who trusts its certificate needs no secret where none is asked for.
      let arguments = ["--emulator", server.address, "--trust", path("cert.pem")]
      let set = try await HeadlessRun(["set", "a/b", "{\"n\": 1}"] + arguments, surroundings)
      #expect(set.status == 0 && set.errors == "", "\(set.errors)")
      let read = try await HeadlessRun(["get", "a/b"] + arguments, surroundings)
      #expect(read.status == 0 && read.output.contains("\"n\": 1"), "\(read.errors)")
    }

    @Test("By default a server is reachable only from its own machine")
    func loopback() async throws {
      let server = try await ServeProcess(surroundings)
      #expect(server.address.hasPrefix("127.0.0.1:"))
      // All of 127.0.0.0/8 is this machine: a server that listens on every address answers on the second as well.
      #expect(isReached("127.0.0.1", server.port))
      #expect(!isReached("127.0.0.2", server.port))
    }

    private func isReached(_ address: String, _ port: Int) -> Bool {
      let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
      defer { close(socket) }
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = in_port_t(port).bigEndian
      inet_pton(AF_INET, address, &name.sin_addr)
      return withUnsafePointer(to: &name) { name in
        name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }

    @Test("Without its key file a command exits with 77, and the error names the file")
    func missingKeyFile() async throws {
      let run = try await HeadlessRun(
        ["get", "a/b", "--host", "127.0.0.1:1", "--credentials", path("key.json")], surroundings)
      #expect(run.status == 77 && run.hasOneErrorLine && run.errors.contains("key.json"), "\(run.errors)")
    }

    @Test("A server prints the environment variable for clients, and no error messages")
    func announcement() async throws {
      let server = try await ServeProcess(surroundings, ["--data", path("served")])
      #expect(try await server.process.line() == "export FIRESTORE_EMULATOR_HOST=\(server.address)")
      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)
      #expect(try await ChildProcess.all(server.process.errors) == "")
    }

    @Test("A server that other machines can reach warns that there are no rules")
    func openToOthers() async throws {
      let server = try await ServeProcess(surroundings, ["--in-memory", "--host", "0.0.0.0", "--open"])
      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)
      let said = try await ChildProcess.all(server.process.errors)
      #expect(said.contains("Without security rules") && said.contains("0.0.0.0"))
    }

    @Test("serve exits with 66 without its certificate, 77 if other users can read its key")
    func tlsFiles() async throws {
      try surroundings.write("key.pem", "none")
      let absent = try await HeadlessRun(
        ["serve", "--port", "0", "--tls-cert", path("absent.pem"), "--tls-key", path("key.pem")], surroundings)
      #expect(absent.status == 66 && absent.hasOneErrorLine && absent.errors.contains("absent.pem"), "\(absent.errors)")
      #expect(chmod(path("key.pem"), 0o644) == 0)
      let open = try await HeadlessRun(
        ["serve", "--port", "0", "--tls-cert", path("key.pem"), "--tls-key", path("key.pem")], surroundings)
      #expect(open.status == 77 && open.hasOneErrorLine && open.errors.contains("chmod 600"), "\(open.errors)")
    }

    @Test(
      "With an invalid key file a command exits with 77 and one error line",
      arguments: [
        ("not JSON", "not JSON"), (#"{"type": "service_account"}"#, "client_email"),
        (
          #"{"type": "service_account", "client_email": "a@b", "private_key": "-----BEGIN PRIVATE KEY-----\nx\n"}"#,
          "private_key"
        ),
      ])
    func keyFile(content: String, reason: String) async throws {
      try surroundings.write("key.json", content)
      let run = try await HeadlessRun(
        ["get", "a/b", "--credentials", path("key.json"), "--project", "p"], surroundings)
      #expect(run.status == 77 && run.hasOneErrorLine, "\(run.errors)")
      #expect(run.errors.contains("key.json") && run.errors.contains(reason), "\(run.errors)")
    }
  }
}

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct RemoteDashboardTests {
    @Test("A dashboard reports a missing server and lists collections once the server is up")
    func firstContact() async throws {
      let (servers, surroundings) = (try Surroundings(), try Surroundings())
      let data = ["--data", servers.folder.path + "/served"]
      let port = try ReservedPort()
      var server = try await ServeProcess(servers, data, port: port.number)
      let address = server.address
      _ = try await HeadlessRun(["set", "cities/SF", "{\"name\": \"San Francisco\"}", "--emulator", address], servers)
      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)

      let hearth = try await TmuxTerminal(["--emulator", address], in: surroundings)
      try await hearth.wait(for: "the state, the reason, and the next attempt") {
        $0.text.contains("OFFLINE") && $0.text.contains("not listed") && $0.text.contains("refuses the connection")
          && $0.text.contains("retry in")
      }
      server = try await ServeProcess(servers, data, port: port.number)
      try await hearth.wait("San Francisco")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
      withExtendedLifetime(port) {}
    }

    @Test("Without its server the dashboard opens from the cache and later goes online")
    func opensOffline() async throws {
      let surroundings = try Surroundings()
      let port = try ReservedPort()
      var server = try await ServeProcess(
        surroundings, ["--data", surroundings.folder.path + "/served"], port: port.number)
      let address = server.address
      _ = try await HeadlessRun(
        ["set", "cities/SF", "{\"name\": \"San Francisco\"}", "--emulator", address], surroundings)
      do {
        let hearth = try await TmuxTerminal(["--emulator", address], in: surroundings)
        try await hearth.wait("San Francisco")
        try await hearth.keys("Q")
        #expect(try await hearth.exitStatus() == 0)
      }
      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)

      let hearth = try await TmuxTerminal(["--emulator", address], in: surroundings)
      try await hearth.wait(for: "the cached document and the reason") {
        $0.text.contains("San Francisco") && $0.text.contains("OFFLINE") && $0.text.contains("refuses the connection")
      }
      server = try await ServeProcess(
        surroundings, ["--data", surroundings.folder.path + "/served"], port: port.number)
      try await hearth.keys("3", "r")
      try await hearth.wait("ONLINE")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
      withExtendedLifetime(port) {}
    }
  }
}
