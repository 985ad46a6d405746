// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct RunCommandTests {
    private func play(_ scenario: String) async throws -> HeadlessRun {
      try await HeadlessRun(["play", "-", "--in-memory"], input: scenario, Surroundings())
    }

    @Test("A scenario writes offline, sees the change immediately and syncs once online")
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

    @Test("play exits with 75 on a timeout, 1 on an unexpected event, 65 on an invalid step")
    func failures() async throws {
      let late = try await play("offline\nset a/b {}\nexpect acknowledged within 50ms\nonline\n")
      #expect(late.status == 75 && late.hasOneErrorLine && late.errors.contains("line 3"))
      #expect(late.lines.count == 2)
      let surprise = try await play("listen a\nexpect synced\nset a/b {}\nexpect nothing\n")
      #expect(surprise.status == 1 && surprise.hasOneErrorLine && surprise.errors.contains("added a/b"))
      let rejected = try await play("set a/b {}\nupdate a/c n=1\n")
      #expect(rejected.status == 1 && rejected.hasOneErrorLine, "\(rejected.errors)")
      #expect(
        rejected.errors.contains("line 2, update a/c n=1") && rejected.errors.contains("not-found"),
        "\(rejected.errors)")
      let passed = try await play("update a/c n=1\nset a/b {}\nexpect acknowledged a/b\n")
      #expect(passed.status == 1 && passed.errors.contains("line 1, update a/c n=1"), "\(passed.errors)")
      let wrong = try await play("listen a\nsing\n")
      #expect(wrong.status == 65 && wrong.output == "" && wrong.errors.contains("line 2"))
    }

    @Test("With play --cache the queue outlives the scenario, and the next run sends it")
    func durableCache() async throws {
      let surroundings = try Surroundings()
      let cache = surroundings.folder.appending(path: "own").path
      func play(_ scenario: String) async throws -> HeadlessRun {
        try await HeadlessRun(["play", "-", "--cache", cache], input: scenario, surroundings)
      }
      let first = try await play("offline\nset a/b {\"n\": 1}\n")
      #expect(first.status == 1 && first.errors.contains("1 write was not sent; the cache keeps"), "\(first.errors)")
      #expect(first.errors.contains("set a/b, was not sent"), "\(first.errors)")
      #expect(try await HeadlessRun(["get", "a/b"], surroundings).status == 4)
      let second = try await play("listen a\nexpect added a/b\n")
      #expect(second.status == 0, "\(second.errors)")
      #expect(try await HeadlessRun(["get", "a"], surroundings).output == "a/b  {\"n\": 1}\n")
    }
  }
}
