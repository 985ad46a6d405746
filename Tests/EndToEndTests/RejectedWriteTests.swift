// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreModel
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct RejectedWriteTests {
    @Test("A rejected write survives a restart and is edited, resent and undone")
    func rejected() async throws {
      let surroundings = try Surroundings()
      try await surroundings.seed("items", ["a0": "seeded"])
      let first = try await TmuxTerminal(in: surroundings)
      try await first.select("a0")
      try await first.keys("F", "r", "q", "d", "Tab", "Enter")
      try await first.wait(for: "the rejection in pane 2") {
        $0.rows("│", "#1 ", "delete", "rejected").count == 1
      }
      // The local deletion is undone.
      try await first.wait(for: "the document") { $0.rows("a0", "seeded").count == 1 }
      try await first.keys("Q")
      #expect(try await first.exitStatus() == 0)

      let second = try await TmuxTerminal(in: surroundings)
      try await second.wait(for: "the rejected write") { $0.rows("│", "#1 ", "delete", "rejected").count == 1 }
      try await second.keys("2")
      try await second.wait(for: "the reason in full") {
        $0.text.contains("permission-denied: The write was") && $0.text.contains("injected fault")
      }
      try surroundings.write("edit", #"[{"update": "items/a0", "data": {"name": "mended"}}]"#)
      try await second.keys("e")
      try await second.wait(for: "the edited write at the server") {
        $0.rows("2 Pending writes", "1 rejected").isEmpty && $0.rows("a0", "mended").count == 1
          && $0.lines[0].contains("⇡0")
      }
      try await second.keys("Q")
      #expect(try await second.exitStatus() == 0)
      let stored = try await BackendFolder(path: surroundings.backend).documents(in: "items")
      #expect(stored.map { $0.data?.fields["name"] } == [Value.string("mended")])
      #expect(try surroundings.text("given").contains(#""delete": "items/a0""#))
    }

    @Test("The last local write can be undone even if the server has already applied it")
    func undo() async throws {
      let surroundings = try Surroundings()
      try await surroundings.seed("items", ["a0": "seeded"])
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.select("a0")
      try surroundings.write("edit", #"{"name": "changed"}"#)
      try await hearth.keys("e")
      try await hearth.wait(for: "the acknowledged change") {
        $0.rows("a0", "changed").count == 1 && $0.lines[0].contains("rtt") && $0.lines[0].contains("⇡0")
      }
      try await hearth.keys("u")
      try await hearth.wait(for: "the old name, also on the server") {
        $0.rows("a0", "seeded").count == 1 && $0.lines[0].contains("⇡0")
      }

      try await hearth.keys("o")
      try await hearth.wait("││ ○ OFFLINE")
      try await hearth.keys("e")
      try await hearth.wait(for: "the held change") { $0.rows("│", "#3 ", "pending").count == 1 }
      try await hearth.keys("u")
      try await hearth.wait(for: "the old name") { $0.rows("a0", "seeded").count == 1 && $0.lines[0].contains("⇡0") }
    }
  }
}
