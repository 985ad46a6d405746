// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct TableOutputTests {
    @Test("On a terminal a collection is a table in the pager, colored without NO_COLOR")
    func table() async throws {
      let surroundings = try Surroundings()
      #expect(try await HeadlessRun(["set", "c/a", "n=1", "s=text"], surroundings).status == 0)
      surroundings.environment["PAGER"] = "cat >'\(surroundings.folder.path)/seen'"
      for (noColor, expected) in [
        ("1", "ID          n  s\n      integer  string\na           1  text\n"), ("", "\u{1B}["),
      ] {
        surroundings.environment["NO_COLOR"] = noColor
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
          [Surroundings.hearth, "get", "c"], environment: surroundings.environment,
          streams: .terminal(path: terminal.path))
        #expect(try await process.exitStatus() == 0)
        let seen = try surroundings.text("seen")
        #expect(noColor.isEmpty ? seen.contains(expected) : seen == expected, "\(seen)")
      }
    }
  }
}
