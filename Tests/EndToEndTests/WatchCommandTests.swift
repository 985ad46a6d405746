// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  @Suite(.serialized) struct WatchCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String...) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, surroundings)
    }

    private func start(_ arguments: String...) throws -> ChildProcess {
      try ChildProcess([Surroundings.hearth] + arguments, environment: surroundings.environment, streams: .pipes)
    }

    @Test("watch prints the current state and exits with 0 when its goal is reached")
    func initial() async throws {
      for (id, state) in [("LA", "CA"), ("NY", "NY"), ("SF", "CA")] {
        _ = try await hearth("set", "cities/\(id)", "{\"state\": \"\(state)\"}")
      }
      let all = try await hearth("watch", "cities", "--where", "state == CA", "--until", "synced", "--json")
      #expect(all.status == 0 && all.errors == "")
      #expect(
        all.lines.map { $0.prefix(39) } == ["LA", "SF"].map { "{\"type\": \"added\", \"path\": \"cities/\($0)\", " })
      let two = try await hearth("watch", "cities", "--until", "2")
      #expect(two.status == 0 && two.lines.count == 2)
      let one = try await hearth("watch", "cities/NY", "--until", "added")
      #expect(one.lines.count == 1 && one.output.hasSuffix("added     cities/NY  state \"NY\"\n"))
      let group = try await hearth("watch", "cities", "--collection-group", "--until", "synced")
      #expect(group.lines.count == 3)
    }

    @Test("get --watch prints a line per change to a pipe and rejects other formats")
    func following() async throws {
      _ = try await hearth("set", "cities/SF", "{\"state\": \"CA\"}")
      let process = try start("get", "cities", "--watch")
      #expect(await Waiting.isReadable(process.output, by: .now + Waiting.limit))
      kill(process.id, SIGTERM)
      #expect(try await process.exitStatus() == 0)
      let refused = try await hearth("get", "cities", "--watch", "--csv")
      #expect(refused.status == 64 && refused.errors.contains("--watch") && refused.errors.contains("--csv"))
    }

    @Test("A watch that times out exits with 75 if it had a goal, or 0 if it had none")
    func timeout() async throws {
      let missed = try await hearth("watch", "cities", "--until", "added", "--timeout", "50ms")
      #expect(missed.status == 75 && missed.hasOneErrorLine && missed.output == "")
      #expect(try await hearth("watch", "cities", "--timeout", "50ms").status == 0)
    }

    @Test("A signal ends watch with 0, or with 128 plus the signal if --until is set")
    func signals() async throws {
      _ = try await hearth("set", "cities/SF", "{}")
      for (goal, signal, status) in [([], SIGTERM, 0), ([], SIGINT, 0), (["--until", "5"], SIGINT, 130)]
        as [([String], CInt, CInt)]
      {
        let process = try ChildProcess(
          [Surroundings.hearth, "watch", "cities"] + goal, environment: surroundings.environment, streams: .pipes)
        #expect(await Waiting.isReadable(process.output, by: .now + Waiting.limit))
        kill(process.id, signal)
        #expect(try await process.exitStatus() == status)
      }
    }

    @Test("A second signal ends a watch even if its output is not being read")
    func unread() async throws {
      let text = String(repeating: "x", count: 120_000)
      for id in ["a", "b", "c"] { _ = try await hearth("set", "long/\(id)", "{\"text\": \"\(text)\"}") }
      let process = try start("watch", "long", "--json")
      // The second line has begun, and there is no room for the third.
      var unread: CInt = 0
      let deadline = ContinuousClock.now + Waiting.limit
      while unread < 130_000, .now < deadline {
        #expect(await Waiting.isReadable(process.output, by: deadline))
        _ = ioctl(process.output, UInt(FIONREAD), &unread)
        await Task.yield()
      }
      kill(process.id, SIGTERM)
      kill(process.id, SIGINT)
      #expect([128 + SIGTERM, 128 + SIGINT].contains(try await process.exitStatus()))
    }

    @Test("watch exits with 69 if the server is unreachable, 77 if credentials are unusable")
    func refused() async throws {
      let unreachable = try await hearth("watch", "cities", "--emulator", "127.0.0.1:1")
      #expect(unreachable.status == 69 && unreachable.hasOneErrorLine, "\(unreachable.errors)")
      let absent = surroundings.folder.appending(path: "absent.json").path
      for command in [["watch", "cities"], ["get", "cities"]] {
        let run = try await HeadlessRun(command + ["--credentials", absent, "--project", "p"], surroundings)
        #expect(run.status == 77 && run.hasOneErrorLine && run.errors.contains(absent), "\(run.errors)")
      }
    }

    @Test("A watch ends when its reader closes the pipe, even if nothing happens")
    func closedPipe() async throws {
      let surroundings = surroundings
      _ = try await hearth("set", "cities/SF", "{}")
      let shell = try ChildProcess(
        ["sh", "-c", "'\(Surroundings.hearth)' watch cities | head -n 1"], environment: surroundings.environment,
        streams: .pipes)
      let line = try await ChildProcess.all(shell.output)
      #expect(line.hasSuffix("added     cities/SF\n"))
      #expect(try await shell.exitStatus() == 0)
    }
  }
}
