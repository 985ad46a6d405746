// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct PlayWatchTests {
    private let surroundings: Surroundings
    private let file: String

    init() throws {
      surroundings = try Surroundings()
      file = surroundings.folder.appending(path: "own.scenario").path
      try surroundings.write("own.scenario", "listen a\nexpect synced\n")
    }

    @Test("play --watch replays a file that is written, replaced or recreated")
    func again() async throws {
      let hearth = try ChildProcess(
        [Surroundings.hearth, "play", "--watch", file], environment: surroundings.environment, streams: .pipes)
      #expect(try await hearth.line().hasSuffix("  passed   \(file): 2 steps"))

      try surroundings.write("own.scenario", "listen a\nexpect results 3 within 1h\n")
      let late = try await hearth.line()
      #expect(late.contains("  failed   \(file), line 2, expect results 3 within 1h: it did not hold"), "\(late)")

      try surroundings.write("own.scenario", "sing\n")
      let wrong = try await hearth.line()
      #expect(wrong.contains("  failed   \(file), line 1") && wrong.contains("\"sing\" is not a step."), "\(wrong)")

      // Editors write a file of another name, and give it the name.
      try surroundings.write("other", "listen b\n")
      #expect(rename(surroundings.folder.appending(path: "other").path, file) == 0)
      #expect(try await hearth.line().hasSuffix("  passed   \(file): 1 step"))

      unlink(file)
      #expect(try await hearth.line().contains("  waiting  The steps in \(file) cannot be read: No such file"))
      try surroundings.write("own.scenario", "listen c\nexpect synced\nsnapshot\n")
      #expect(try await hearth.line().hasSuffix("  passed   \(file): 3 steps"))

      kill(hearth.id, SIGINT)
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("play --format json prints steps and each run's result until the reader closes")
    func json() async throws {
      let run = try await HeadlessRun(
        ["play", "--watch", "--format", "json", file], redirection: "| head -n 4", surroundings)
      let kinds = run.lines.map { line in
        ["step", "end", "watch"].first { line.contains("\"type\": \"\($0)\"") } ?? line
      }
      #expect(kinds == ["step", "step", "end", "watch"])
      #expect(run.status == 0)
    }

    @Test(
      "play --watch exits with 64 for unwatchable input and 66 for a missing file",
      arguments: [
        (["--watch", "-"], 64, "Name a file instead of -"), (["--watch", "--all"], 64, "--all"),
        (["--watch", "conflict"], 64, "conflict is shipped"),
        (["--watch", "--format", "tap", "x"], 64, "needs an end"),
        (["--watch", "--show", "x"], 64, "--show"), (["--watch", "./nowhere.scenario"], 66, "nowhere.scenario"),
      ] as [([String], CInt, String)])
    func refused(arguments: [String], status: CInt, part: String) async throws {
      let run = try await HeadlessRun(["play"] + arguments, surroundings)
      #expect(run.status == status && run.hasOneErrorLine && run.errors.contains(part), "\(run.errors)")
    }
  }
}
