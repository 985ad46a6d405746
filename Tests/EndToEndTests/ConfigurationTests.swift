// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct ConfigurationTests {
    @Test("A picked theme is remembered, and a theme set in config.toml is pointed out")
    func remembered() async throws {
      let surroundings = try Surroundings()
      let hearth = try await TmuxTerminal(["--in-memory"], in: surroundings)
      try await hearth.wait("1 Collections")
      try await hearth.keys("T", "Down", "Enter")
      try await hearth.wait("Theme paper, at the next start too.")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
      #expect(try surroundings.text("state/hearth/remembered.json").contains("\"paper\""))

      try surroundings.configure("theme = \"nord\"\n")
      let second = try await TmuxTerminal(["--in-memory"], in: surroundings)
      try await second.wait("1 Collections")
      try await second.keys("T", "Up", "Enter")
      try await second.wait("config.toml:1 says nord.")
      try await second.keys("q")
      #expect(try await second.exitStatus() == 0)
    }

    @Test("Mistakes in the configuration are reported by line, at the start and on change")
    func reload() async throws {
      let surroundings = try Surroundings()
      try surroundings.configure("theme = \"nrod\"\n[keys]\ntoggle-network = \"O\"\n")
      let hearth = try await TmuxTerminal(["--in-memory"], in: surroundings)
      try await hearth.wait("O go offline")
      try await hearth.keys(":")
      try await hearth.type("messages")
      try await hearth.keys("Enter")
      try await hearth.wait("config.toml:1: no theme nrod; did you mean nord?")
      try await hearth.keys("Escape")

      try surroundings.configure("theme = \"nord\"\n[keys]\ntoggle-network = \"ctrl-o\"\n")
      // A message stands where the keys are for as long as it is shown.
      try await hearth.wait("config.toml was read again.")
      try await hearth.wait("ctrl-o go offline")
      try surroundings.configure("theme = \"nord\"\n[keys]\ntoggle-network = \"p\"\n")
      try await hearth.wait("config.toml:3: toggle-network: p is bound to")
      try await hearth.wait("ctrl-o go offline")
      try surroundings.write("config/hearth/themes/nord.toml", "schema = 2\n")
      try await hearth.wait("nord.toml:1: schema must be 1")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test("A dashboard survives any saved configuration and reports errors by position")
    func brokenFiles() async throws {
      let surroundings = try Surroundings()
      try surroundings.configure("theme = \"mine\"\n")
      try surroundings.write("config/hearth/themes/mine.toml", "schema = 1\ninherits = \"nord\"\n")
      let hearth = try await TmuxTerminal(["--in-memory"], in: surroundings)
      try await hearth.wait("1 Collections")
      let headers = ["[.keys]", "[#keys]", "[{keys]", "[(keys)]", "[é]", "[*]", "[=]", "[,]", "[]", "[keys"]
      for (number, header) in headers.enumerated() {
        let empty = String(repeating: "\n", count: number)
        try surroundings.configure("theme = \"mine\"\n\(empty)\(header)\n")
        try await hearth.wait("config.toml:\(number + 2): line ignored")
      }
      for (number, header) in headers.enumerated() {
        let empty = String(repeating: "\n", count: number)
        try surroundings.write("config/hearth/themes/mine.toml", "schema = 1\n\(empty)\(header)\n")
        try await hearth.wait("mine.toml:\(number + 2): expected")
      }
      try surroundings.write("config/hearth/themes/mine.toml", "schema = 1\ninherits = \"paper\"\n")
      try surroundings.configure("theme = \"mine\"\n")
      try await hearth.wait("config.toml was read again.")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
    }
  }
}

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct ReadingAgainTests {
    @Test(
      "A configuration file behind a symbolic link is reloaded on focus and by :reload"
    )
    func focus() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      try surroundings.configure("")
      let file = surroundings.folder.appending(path: "config/hearth/config.toml").path
      try FileManager.default.removeItem(atPath: file)
      try surroundings.write("dotfiles.toml", "mouse = true\n")
      try FileManager.default.createSymbolicLink(
        atPath: file, withDestinationPath: surroundings.folder.appending(path: "dotfiles.toml").path)
      let process = try ChildProcess(
        [Surroundings.hearth, "--in-memory"], environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
      try await terminal.wait("local database")
      #expect(terminal.isOn(1004) == true)
      #expect(!terminal.text.contains("ctrl-o"))

      try surroundings.write("dotfiles.toml", "mouse = true\n[keys]\ntoggle-network = \"ctrl-o\"\n")
      terminal.type("\u{1B}[I")
      try await terminal.wait("ctrl-o")
      terminal.type(":reload\r")
      try await terminal.wait("is unchanged")
      try surroundings.write("dotfiles.toml", "mouse = 3\n")
      let changed = terminal.bytes.count
      terminal.type(":reload\r")
      try await terminal.wait("true or false", after: changed)
      terminal.type("q")
      #expect(try await terminal.exitStatus(of: process) == 0)
    }

    @Test("color = \"never\" in the configuration disables colors, and --color overrides it")
    func color() async throws {
      let surroundings = try Surroundings()
      try surroundings.configure("color = \"never\"\n")
      for (arguments, isColored) in [([], false), (["--color", "always"], true)] {
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
          [Surroundings.hearth, "--in-memory"] + arguments, environment: surroundings.environment,
          streams: .terminal(path: terminal.path))
        try await terminal.wait("local database")
        #expect(terminal.text.contains("38;") == isColored)
        terminal.type("q")
        #expect(try await terminal.exitStatus(of: process) == 0)
      }
    }
  }

  @Suite(.serialized) struct BackgroundTests {
    /// Sets the background in the palette of 256 colours: that of the light default theme.
    private static let lightBackground = "48;5;231"

    @Test("A terminal that reports a light background gets the light theme by default")
    func light() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try ChildProcess(
        [Surroundings.hearth, "--in-memory"], environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
      try await terminal.wait("\u{1B}]11;?\u{7}")
      #expect(terminal.text.contains("1 Collections") && !terminal.text.contains(Self.lightBackground))

      terminal.type("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\")
      try await terminal.wait(Self.lightBackground)
      terminal.type("q")
      #expect(try await terminal.exitStatus(of: process) == 0)
    }

    @Test("With --theme the given theme is used, and the terminal's colors are not queried")
    func chosen() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      let process = try ChildProcess(
        [Surroundings.hearth, "--in-memory", "--theme", "ember"], environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
      try await terminal.wait("local database")
      // An answer that nobody asked for, or a late one, is no key either.
      terminal.type("\u{1B}]11;rgb:ffff/ffff/ffff\u{7}?")
      try await terminal.wait("close")
      #expect(!terminal.text.contains("]11;?") && !terminal.text.contains(Self.lightBackground))
      // Help has a line that takes letters.
      terminal.type("\u{3}q")
      #expect(try await terminal.exitStatus(of: process) == 0)
    }
  }
}
