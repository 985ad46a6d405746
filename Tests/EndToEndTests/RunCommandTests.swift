// SPDX-License-Identifier: Apache-2.0
import Testing

extension EndToEndTests {
  @Suite(.serialized) struct RunCommandTests {
    private func play(_ scenario: String) async throws -> HeadlessRun {
      try await HeadlessRun(["run", "-", "--in-memory"], input: scenario, Surroundings())
    }

    @Test("A scenario goes offline, writes, and sees the change at once and the answer when it is online again")
    func offline() async throws {
      let run = try await play(
        """
        listen cities where state == CA
        expect synced
        offline
        set cities/SF {"state": "CA"}
        expect added cities/SF
        update cities/SF n=1
        expect modified cities/SF
        online
        expect acknowledged cities/SF
        delete cities/SF
        expect removed cities/SF
        update cities/SF n=2
        expect rejected cities/SF
        """)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.lines.count == 13 && run.lines.allSatisfy { $0.contains("  ok  ") })
    }

    @Test("What does not come in time is 75 with the step's line; what should not come is 1; no step is 65")
    func failures() async throws {
      let late = try await play("offline\nset a/b {}\nexpect acknowledged within 50ms\nonline\n")
      #expect(late.status == 75 && late.hasOneErrorLine && late.errors.contains("line 3"))
      #expect(late.lines.count == 2)
      let surprise = try await play("listen a\nexpect synced\nset a/b {}\nexpect nothing\n")
      #expect(surprise.status == 1 && surprise.hasOneErrorLine && surprise.errors.contains("added a/b"))
      let wrong = try await play("listen a\nsing\n")
      #expect(wrong.status == 65 && wrong.output == "" && wrong.errors.contains("line 2"))
    }
  }
}
