// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreModel
import Foundation
import Glibc
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct OfflineTests {
    @Test("Possible data loss after a power failure is shown on the screen")
    func afterPowerFailure() async throws {
      let surroundings = try Surroundings()
      let data = surroundings.folder.path + "/data"
      _ = try await HeadlessRun(["set", "cities/SF", "n=1", "--data", data], surroundings)
      // The mark of a database that was open when another boot of the system ended.
      try surroundings.write("data/backend.sqlite3.open", "another boot")

      let hearth = try await TmuxTerminal(["--data", data], in: surroundings)
      try await hearth.wait("The system stopped while")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("Offline writes are shown as pending and are sent once online")
    func demo() async throws {
      let surroundings = try Surroundings()
      let hearth = try await TmuxTerminal(["--demo"], in: surroundings)
      try await hearth.wait(for: "server events") { $0.feed.contains { $0.isServerData } }
      // More documents may follow than there are rows.
      try await hearth.keys("4")
      try await filter(hearth, by: "sync", for: "three listeners in sync") { $0.rows("= in sync").count == 3 }
      // Unfolded, the orders would leave no room.
      try await hearth.keys("1", "-")
      try await hearth.wait(for: "all collections") { screen in
        ["chat", "orders", "products", "users"].allSatisfy { screen.rows("│", " \($0) ", "doc").count == 1 }
      }

      try await hearth.keys("o")
      try await hearth.wait(for: "offline everywhere") {
        $0.lines[0].contains("○ OFFLINE") && $0.rows("││ ○ OFFLINE").count == 1
          && $0.feed.contains { $0.contains("offline ") && $0.contains("by you") }
          && $0.rows("= cached").count == 3
      }

      try surroundings.write("edit", #"{"status": "mine"}"#)
      try await hearth.select(" orders ")
      try await hearth.keys("n", "d", "C-o")
      try await hearth.wait(for: "the new order") {
        $0.feedSinceOffline.contains { $0.contains(" + ") && $0.contains("LOCAL   cp") && $0.contains("#1") }
          && $0.rows("│", "#1 ", "set", "pending").count == 1 && $0.lines[0].contains("⇡1")
      }
      try surroundings.write("edit", #"{"name": "Changed"}"#)
      // Unfolded, the orders would leave no room.
      try await hearth.keys("-")
      try await hearth.select(" users ")
      try await hearth.keys("l")
      try await hearth.select("▸ ada")
      try await hearth.keys("e")
      try await hearth.wait(for: "the changed user") {
        $0.feedSinceOffline.contains { $0.contains("~ users/ada") && $0.contains("LOCAL   cp") && $0.contains("#2") }
          && $0.rows("│", "#2 ", "update", "pending").count == 1 && $0.lines[0].contains("⇡2")
          && $0.rows("ada", "#2", "Lc").count == 1
      }
      // The demo writes at least every 1.5 s: by now it did.
      try await hearth.wait(for: "four seconds of outage") {
        $0.lines[0].contains(/OFFLINE (0:0[4-9]|0:[1-5]|[1-9])/)
      }
      #expect(hearth.feedSinceOffline.filter(\.isServerData) == [])
      #expect(hearth.rows("│", "pending").count >= 2)

      try await hearth.keys("o")
      try await hearth.wait(for: "an empty queue") { $0.lines[0].contains("● ONLINE") && $0.lines[0].contains("⇡0") }
      try await hearth.keys("4", "+")
      try await hearth.wait(for: "the changes that were missed") {
        $0.feedSinceOffline.contains { $0.isServerData && !$0.contains(" acknowledged") }
      }
      try await filter(hearth, by: "acknowledged", for: "both acknowledgements") { screen in
        (1...2).allSatisfy { screen.rows("SERVER", "#\($0) acknowledged").count == 1 }
      }
      try await filter(hearth, by: "sync", for: "each listener in sync again") {
        $0.rows("= in sync", "cache→server").count == 3
      }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }

    /// Waits for rows of the live feed, which has the focus, while a filter hides the others.
    private func filter(
      _ hearth: TmuxTerminal, by text: String, for what: String, _ isThere: (TmuxTerminal) -> Bool
    ) async throws {
      try await hearth.keys("/")
      try await hearth.wait("filter Live feed")
      try await hearth.type(text)
      try await hearth.wait(for: what) { $0.text.contains("/\(text) ") && isThere($0) }
      try await hearth.keys("Escape")
      try await hearth.wait(for: "no filter") { !$0.text.contains("filter Live feed") }
    }

    @Test("A pending write for one data folder is not sent to another folder")
    func otherData() async throws {
      let surroundings = try Surroundings()
      let (a, b) = (surroundings.folder.path + "/a", surroundings.folder.path + "/b")
      for data in [a, b] {
        #expect(try await HeadlessRun(["set", "items/a0", "{}", "--data", data], surroundings).status == 0)
      }
      try surroundings.write("edit", #"{"name": "for a"}"#)
      let first = try await TmuxTerminal(["--data", a], in: surroundings)
      try await first.wait("items")
      try await first.keys("o")
      try await first.wait("○ OFFLINE")
      try await first.keys("n", "d", "C-o")
      try await first.wait(for: "the write") { $0.lines[0].contains("⇡1") }
      try await first.keys("Q")
      #expect(try await first.exitStatus() == 0)

      let other = try await TmuxTerminal(["--data", b], in: surroundings)
      try await other.wait(for: "an empty queue") { $0.lines[0].contains("● ONLINE") && $0.lines[0].contains("⇡0") }
      try await other.keys("Q")
      #expect(try await other.exitStatus() == 0)
      let again = try await TmuxTerminal(["--data", a], in: surroundings)
      try await again.wait(for: "an empty queue") { $0.lines[0].contains("● ONLINE") && $0.lines[0].contains("⇡0") }
      try await again.keys("Q")
      #expect(try await again.exitStatus() == 0)
      for (data, count) in [(a, 2), (b, 1)] {
        #expect(try await HeadlessRun(["get", "items", "--data", data], surroundings).lines.count == count)
      }
    }

    @Test("S10: Writes pending at a kill -9 survive and reach the backend once")
    func killed() async throws {
      let surroundings = try Surroundings()
      try await surroundings.seed("items", ["a0": "seeded"])
      do {
        let hearth = try await TmuxTerminal(in: surroundings)
        try await hearth.wait("items")
        try await hearth.keys("o")
        try await hearth.wait("○ OFFLINE")
        for number in 1...3 {
          try surroundings.write("edit", #"{"name": "written\#(number)"}"#)
          try await hearth.keys("n", "d", "C-o")
          try await hearth.wait(for: "write \(number)") {
            $0.lines[0].contains("⇡\(number)") && $0.rows("│", "#\(number)  set", "pending").count == 1
          }
        }
        kill(try #require(hearth.processID), SIGKILL)
        #expect(try await hearth.exitStatus() == 137)
      }

      let hearth = try await TmuxTerminal(["--offline"], in: surroundings)
      try await hearth.wait(for: "the queue of before") { screen in
        (1...3).allSatisfy { screen.rows("│", "#\($0)  set", "pending").count == 1 } && screen.lines[0].contains("⇡3")
      }
      try await hearth.wait("items")
      try await hearth.keys("l")
      try await hearth.wait(for: "the documents of before") { screen in
        (1...3).allSatisfy { screen.rows("written\($0)", "#\($0)", "L").count == 1 }
      }
      try await hearth.keys("o")
      try await hearth.wait(for: "an empty queue") { $0.lines[0].contains("● ONLINE") && $0.lines[0].contains("⇡0") }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)

      let documents = try await BackendFolder(path: surroundings.backend).documents(in: "items")
      let names = documents.map { $0[FieldPath("name")] }
      #expect(names.count == 4)
      for name in ["seeded", "written1", "written2", "written3"] {
        #expect(names.filter { $0 == .string(name) }.count == 1)
      }
    }
  }
}
