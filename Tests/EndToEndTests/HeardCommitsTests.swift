// SPDX-License-Identifier: Apache-2.0
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct HeardCommitsTests {
    @Test(
      "A dashboard shows another terminal's changes in collections without listeners",
      arguments: [false, true])
    func others(isServed: Bool) async throws {
      let surroundings = try Surroundings()
      let server = isServed ? try await ServeProcess(surroundings) : nil
      let place = server.map { ["--emulator", $0.address] } ?? []
      let hearth = try await TmuxTerminal(place, in: surroundings)
      try await hearth.wait("no collections yet")
      /// Runs a command to its end, and waits for the row of a collection then.
      func run(_ words: [String], until row: String...) async throws {
        let run = try await HeadlessRun(words + place, surroundings)
        #expect(run.status == 0, "\(run.errors)")
        let ended = ContinuousClock.now
        try await hearth.wait(for: "\(row)") { screen in
          screen.lines.contains { line in row.allSatisfy(line.contains) }
        }
        // A minute went by before commits were told.
        #expect(ContinuousClock.now - ended < .seconds(5))
      }
      try await run(["set", "cities/SF", "name=SF"], until: "cities", "1 doc")
      try await run(["set", "users/ada", "name=Ada"], until: "users", "1 doc")
      try await run(["set", "users/bob", "name=Bob"], until: "users", "2 docs")
      try await run(["set", "users/bob/keys/a", "n=1"], until: "users", "2 docs")
      try await run(["delete", "users/bob"], until: "users", "1 doc")
      try await run(["set", "zones/a", "n=1"], until: "zones", "1 doc")
      _ = try await HeadlessRun(["delete", "zones/a"] + place, surroundings)
      try await hearth.wait(for: "the collection to go") { $0.rows("zones").isEmpty }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)
    }
  }
}
