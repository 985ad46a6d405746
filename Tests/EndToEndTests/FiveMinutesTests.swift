// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct FiveMinutesTests {
    @Test("The keys in the README's five-minute tour have the effects that it describes")
    func keys() async throws {
      let readme = try String(contentsOf: ReadmeBlock.repository.appending(path: "README.md"), encoding: .utf8)
      let told = try #require(readme.split(separator: "\n\n").first { $0.hasPrefix("Now `hearth` opens") })
      let spans = told.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      #expect(
        spans.prefix(11)
          == ["hearth", "space", "j", "enter", "o", "j", "enter", "ctrl-s", "enter", "o", "u"])

      let surroundings = try Surroundings()
      for (id, name) in [("ada", "Ada"), ("grace", "Grace")] {
        _ = try await HeadlessRun(["set", "people/\(id)", "name=\(name)", "age=36"], surroundings)
      }
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait("2 docs")
      try await hearth.keys("Space")
      try await hearth.wait("in sync")
      try await hearth.keys("j", "Enter")
      try await hearth.wait("0 people/ada")
      try await hearth.keys("o")
      try await hearth.wait(for: "the plug") { $0.lines[0].contains("OFFLINE") && $0.lines[0].contains("you") }
      try await hearth.keys("j", "Enter")
      try await hearth.type("Ada L.")
      try await hearth.keys("C-s")
      try await hearth.wait("\"Ada\" → \"Ada L.\"")
      try await hearth.keys("Enter")
      try await hearth.wait(for: "a change that waits") { $0.lines[0].contains("⇡1") && $0.text.contains("#1") }
      try await hearth.keys("o")
      try await hearth.wait(for: "its acknowledgement") {
        $0.text.contains("#1 acknowledged") && $0.lines[0].contains("⇡0")
      }
      try await hearth.keys("u")
      try await hearth.wait("#1 undone by #2")
      try await hearth.keys("Q")
      try await hearth.wait("EXIT=0")
      #expect(try await HeadlessRun(["get", "people/ada", "--template", "{{name}}"], surroundings).output == "Ada\n")
    }
  }
}
