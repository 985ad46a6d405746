// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InTmux {
  @Suite("hearth wall", .serialized) struct WallTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    @Test("The wall shows every collection, remote writes and an outage; Esc closes it")
    func screen() async throws {
      for number in 0..<4 {
        let state = number.isMultiple(of: 2) ? "new" : "paid"
        _ = try await HeadlessRun(["set", "orders/o\(number)", "state=\(state)", "n=\(number)"], surroundings)
      }
      let hearth = try await TmuxTerminal(["wall"], in: surroundings)
      try await hearth.wait(for: "the line of the collection") { screen in
        screen.lines.contains { $0.contains("orders") && $0.contains(" 4 ") }
      }
      try await hearth.wait(for: "its values") { $0.text.contains("new ") && $0.text.contains("paid ") }
      _ = try await HeadlessRun(["set", "orders/o9", "state=paid"], surroundings)
      try await hearth.wait(for: "what another terminal wrote") { screen in
        screen.lines.contains { $0.contains("orders") && $0.contains(" 5 ") } && screen.text.contains("+ orders/o9")
      }
      try await hearth.keys("o")
      try await hearth.wait(for: "the outage") { $0.text.contains("offline 0:0") && $0.text.contains("▒") }
      try await hearth.keys("Escape")
      try await hearth.wait(for: "the dashboard") { $0.text.contains("Collections") }
      try await hearth.keys("Q")
      try await hearth.wait("EXIT=0")
    }

    @Test("hearth wall --json prints the wall's numbers once a second")
    func lines() async throws {
      _ = try await HeadlessRun(["set", "orders/o1", "state=new"], surroundings)
      let run = try await HeadlessRun(["wall", "--json"], redirection: "| head -n 2", surroundings)
      #expect(run.lines.count == 2 && run.errors.isEmpty, "\(run.errors)")
      let last = try #require(run.lines.last)
      let wall = try #require(
        try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any], "\(last)")
      let listeners = try #require(wall["listeners"] as? [[String: Any]])
      #expect(listeners.map { $0["name"] as? String } == ["orders"])
      #expect(listeners.first?["documents"] as? Int == 1)
      #expect((listeners.first?["events"] as? [Int])?.count == 60)
      #expect((wall["outages"] as? [Int])?.allSatisfy { $0 == 0 } == true)
    }

    @Test("hearth wall exits with 0 after its --timeout")
    func timeout() async throws {
      let run = try await HeadlessRun(["wall", "--json", "--in-memory", "--timeout", "1500ms"], surroundings)
      #expect(run.status == 0 && run.errors.isEmpty && (1...2).contains(run.lines.count), "\(run.errors)\(run.output)")
      let screen = try await HeadlessRun(["wall", "--timeout", "1s"], surroundings)
      #expect(screen.status == 64 && screen.hasOneErrorLine && screen.errors.contains("--json"), "\(screen.errors)")
    }

    @Test("The wall needs a terminal or --json and never reads a real database in full")
    func refused() async throws {
      let piped = try await HeadlessRun(["wall"], surroundings)
      #expect(piped.status == 64 && piped.hasOneErrorLine && piped.errors.contains("--json"), "\(piped.errors)")
      let cloud = try await HeadlessRun(["wall", "--json", "--cloud", "--project", "p"], surroundings)
      #expect(cloud.status == 64 && cloud.hasOneErrorLine && cloud.errors.contains("--listen"), "\(cloud.errors)")
    }
  }
}
