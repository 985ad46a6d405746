// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

extension EndToEndTests.InTmux {
  /// `hearth proxy` on a terminal, with clients on both sides of the plug.
  @Suite(.serialized) struct ProxyScreenTests {
    /// The address of the proxy, by its screen.
    private func address(_ screen: TmuxTerminal) throws -> String {
      let line = screen.lines.first { $0.contains("FIRESTORE_EMULATOR_HOST=") } ?? ""
      let text = line.split(separator: "=").last.map(String.init) ?? ""
      let address = text.prefix { $0.isNumber || $0 == "." || $0 == ":" }
      return try #require(address.isEmpty ? nil : String(address))
    }

    @Test("The proxy's dashboard shows the first client's listeners, calls and faults", arguments: [120, 80])
    func screen(width: Int) async throws {
      let surroundings = try Surroundings()
      let server = try await ServeProcess(surroundings)
      let screen = try await TmuxTerminal(
        ["proxy", "--to", server.address, "--port", "0"], in: surroundings, width: width, height: width == 80 ? 24 : 36)
      try await screen.wait("FIRESTORE_EMULATOR_HOST=127.0.0.1:")
      let place = ["--emulator", try address(screen)]
      let watcher = try ChildProcess(
        [Surroundings.hearth, "watch", "cities", "--json"] + place, environment: surroundings.environment,
        streams: .pipes)
      try await screen.wait(for: "the dashboard") { $0.lines[0].contains("ATTACHED") }
      #expect(try await HeadlessRun(["set", "cities/SF", "state=CA"] + place, surroundings).status == 0)
      try await screen.wait(for: "the document in the feed, and the write's call") { screen in
        screen.text.contains("state \"CA\"") && screen.lines.contains { $0.contains("Commit") && $0.contains(" ok, ") }
      }
      try await screen.type(":")
      try await screen.type("fault next read permission-denied")
      try await screen.keys("Enter")
      try await screen.wait("next read")
      let refused = try await HeadlessRun(["get", "cities/SF"] + place, surroundings)
      #expect(refused.status == 77, "\(refused.errors)")
      try await screen.wait("the read is")

      try await screen.keys("o")
      try await screen.wait(for: "the server's absence") { $0.lines[0].contains("OFFLINE") }
      #expect(try await HeadlessRun(["get", "cities/SF"] + place, surroundings).status == 69)
      try await screen.keys("o")
      try await screen.wait(for: "the server's return") { $0.lines[0].contains("ONLINE") }
      let listed = try await HeadlessRun(["attach", "--json"], surroundings)
      #expect(listed.output.contains("\"hearth proxy\"") && listed.output.contains("\"client-1\""))
      try await screen.keys("q")
      #expect(try await screen.exitStatus() == 0)
      watcher.closeInput()
    }

    @Test("proxy --plain prints lines on a terminal; if the port is in use it exits with 69")
    func plain() async throws {
      let surroundings = try Surroundings()
      let server = try await ServeProcess(surroundings)
      let lines = try await TmuxTerminal(
        ["proxy", "--to", server.address, "--port", "0", "--plain"], in: surroundings)
      try await lines.wait("Proxying 127.0.0.1:")
      #expect(!lines.text.contains("The dashboard opens"))
      try await lines.type("quit")
      try await lines.keys("Enter")
      #expect(try await lines.exitStatus() == 0)
      let taken = try await TmuxTerminal(
        ["proxy", "--to", server.address, "--port", "\(server.port)"], in: surroundings)
      #expect(try await taken.exitStatus() == 69)
    }
  }
}
