// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InTmux {
  @Suite("Live scenarios", .serialized) struct PlayLiveTests {
    @Test("play --step runs one step at a time on any screen size, and q exits with 0")
    func stepByStep() async throws {
      let hearth = try await TmuxTerminal(["play", "--live", "--step", "conflict"], in: Surroundings())
      try await hearth.wait("space runs a step")
      let count = try #require(hearth.lines[0].firstMatch(of: #/ 0/(\d+) /#)?.1)
      for done in 1...(try #require(Int(count))) {
        try await hearth.keys("Space")
        try await hearth.wait(for: "step \(done)") { $0.lines[0].contains(" \(done)/\(count) ") }
        if done == 3 {
          for (width, height) in [(200, 60), (80, 24), (60, 16), (30, 8), (1, 1), (120, 36)] {
            try await hearth.resize(width, height)
            try await hearth.wait(for: "\(width)×\(height)") { screen in
              screen.lines.count == height && screen.lines.allSatisfy { $0.cells <= width }
                && (width < 60 || screen.lines[0].contains("3/\(count)"))
            }
          }
        }
      }
      try await hearth.wait("passed")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("A failed scenario shows the reason, replays when edited, and q exits with 75")
    func failure() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("own.scenario", "# Nothing is there.\nlisten a\nexpect synced\n")
      let file = surroundings.folder.appending(path: "own.scenario").path
      let hearth = try await TmuxTerminal(["play", "--live", "--watch", "--pace", "1ms", file], in: surroundings)
      try await hearth.wait("all 2 steps passed")
      try surroundings.write("own.scenario", "sing\n")
      try await hearth.wait("is not a step")
      try surroundings.write("own.scenario", "# More.\nlisten a\nexpect results 3 within 1h\n")
      try await hearth.wait("✗ failed")
      try await hearth.wait("it did not hold within")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 75)
      #expect(try surroundings.text("errors").contains("line 3, expect results 3 within 1h"))
    }

    @Test("If a scenario is quit before its end, play exits with 1 and reports the progress")
    func left() async throws {
      let surroundings = try Surroundings()
      let hearth = try await TmuxTerminal(["play", "--live", "--pace", "1h", "offline"], in: surroundings)
      try await hearth.wait("step 0/12")
      try await hearth.keys("n")
      try await hearth.wait(for: "one step") { $0.lines[0].contains("step 1/") }
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 1)
      #expect(try surroundings.text("errors").contains("offline was stopped before its end, after 1 of"))
    }

    @Test("A scenario in a dashboard has separate data, and leaving it restores the screen")
    func palette() async throws {
      let surroundings = try Surroundings()
      _ = try await HeadlessRun(["set", "own/data", "{\"n\": 1}"], surroundings)
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait("own")
      try await hearth.keys(":")
      try await hearth.wait("Commands")
      try await hearth.type("scenario offline")
      try await hearth.keys("Enter")
      try await hearth.wait("SCENARIO offline")
      try await hearth.keys(":")
      try await hearth.wait("Commands")
      try await hearth.type("pace 1ms")
      try await hearth.keys("Enter")
      try await hearth.wait("✓ passed")
      try await hearth.wait("cities")
      try await hearth.keys("q")
      try await hearth.wait(for: "the user's own screen") { screen in
        screen.text.contains("this is your data again") && !screen.text.contains("SCENARIO")
          && !screen.text.contains("cities") && screen.text.contains("own")
      }
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
      #expect(try await HeadlessRun(["ls"], surroundings).output == "own\n")
    }
  }
}

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct PlayStepTests {
    private func start(_ arguments: String..., on terminal: PseudoTerminal) throws -> ChildProcess {
      try ChildProcess(
        [Surroundings.hearth, "play"] + arguments, environment: try Surroundings().environment,
        streams: .terminal(path: terminal.path))
    }

    @Test("With play --step each step waits for Enter; if the input ends, play exits with 1")
    func enter() async throws {
      let terminal = try PseudoTerminal()
      let process = try start("--step", "offline", on: terminal)
      try await terminal.wait("listen cities  [enter] ")
      #expect(!terminal.text.contains("  ok  "))
      terminal.type("\n")
      try await terminal.wait("  ok  listen cities")
      try await terminal.wait("expect synced  [enter] ")
      terminal.type("\u{4}")
      #expect(try await terminal.exitStatus(of: process) == 1)
      #expect(terminal.text.contains("offline was stopped before its end, at line"), "\(terminal.text)")
    }

    @Test("With play --step, Enter on the last step ends with exit status 0")
    func whole() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("own.scenario", "offline\nonline\n")
      let terminal = try PseudoTerminal()
      let process = try start("--step", surroundings.folder.appending(path: "own.scenario").path, on: terminal)
      for step in ["offline", "online"] {
        try await terminal.wait("\(step)  [enter] ")
        terminal.type("\n")
      }
      #expect(try await terminal.exitStatus(of: process) == 0)
      #expect(terminal.text.contains("  ok  online"))
    }
  }
}

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct PlayScreenRefusalTests {
    @Test(
      "play rejects contradictory options, or --live without a terminal, with status 64",
      arguments: [
        (["--step", "offline"], "standard input is not a terminal"), (["--step", "-"], "which contains the scenario"),
        (["--live", "offline"], "not a terminal"), (["--live", "-"], "reads keys"),
        (["--live", "--all"], "one scenario"),
        (["--live", "offline", "conflict"], "one scenario"), (["--live", "--format", "json", "offline"], "--format"),
        (["--pace", "1s", "offline"], "--live"), (["--live", "--pace", "soon", "offline"], "soon"),
        (["--step", "--watch", "x"], "Remove one"), (["--live", "--show", "offline"], "--show"),
      ] as [([String], String)])
    func refused(arguments: [String], part: String) async throws {
      let run = try await HeadlessRun(["play"] + arguments, Surroundings())
      #expect(run.status == 64 && run.output == "" && run.errors.contains(part), "\(run.status) \(run.errors)")
    }
  }
}
