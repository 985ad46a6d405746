// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

extension EndToEndTests.InTmux {
  @Suite("Several clients on one screen", .serialized) struct ClientSetTests {
    @Test("Two clients on one screen have separate networks, and one can be removed")
    func two() async throws {
      let hearth = try await TmuxTerminal(
        ["--demo", "--in-memory", "--clients", "2"], in: Surroundings(), width: 160, height: 48)
      try await hearth.wait(for: "two clients that are online") { screen in
        screen.lines.count == 48 && screen.lines[0].hasPrefix("▌one ●ON") && screen.lines[0].contains(" two ●ON")
          && screen.lines[2].matches(of: #/1 Collections/#).count == 2
      }
      try await hearth.keys("C-n", "o")
      try await hearth.wait(for: "the second one offline alone") { screen in
        screen.lines[0].hasPrefix(" one ●ON") && screen.lines[0].contains("▌two ○OFF")
          && screen.text.contains("the keys act on two")
      }
      for (width, height) in [(120, 36), (80, 24), (60, 16), (30, 8), (1, 1), (200, 60)] {
        try await hearth.resize(width, height)
        try await hearth.wait(for: "\(width)×\(height)") { screen in
          screen.lines.count == height && screen.lines.allSatisfy { $0.cells <= width }
            && (width < 60 || screen.lines[0].contains("▌two ○OFF"))
        }
      }
      try await hearth.keys(":")
      try await hearth.wait("Commands")
      try await hearth.type("client remove two")
      try await hearth.keys("Enter")
      try await hearth.wait(for: "one client") {
        $0.lines[0].contains("hearth") && !$0.text.contains("the keys act on")
      }
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("Quitting asks first if another client has unsent writes in a memory cache")
    func quit() async throws {
      let hearth = try await TmuxTerminal(
        ["--in-memory", "--offline", "-e", "client add bob user uid-7"], in: Surroundings(), width: 160, height: 48)
      try await hearth.wait("as uid-7")
      try await hearth.keys("o")
      try await hearth.wait(for: "bob offline") { $0.lines[0].contains("▌bob as uid-7 ○OFF") }
      try await hearth.keys("n", "p")
      try await hearth.type("cities/SF")
      try await hearth.keys("Enter")
      try await hearth.wait("add a field")
      try await hearth.keys("Enter")
      try await hearth.type("n")
      try await hearth.keys("Enter")
      try await hearth.type("1")
      try await hearth.keys("Enter", "C-s", "Enter")
      try await hearth.wait(for: "the write in bob's queue") { $0.lines[0].contains("⇡1") }
      try await hearth.keys("C-n", "q")
      try await hearth.wait("1 write not sent yet will be lost, of bob")
      try await hearth.keys("Tab", "Enter")
      #expect(try await hearth.exitStatus() == 0)
    }
  }
}
