// SPDX-License-Identifier: Apache-2.0
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct ConvergenceTests {
    @Test("Two dashboards editing one document, one of them offline, converge")
    func sameDocument() async throws {
      // A home and a cache for each.
      let (first, second) = (try Surroundings(), try Surroundings())
      let server = try await ServeProcess(first)
      func set(_ path: String, _ name: String) async throws {
        let run = try await HeadlessRun(
          ["set", path, "{\"name\": \"\(name)\"}", "--emulator", server.address], first)
        #expect(run.status == 0, "\(run.errors)")
      }
      try await set("items/a0", "begun")
      let away = try await TmuxTerminal(["--emulator", server.address], in: first)
      let here = try await TmuxTerminal(["--emulator", server.address], in: second)
      for hearth in [away, here] {
        try await hearth.select(" items ")
        try await hearth.keys("l")
        try await hearth.wait(for: "the document") { $0.rows("a0", "begun").count >= 1 }
        try await hearth.select("▸ a0")
      }

      try await away.keys("o")
      try await away.wait("○ OFFLINE")
      try first.write("edit", #"{"name": "from away"}"#)
      try await away.keys("e")
      try await away.wait(for: "the edit that waits") {
        $0.lines[0].contains("⇡1") && $0.rows("│", "a0", "from away").count >= 1
      }
      try second.write("edit", #"{"name": "from here"}"#)
      try await here.keys("e")
      try await here.wait(for: "the edit that is acknowledged") {
        $0.lines[0].contains("⇡0") && $0.rows("│", "a0", "from here").count >= 1
          && $0.rows("#1 acknowledged").count >= 1
      }
      try await set("items/b1", "elsewhere")
      try await here.wait(for: "the new document") { $0.rows("│", "b1", "elsewhere").count >= 1 }
      #expect(away.rows("from here").isEmpty && away.rows("b1").isEmpty)

      // Who comes back writes last.
      try await away.keys("o")
      for hearth in [away, here] {
        try await hearth.wait(for: "the same documents") {
          $0.lines[0].contains("● ONLINE") && $0.lines[0].contains("⇡0") && $0.rows("│", "a0", "from away").count >= 1
            && $0.rows("│", "b1", "elsewhere").count >= 1
        }
      }
      let stored = try await HeadlessRun(["get", "items", "--emulator", server.address], first)
      #expect(stored.output.contains("from away") && stored.output.contains("elsewhere"))
      #expect(!stored.output.contains("from here"))
      for hearth in [away, here] {
        try await hearth.keys("Q")
        #expect(try await hearth.exitStatus() == 0)
      }
    }
  }
}
