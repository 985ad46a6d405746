// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct SavedListenersTests {
    /// Data with some orders.
    private func filled() async throws -> Surroundings {
      let surroundings = try Surroundings()
      try surroundings.write(
        "in.jsonl", (0..<20).map { "{\"path\": \"orders/o\($0)\", \"data\": {\"n\": \($0)}}\n" }.joined())
      let path = surroundings.folder.appending(path: "in.jsonl").path
      #expect(try await HeadlessRun(["import", path], surroundings).status == 0)
      return surroundings
    }

    private func quit(_ hearth: TmuxTerminal) async throws {
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("Listeners that are open at quit are reopened at the next start by default")
    func restart() async throws {
      let surroundings = try await filled()
      let first = try await TmuxTerminal([], in: surroundings)
      try await first.wait("orders")
      try await first.keys("4", "n")
      try await first.wait("not a listener yet")
      try await first.type("orders")
      try await first.wait("in the cache")
      try await first.keys("BTab")
      try await first.type("all of them")
      try await first.keys("Enter")
      try await first.wait("all of them")
      try await first.wait("1 listener")
      try await quit(first)

      let without = try await TmuxTerminal(["--no-restore"], in: surroundings)
      try await without.wait("no listeners: space")
      try await quit(without)

      let second = try await TmuxTerminal([], in: surroundings)
      try await second.wait("Reopened: all of them.")
      try await second.keys("W")
      try await second.wait("20 docs")
      try await quit(second)

      try surroundings.configure("restore-listeners = false\n")
      let third = try await TmuxTerminal([], in: surroundings)
      try await third.wait("no listeners: space")
      try await quit(third)
    }

    @Test("Listeners from a file open at the start, and errors in it are reported by line")
    func file() async throws {
      let surroundings = try await filled()
      try surroundings.write(
        "mine.toml",
        """
        [[listener]]
        name = "small"
        path = "orders"
        where = ["n < 5"]
        [[listener]]
        path = "orders"
        limit = "x"

        """)
      let path = surroundings.folder.appending(path: "mine.toml").path
      let hearth = try await TmuxTerminal(["--listeners", path], in: surroundings)
      try await hearth.wait("mine.toml:7: limit must be a positive number")
      try await hearth.keys("W")
      try await hearth.wait("5 docs")
      try await quit(hearth)
      let missing = try await HeadlessRun(["plain", "--listeners", "/nowhere.toml"], surroundings)
      #expect(missing.status == 66)
      #expect(missing.errors.contains("/nowhere.toml cannot be read"))
    }

    @Test("A collection exported in one dashboard can be imported in another")
    func transfer() async throws {
      let surroundings = try await filled()
      let path = surroundings.folder.appending(path: "out.jsonl").path
      let first = try await TmuxTerminal([], in: surroundings)
      try await first.wait("orders")
      try await first.keys(":")
      try await first.type("export")
      try await first.keys("Enter", "C-u")
      try await first.type(path)
      try await first.keys("Enter")
      try await first.wait("20 documents exported to")
      try await quit(first)
      #expect(try surroundings.text("out.jsonl") == surroundings.text("in.jsonl").sortedLines)

      try surroundings.write("bad.jsonl", try surroundings.text("out.jsonl") + "oops\n")
      let bad = surroundings.folder.appending(path: "bad.jsonl").path
      let second = try await TmuxTerminal(["--in-memory"], in: surroundings)
      try await second.wait("1 Collections")
      try await second.keys(":")
      try await second.type("import")
      try await second.keys("Enter")
      try await second.type(bad)
      try await second.keys("Enter")
      try await second.wait("1 rejected")
      try await second.wait("line 21")
      try await second.keys("c")
      try await second.wait("20 docs")
      try await quit(second)
      #expect(try surroundings.text("bad.jsonl.rejected") == "oops\n")
    }
  }
}

extension String {
  /// In the order of an export: that of the bytes.
  fileprivate var sortedLines: String {
    split(separator: "\n").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { $0 + "\n" }.joined()
  }
}
