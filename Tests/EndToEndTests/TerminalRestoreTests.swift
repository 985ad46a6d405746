// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct TerminalRestoreTests {
    /// Starts hearth and waits for its first frame.
    private func start(_ terminal: PseudoTerminal, _ surroundings: Surroundings) async throws -> ChildProcess {
      let process = try ChildProcess(
        [Surroundings.hearth], environment: surroundings.environment, streams: .terminal(path: terminal.path))
      try await terminal.wait("local database")
      #expect(terminal.isOn(1049) == true)
      #expect(terminal.isOn(2004) == true)
      #expect(terminal.isOn(1006) == true)
      return process
    }

    private func expectRestored(_ terminal: PseudoTerminal, modes: String) {
      #expect(terminal.modes == modes)
      #expect(terminal.isOn(1049) == false, "the alternate screen is left")
      #expect(terminal.isOn(25) != false, "the cursor is visible")
      for mode in [1000, 1002, 1006, 2004, 1004, 2026] { #expect(terminal.isOn(mode) != true, "mode \(mode) is off") }
    }

    @Test("A fatal signal restores the terminal", arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
    func ended(by signal: CInt) async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let modes = terminal.modes
      let process = try await start(terminal, surroundings)
      #expect(terminal.modes != modes)

      kill(process.id, signal)

      #expect(try await terminal.exitStatus(of: process) == 128 + signal)
      expectRestored(terminal, modes: modes)
    }

    @Test("A crash of the program restores the terminal", arguments: [SIGILL, SIGTRAP, SIGSEGV, SIGABRT])
    func trapped(by signal: CInt) async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      // No core file.
      surroundings.environment["SWIFT_BACKTRACE"] = "enable=no"
      let modes = terminal.modes
      let process = try await start(terminal, surroundings)

      kill(process.id, signal)

      #expect(try await terminal.exitStatus(of: process) == 128 + signal)
      expectRestored(terminal, modes: modes)
    }

    @Test("A crash with unread output restores the terminal")
    func trappedUnread() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      surroundings.environment["SWIFT_BACKTRACE"] = "enable=no"
      let modes = terminal.modes
      let process = try await start(terminal, surroundings)

      terminal.fill()
      kill(process.id, SIGSEGV)

      #expect(try await terminal.exitStatus(of: process) == 128 + SIGSEGV)
      expectRestored(terminal, modes: modes)
    }

    /// Writes to the standard error of a process, as a library in it does.
    private func warn(_ text: String, in process: ChildProcess) throws {
      let descriptor = open("/proc/\(process.id)/fd/2", O_WRONLY | O_APPEND)
      defer { close(descriptor) }
      try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    @Test("Standard error output does not disturb the screen and is printed at the end")
    func errors() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try await start(terminal, surroundings)
      try warn("a warning of a library\n", in: process)
      // An answer to a key, so that whatever the warning does to the screen is seen.
      terminal.type("?")
      try await terminal.wait("close")
      #expect(!terminal.text.contains("a warning"))
      terminal.type("\u{3}q")
      #expect(try await terminal.exitStatus(of: process) == 0)
      let end = try #require(terminal.text.components(separatedBy: "\u{1B}[?1049l").last)
      #expect(end.contains("a warning of a library\r\n"), "\(end.debugDescription)")
    }

    @Test("After a crash the end of long standard error output is printed")
    func errorsOfTrap() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      surroundings.environment["SWIFT_BACKTRACE"] = "enable=no"
      let process = try await start(terminal, surroundings)
      try warn("the first\n" + String(repeating: "x", count: 100_000) + "\nthe last\n", in: process)
      kill(process.id, SIGSEGV)
      #expect(try await terminal.exitStatus(of: process) == 128 + SIGSEGV)
      let end = try #require(terminal.text.components(separatedBy: "\u{1B}[?1049l").last)
      #expect(
        end.contains("(earlier messages were left out)") && end.contains("the last") && !end.contains("the first"))
    }

    @Test("Redirected standard error is unchanged")
    func redirected() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try ChildProcess(
        ["sh", "-c", "exec '\(Surroundings.hearth)' --in-memory 2>'\(surroundings.folder.path)/errors'"],
        environment: surroundings.environment, streams: .terminal(path: terminal.path))
      try await terminal.wait("local database")
      try warn("a warning of a library\n", in: process)
      #expect(try surroundings.text("errors") == "a warning of a library\n")
      terminal.type("q")
      #expect(try await terminal.exitStatus(of: process) == 0)
    }

    @Test("--log-file and --log-level set the log's file and level")
    func log() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let path = surroundings.folder.path + "/my.log"
      let process = try ChildProcess(
        [Surroundings.hearth, "--in-memory", "--log-file", path, "--log-level", "debug", "-e", "toggle-network"],
        environment: surroundings.environment, streams: .terminal(path: terminal.path))
      try await terminal.wait("OFFLINE")
      terminal.type("q")
      #expect(try await terminal.exitStatus(of: process) == 0)
      let lines = try surroundings.text("my.log")
      #expect(
        lines.contains(" info hearth.dashboard: a dashboard begins database=(default) project=hearth"), "\(lines)")
      #expect(lines.contains(" debug hearth.dashboard: the network is switched off"), "\(lines)")
      #expect(!FileManager.default.fileExists(atPath: surroundings.folder.path + "/state/hearth/hearth.log"))
    }

    @Test("Closing the terminal ends the process")
    func closed() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try await start(terminal, surroundings)

      terminal.hangUp()

      #expect(try await process.exitStatus() == 128 + SIGHUP)
    }

    @Test("A terminal that stops reading does not prevent the exit", arguments: ["Q", "\u{3}\u{3}"])
    func unread(keys: String) async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let modes = terminal.modes
      let process = try await start(terminal, surroundings)

      terminal.fill()
      terminal.type(keys)

      #expect(try await process.exitStatus() == (keys == "Q" ? 0 : 130))
      #expect(terminal.modes == modes)
    }

    @Test("ctrl-z returns the terminal to the shell, and fg restores the screen")
    func suspended() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      surroundings.environment["PS1"] = "ready> "
      let shell = try ChildProcess(
        ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
      try await terminal.wait("ready> ")
      let modes = terminal.modes
      terminal.type("\(Surroundings.hearth) --in-memory\n")
      try await terminal.wait("local database")
      #expect(terminal.isOn(1049) == true)

      let started = terminal.bytes.count
      terminal.type("\u{1A}")
      try await terminal.wait("Stopped", after: started)
      try await terminal.wait("ready> ", after: started)
      expectRestored(terminal, modes: modes)

      let stopped = terminal.bytes.count
      terminal.type("fg\n")
      try await terminal.wait("local database", after: stopped)
      #expect(terminal.isOn(1049) == true)
      #expect(terminal.isOn(2004) == true)
      #expect(terminal.modes != modes)

      let resumed = terminal.bytes.count
      terminal.type("q")
      try await terminal.wait("ready> ", after: resumed)
      expectRestored(terminal, modes: modes)
      terminal.type("exit\n")
      #expect(try await shell.exitStatus() == 0)
    }

    @Test("A process continued in the background does not use the terminal until fg")
    func continuedInBackground() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      surroundings.environment["PS1"] = "ready> "
      let shell = try ChildProcess(
        ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
      try await terminal.wait("ready> ")
      // The shell says at once what becomes of a job behind it, and not only at the next prompt.
      let begun = terminal.bytes.count
      terminal.type("set -b\n")
      try await terminal.wait("ready> ", after: begun)
      terminal.type("\(Surroundings.hearth) --in-memory\n")
      try await terminal.wait("local database")
      // From the first key that it answers on it hears of signals.
      terminal.type("?")
      try await terminal.wait("type to search")
      let children = try String(contentsOfFile: "/proc/\(shell.id)/task/\(shell.id)/children", encoding: .utf8)
      let hearth = try #require(children.split(separator: " ").first.flatMap { pid_t($0) })

      for round in 1...2 {
        let started = terminal.bytes.count
        kill(hearth, SIGSTOP)
        try await terminal.wait("Stopped", after: started)
        try await terminal.wait("ready> ", after: started)

        let stopped = terminal.bytes.count
        kill(hearth, SIGCONT)
        // It stops again by itself where it wants the terminal. Before the shell knows, fg would take it for running.
        try await terminal.wait("Stopped", after: stopped)
        #expect(!terminal.text(from: stopped).contains("\u{1B}["), "nothing is drawn over what the shell shows")
        // A line of its own: the shell gets the answer to a question that the screen asked before it was stopped.
        terminal.type("\necho still-$((41 + \(round)))\n")
        try await terminal.wait("still-\(41 + round)", after: stopped)

        let asked = terminal.bytes.count
        terminal.type("fg\n")
        try await terminal.wait("type to search", after: asked)
      }
      let resumed = terminal.bytes.count
      terminal.type("\u{3}")
      try await terminal.wait("go offline", after: resumed)
      #expect(kill(shell.id, SIGKILL) == 0)
    }

    @Test("An idle screen writes nothing and uses no CPU")
    func idle() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try await start(terminal, surroundings)
      // The marks of what is new go after two seconds, and the figures of the line come with them; on a busy machine later,
      // and a minute may begin.
      var spent: (bytes: Int, ticks: Int) = (.max, .max)
      for _ in 0..<3 where spent.bytes > 0 || spent.ticks >= 5 {
        try await terminal.settle(for: .milliseconds(2_500))
        let (bytes, ticks) = (terminal.bytes.count, try ProcessFigures(process.id).cpuTicks)
        try await terminal.settle(for: .seconds(2))
        spent = (terminal.bytes.count - bytes, try ProcessFigures(process.id).cpuTicks - ticks)
      }

      #expect(spent.bytes == 0)
      // A tick is 10 ms: less than two per cent of a processor.
      #expect(spent.ticks < 5)
    }
  }
}
