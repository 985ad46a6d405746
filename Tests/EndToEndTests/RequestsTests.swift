// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct RequestsTests {
    private static let rules = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          match /rooms/{room} {
            allow get: if resource.data.owner == request.auth.uid;
          }
        }
      }
      """

    /// Asks for a document as somebody who is not signed in.
    private func ask(_ server: ServeProcess, for document: String, _ surroundings: Surroundings) throws -> ChildProcess
    {
      let path = "/v1/projects/demo-shop/databases/(default)/documents/\(document)"
      return try ChildProcess(
        [
          "bash", "-c",
          "exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET %s HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n'"
            + " \"$1\" >&3; cat <&3", "\(server.port)", path,
        ], environment: surroundings.environment, streams: .pipes)
    }

    @Test("A request that rules deny appears in the dashboard live with its values")
    func refused() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let server = try await ServeProcess(
        surroundings, ["--in-memory", "--rules", "\(surroundings.folder.path)/r.rules"])
      let connection = ["--emulator", server.address, "--project", "demo-shop"]
      let seed = try await HeadlessRun(["set", "rooms/a", #"{"owner": "ada"}"#] + connection, surroundings)
      #expect(seed.status == 0, "\(seed.errors)")

      let hearth = try await TmuxTerminal(connection, in: surroundings)
      try await hearth.wait("4 Live feed")
      try await hearth.keys("4", "]")
      try await hearth.wait("rules have checked no request so far")
      let client = try ask(server, for: "rooms/a", surroundings)
      try await hearth.wait(for: "the refusal") { $0.rows("ERROR", "nobody", "get", "rooms/a", "L5", "ms").count == 1 }
      #expect(try await client.exitStatus() == 0)

      try await hearth.keys("Enter")
      try await hearth.wait(#"resource.data.owner = "ada""#)
      #expect(hearth.text.contains("L5 allow get: if resource.data.owner == request.auth.uid"))
      #expect(hearth.text.contains("request.auth = null"))

      // The same without a screen, as it happens.
      let follower = try ChildProcess(
        [Surroundings.hearth, "plain", "--json"] + connection, environment: surroundings.environment, streams: .pipes)
      follower.write("follow requests\n")
      try await follower.shows("prints each request")
      let second = try ask(server, for: "rooms/b", surroundings)
      // A line of its own, which nothing else has.
      try await follower.shows(#""verdict": "error", "method": "get", "path": "rooms/b""#)
      #expect(try await second.exitStatus() == 0)
      follower.write("quit\n")
      #expect(try await follower.exitStatus() == 0)

      // And once, with all that there were.
      let told = try await HeadlessRun(
        ["plain"] + connection, input: "requests\nrequests --json\nquit\n", surroundings)
      #expect(told.status == 0, "\(told.errors)")
      #expect(told.output.contains("requests: 2, 2 of them denied"), "\(told.output)")
      let line = try #require(told.lines.first { $0.hasPrefix("{") }, "\(told.output)")
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let request = try #require((object["requests"] as? [[String: Any]])?.first, "\(line)")
      #expect(request["verdict"] as? String == "error" && request["path"] as? String == "rooms/a", "\(line)")
      #expect(line.contains("request.auth") && request["line"] as? Int == 5, "\(line)")
    }
  }
}
