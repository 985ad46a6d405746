// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InTmux {
  /// `hearth exec --ui` on a terminal.
  @Suite(.serialized) struct ExecScreenTests {
    @Test("exec --ui shows the documents, and prints the command's output afterwards")
    func screen() async throws {
      let surroundings = try Surroundings()
      surroundings.environment["TMPDIR"] = surroundings.folder.path
      let script = """
        '\(Surroundings.hearth)' set cities/SF state=CA; echo "written to $GCLOUD_PROJECT"; echo again >&2; exit 3
        """
      let screen = try await TmuxTerminal(
        ["exec", "--ui", "--project", "demo-ui", "--", "sh", "-c", script], in: surroundings)
      try await screen.wait("cities")
      #expect(!screen.text.contains("written to"), "\(screen.text)")
      try await screen.keys("q")
      #expect(try await screen.exitStatus() == 3)
      let lines = screen.lines
      let place = try #require(lines.firstIndex { $0.contains("written to demo-ui") }, "\(screen.text)")
      #expect(lines[place + 1].hasPrefix("again"), "\(screen.text)")
      let left = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder.path)
      #expect(!left.contains { $0.hasPrefix("hearth-exec-") })
    }

    @Test("exec --ui waits for its command if the dashboard is quit first")
    func early() async throws {
      let surroundings = try Surroundings()
      surroundings.environment["TMPDIR"] = surroundings.folder.path
      let pipe = surroundings.folder.appending(path: "pipe").path
      #expect(mkfifo(pipe, 0o600) == 0)
      let script = "'\(Surroundings.hearth)' set cities/SF state=CA; read line <'\(pipe)'; echo \"read $line\""
      let screen = try await TmuxTerminal(["exec", "--ui", "--", "sh", "-c", script], in: surroundings)
      try await screen.wait("cities")
      try await screen.keys("q")
      let deadline = ContinuousClock.now + Waiting.limit
      let message = "hearth: Waiting for sh to exit. Its output so far is in "
      while try !surroundings.text("errors").contains(message), .now < deadline { await Task.yield() }
      try "word\n".write(toFile: pipe, atomically: false, encoding: .utf8)
      #expect(try await screen.exitStatus() == 0)
      #expect(screen.lines.contains { $0.contains("read word") }, "\(screen.text)")
      #expect(try surroundings.text("errors").contains(message))
    }
  }
}

extension EndToEndTests.InPipes {
  @Suite struct ExecWithoutScreenTests {
    @Test("exec --ui without a terminal runs the command as without --ui")
    func pipes() async throws {
      let run = try await HeadlessRun(
        ["exec", "--ui", "-q", "--", "sh", "-c", "echo done; exit 4"], try Surroundings())
      #expect(run.status == 4 && run.output == "done\n", "\(run.errors)")
      #expect(run.errors == "hearth: --ui needs a terminal, so the command runs without the dashboard.\n")
    }
  }
}
