// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InTmux {
  /// Pins and lifetimes, which are those of the cache, and not of a session.
  @Suite(.serialized) struct RetentionTests {
    private func filled() async throws -> Surroundings {
      let surroundings = try Surroundings()
      try surroundings.write(
        "in.jsonl",
        (0..<6).map { "{\"path\": \"orders/o\($0)\", \"data\": {\"state\": \"\($0 < 2 ? "done" : "open")\"}}\n" }
          .joined())
      let path = surroundings.folder.appending(path: "in.jsonl").path
      #expect(try await HeadlessRun(["import", path], surroundings).status == 0)
      return surroundings
    }

    private func run(_ command: String, _ hearth: TmuxTerminal) async throws {
      try await hearth.keys(":")
      try await hearth.type(command)
      try await hearth.keys("Enter")
    }

    /// Opens the page of the client's inside at the section of pins and lifetimes.
    private func openKept(_ hearth: TmuxTerminal) async throws {
      try await hearth.keys("I")
      try await hearth.wait("Inside the client")
      try await hearth.keys("Tab", "Tab", "Tab", "Tab", "Tab", "Tab")
      try await hearth.wait("[kept]")
    }

    private func quit(_ hearth: TmuxTerminal) async throws {
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("Pins and lifetimes survive a restart, and a second dashboard has separate ones")
    func restart() async throws {
      let surroundings = try await filled()
      let first = try await TmuxTerminal([], in: surroundings)
      try await first.wait("orders")
      try await run("pin orders", first)
      try await first.wait("until you unpin it")
      try await run("lifetime orders where state == done 2h", first)
      try await first.wait("is evicted 2 h after")
      try await quit(first)

      let second = try await TmuxTerminal([], in: surroundings)
      try await second.wait("orders")
      try await openKept(second)
      try await second.wait("pinned")
      try await second.wait("2 h after sync")

      let beside = try await TmuxTerminal([], in: surroundings)
      try await beside.wait("orders")
      try await openKept(beside)
      try await beside.wait("no pins and no lifetimes")
      try await quit(beside)

      try await second.keys("d")
      try await second.wait("can be evicted again")
      try await second.wait(for: "the pin to be gone") { !$0.text.contains("pinned") }
      try await quit(second)

      let third = try await TmuxTerminal([], in: surroundings)
      try await third.wait("orders")
      try await openKept(third)
      try await third.wait("2 h after sync")
      #expect(!third.text.contains("pinned"))
      try await quit(third)
    }

    @Test("An invalid lifetime or pin changes nothing, and the error has the reason")
    func wrong() async throws {
      let surroundings = try await filled()
      let hearth = try await TmuxTerminal([], in: surroundings)
      try await hearth.wait("orders")
      for (command, reason) in [
        ("lifetime orders soon", "Expected a number with a unit"),
        ("pin orders whree state == done", "found \"whree\""),
        ("purge orders older than", "PATH older than 2h"), ("evict orders limit 3", "an eviction has no limit"),
      ] {
        try await run(command, hearth)
        try await hearth.wait(reason)
        try await hearth.keys("Escape")
        try await hearth.wait(for: "the palette to close") { !$0.text.contains("─ Commands ─") }
      }
      try await openKept(hearth)
      try await hearth.wait("no pins and no lifetimes")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }
  }
}
