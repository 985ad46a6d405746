// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TerminalCanvas
import TerminalTesting
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct SessionFileTests {
    /// The rows of the feed, sorted: over a line that counts as slow the screen has them as a ring.
    private func feed(_ lines: [String]) -> [String] { lines.filter(\.isFeedRow).sorted() }

    /// The time of day at the beginning of a row.
    private func seconds(_ row: String) -> Double? {
      let parts = row.split(separator: " ").first?.split(separator: ":").compactMap { Double($0) } ?? []
      return parts.count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : nil
    }

    @Test("A recorded demo replays to its final screen, also as a picture")
    func replay() async throws {
      let surroundings = try Surroundings()
      let file = surroundings.folder.appending(path: "s.ndjson").path
      let hearth = try await TmuxTerminal(["record", file, "--demo", "--demo-speed", "10"], in: surroundings)
      try await hearth.wait(for: "some orders") { self.feed($0.lines).count > 8 }
      try await hearth.keys("o")
      // A snapshot that was not read yet is merged with that of going offline: its rows then tell what changed, from the cache.
      try await hearth.wait(for: "each listener's news") { terminal in
        let cached = terminal.lines.compactMap { line in
          line.firstMatch(of: #/^[ ▌] [\d:.]+ +(\S+) .* (?:SERVER|LOCAL) +c /#).map { String($0.1) }
        }
        return Set(cached).count == 3 && terminal.text.contains("by you")
      }
      let shown = feed(hearth.lines)
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)

      let picture = try await HeadlessRun(["draw", "120x36", "--replay", file], surroundings)
      #expect(picture.status == 0, "\(picture.errors)")
      #expect(feed(picture.lines) == shown)
      let again = try await TmuxTerminal(["replay", file, "--speed", "max"], in: surroundings)
      // The terminal may be seen in the middle of a frame.
      try await again.wait(for: "the same feed") {
        $0.lines[0].contains("[REPLAY") && $0.lines[0].contains("end]") && self.feed($0.lines) == shown
      }
      try await again.keys("o")
      try await again.wait("this is a replay: no client is open, nothing is written")
      try await again.keys(",")
      try await again.wait(for: "the event before") { !$0.lines[0].contains("end]") }
      try await again.keys("Q")
      #expect(try await again.exitStatus() == 0)
    }

    @Test("The recording of a killed session lacks at most its last second")
    func killed() async throws {
      let surroundings = try Surroundings()
      let file = surroundings.folder.appending(path: "s.ndjson").path
      let hearth = try await TmuxTerminal(["record", file, "--demo"], in: surroundings)
      // High enough for what comes in some seconds at once.
      try await hearth.resize(120, 120)
      try await hearth.wait(for: "some orders") { self.feed($0.lines).count > 3 }
      let id = try #require(hearth.processID)
      let before = feed(hearth.lines)
      // What was shown a second ago is in the file: rows of two seconds later have come since. The terminal may be seen in
      // the middle of a frame; a row that is seen again is one.
      var shown: String?
      try await hearth.wait(for: "rows two seconds later") { terminal in
        let rows = self.feed(terminal.lines)
        shown = before.last { $0.contains("orders") && rows.contains($0) }
        guard let moment = shown.flatMap(self.seconds) else { return false }
        return rows.compactMap(self.seconds).count { abs($0 - moment) >= 2 } >= 3
      }
      kill(id, SIGKILL)
      _ = try await hearth.exitStatus()
      // So high that no row has left it, however busy the machine is.
      let picture = try await HeadlessRun(["draw", "120x200", "--replay", file], surroundings)
      #expect(picture.status == 0, "\(picture.errors)")
      #expect(shown.map(picture.lines.contains) == true, "\(shown ?? "") of \(feed(picture.lines))")
    }

    @Test("Damage in a recording is reported with its line, and the rest is shown")
    func damaged() async throws {
      let surroundings = try Surroundings()
      let file = surroundings.folder.appending(path: "s.ndjson").path
      let hearth = try await TmuxTerminal(["record", file, "--in-memory"], in: surroundings)
      try await hearth.wait("no collections yet")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
      try surroundings.write("s.ndjson", try surroundings.text("s.ndjson") + "{\"x\":1}\n")
      let picture = try await HeadlessRun(["draw", "120x36", "--replay", file], surroundings)
      #expect(picture.status == 0)
      #expect(picture.output.contains("no collections yet"))
      let count = try surroundings.text("s.ndjson").split(separator: "\n").count
      #expect(picture.errors.hasPrefix("hearth: \(file):\(count): "), "\(picture.errors)")
    }

    @Test("With --messages a recording has protocol messages, which can be redacted")
    func messages() async throws {
      let surroundings = try Surroundings()
      let path = { surroundings.folder.appending(path: $0 as String).path }
      _ = try await HeadlessRun(["set", "users/ada", "email=ada@example.com", "age=36"], surroundings)
      let hearth = try await TmuxTerminal(
        ["record", path("s.ndjson"), "--messages", "-e", "listen users where age > 1"], in: surroundings)
      try await hearth.wait(for: "the listener's result") { self.feed($0.lines).contains { $0.contains("ada") } }
      let other = try await HeadlessRun(["set", "users/bob", "email=bob@example.com", "age=40"], surroundings)
      #expect(other.status == 0, "\(other.errors)")
      try await hearth.wait(for: "what another wrote") { self.feed($0.lines).contains { $0.contains("users/bob") } }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)

      let told = try await HeadlessRun(["replay", path("s.ndjson"), "--messages"], surroundings)
      #expect(told.status == 0 && told.errors.isEmpty, "\(told.errors)")
      for said in [
        "Listen opens", "Listen > addTarget target", "Listen < documentChange target", "users/bob",
        "RunAggregationQuery",
      ] {
        #expect(told.output.contains(said), "\(said) is not in:\n\(told.output)")
      }
      let json = try await HeadlessRun(["replay", path("s.ndjson"), "--messages", "--json"], surroundings)
      let objects = try json.lines.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      }
      let change = try #require(
        objects.first { ($0["kind"] as? String) == "documentChange" && ($0["documents"] as? [String]) == ["users/bob"] }
      )
      #expect(change["event"] as? String == "response" && change["bytes"] as? Int ?? 0 > 50, "\(change)")
      #expect(json.output.contains("bob@example.com"))

      // The screens are those of a recording without messages.
      let picture = try await HeadlessRun(["draw", "120x36", "--replay", path("s.ndjson")], surroundings)
      #expect(
        picture.status == 0 && picture.errors.isEmpty && picture.output.contains("users/bob"), "\(picture.errors)")

      let redaction = try await HeadlessRun(
        ["redact", path("s.ndjson"), path("shared.ndjson"), "--fields", "email"], surroundings)
      #expect(redaction.status == 0, "\(redaction.errors)")
      let shared = try surroundings.text("shared.ndjson")
      #expect(!shared.contains("@example.com") && shared.contains("‹string 15›") && shared.contains("users/bob"))
      let redacted = try await HeadlessRun(["replay", path("shared.ndjson"), "--messages"], surroundings)
      #expect(redacted.output == told.output, "\(redacted.errors)")
    }

    @Test("replay --messages rejects a recording without messages with one line")
    func withoutMessages() async throws {
      let surroundings = try Surroundings()
      let file = surroundings.folder.appending(path: "s.ndjson").path
      let hearth = try await TmuxTerminal(["record", file, "--in-memory"], in: surroundings)
      try await hearth.wait("no collections yet")
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
      #expect(try surroundings.text("s.ndjson").hasPrefix("{\"hearth\": \"session\""))
      #expect(try surroundings.text("s.ndjson").contains("\"format\": 1"))
      for (arguments, status, word) in [
        (["replay", file, "--messages"], CInt(65), "record FILE --messages"),
        (["--messages"], 64, "'--messages'"), (["replay", file, "--json"], 64, "--messages"),
        (["replay", file, "--messages", "--speed", "2"], 64, "--speed"),
        (["draw", "80x24", "--replay", file, "--messages"], 64, "'--messages'"),
      ] {
        let run = try await HeadlessRun(arguments, surroundings)
        #expect(run.status == status && run.hasOneErrorLine && run.errors.contains(word), "\(arguments): \(run.errors)")
      }
    }

    @Test("Replaying an invalid recording or recording over a file fails with one line")
    func refused() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("x.ndjson", "{}\n")
      let file = surroundings.folder.appending(path: "x.ndjson").path
      let foreign = try await HeadlessRun(["draw", "80x24", "--replay", file], surroundings)
      #expect(foreign.status == 65)
      #expect(foreign.errors == "hearth: \(file):1: this is not a session that hearth recorded.\n")
      let hearth = try await TmuxTerminal(["record", file, "--in-memory"], in: surroundings)
      #expect(try await hearth.exitStatus() == 73)
      #expect(try surroundings.text("errors").contains("already exists"))
      #expect(try surroundings.text("x.ndjson") == "{}\n")
    }

    @Test("The bytes of a cast reproduce the original screens")
    func cast() async throws {
      let surroundings = try Surroundings()
      let file = surroundings.folder.appending(path: "s.cast")
      let hearth = try await TmuxTerminal(["--in-memory", "--cast", file.path], in: surroundings)
      try await hearth.wait("1 Collections")
      try await hearth.keys("?")
      try await hearth.wait("Help")
      try await hearth.keys("Escape")
      try await hearth.resize(80, 24)
      // The last row is drawn last: once it is another one, all of the frame is there.
      try await hearth.wait(for: "80×24") { $0.lines.count == 24 && $0.lines[23].hasPrefix(" space listen") }
      var shown: [[String]] = []
      for key in ["3", "1", "3", "1"] {
        let keys = hearth.lines[23]
        try await hearth.keys(key)
        try await hearth.wait(for: "the keys of pane \(key)") { $0.lines[23] != keys }
        shown.append(hearth.lines)
      }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)

      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      var size = Size(width: 120, height: 36)
      var model = TerminalModel(size: size)
      var screens: [[String]] = []
      for line in lines.dropFirst() {
        let event = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any])
        let text = try #require(event[2] as? String)
        if event[1] as? String == "r" {
          let numbers = text.split(separator: "x").compactMap { Int($0) }
          size = Size(width: numbers[0], height: numbers[1])
          model = TerminalModel(size: size)
        } else {
          model.interpret(Array(text.utf8))
        }
        screens.append(
          model.text.prefix(size.height).map { String($0.reversed().drop { $0 == " " }.reversed()) })
      }
      #expect(shown.contains(where: screens.contains), "\(shown.last ?? []) is not \(screens.last ?? [])")
      #expect(screens.contains { $0.contains { $0.contains("─ Help ─") } })
    }
  }
}
