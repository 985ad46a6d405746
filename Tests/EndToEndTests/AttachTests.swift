// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InTmux {
  /// The program of the manual's page Testing.md, and who watches it.
  @Suite(.serialized) struct AttachTests {
    private let surroundings: Surroundings

    init() throws {
      surroundings = try Surroundings()
      surroundings.environment["XDG_RUNTIME_DIR"] = surroundings.folder.path
    }

    private func start() async throws -> ChildProcess {
      let path = Surroundings.built("Shop")
      let shop = try ChildProcess([path], environment: surroundings.environment, streams: .pipes)
      let deadline = ContinuousClock.now + Waiting.limit
      while try await !HeadlessRun(["attach"], surroundings).output.contains("\(shop.id)") {
        try #require(ContinuousClock.now < deadline)
      }
      return shop
    }

    @Test("hearth attach lists a program, switches its network and reports when it ends")
    func dashboard() async throws {
      let shop = try await start()
      let list = try await HeadlessRun(["attach"], surroundings)
      #expect(list.status == 0 && list.output.contains("Shop"), "\(list.output)")

      let hearth = try await TmuxTerminal(["attach", "Shop", "--control"], in: surroundings)
      try await hearth.wait(for: "whose client this is") { $0.lines[0].contains("ATTACHED \(shop.id) Shop") }
      try await hearth.wait(for: "its listener's changes") { $0.text.contains("orders/order-") }
      try await hearth.keys("o")
      try await hearth.wait(for: "a write that waits") {
        $0.lines[0].contains("OFFLINE") && $0.text.contains("pending")
      }
      kill(shop.id, SIGKILL)
      try await hearth.wait(for: "the end") { $0.lines[0].contains("ENDED") && $0.text.contains("has ended") }
      try await hearth.keys("q")
      try await hearth.wait("EXIT=0")
      let none = try await HeadlessRun(["attach"], surroundings)
      #expect(none.status == 0 && none.output.isEmpty && none.errors.contains("HEARTH_INSPECT=1"), "\(none.errors)")
    }

    @Test("hearth attach lists running hearth commands by name if they allow inspection")
    func commands() async throws {
      var allowed = surroundings.environment
      allowed["HEARTH_INSPECT"] = "1"
      let watch = try ChildProcess(
        [Surroundings.hearth, "watch", "cities", "--in-memory"], environment: allowed, streams: .pipes)
      let plain = try ChildProcess(
        [Surroundings.hearth, "plain", "--in-memory", "--listen", "cities"], environment: allowed, streams: .pipes)
      let hidden = try ChildProcess(
        [Surroundings.hearth, "watch", "cities", "--in-memory"], environment: surroundings.environment, streams: .pipes)
      let deadline = ContinuousClock.now + Waiting.limit
      var list = ""
      while !list.contains("hearth watch") || !list.contains("hearth plain") {
        try #require(ContinuousClock.now < deadline, "\(list)")
        list = try await HeadlessRun(["attach"], surroundings).output
      }
      #expect(list.contains("\(watch.id)") && list.contains("\(plain.id)") && !list.contains("\(hidden.id)"), "\(list)")

      let watcher = try ChildProcess(
        [Surroundings.hearth, "attach", "watch", "--json"], environment: surroundings.environment, streams: .pipes)
      try await watcher.shows("\"name\": \"hearth watch\"")
      try await watcher.shows("\"query\": {\"path\": \"cities\"")
      for process in [watch, plain, hidden] { kill(process.id, SIGTERM) }
      #expect(try await watcher.exitStatus() == 0)
    }

    @Test("attach exits at its --until or --timeout, with 75 if --until was not reached")
    func goals() async throws {
      let shop = try await start()
      func run(_ arguments: [String]) async throws -> HeadlessRun {
        try await HeadlessRun(["attach", "\(shop.id)", "--json"] + arguments, surroundings)
      }
      let snapshot = try await run(["--until", "snapshot", "--timeout", "60s"])
      #expect(snapshot.status == 0, "\(snapshot.errors)")
      #expect(snapshot.lines.last?.hasPrefix("{\"type\": \"snapshot\"") == true, "\(snapshot.output)")
      #expect(try await run(["--until", "2"]).lines.count == 3)
      let missed = try await run(["--until", "indexes", "--timeout", "300ms"])
      #expect(missed.status == 75 && missed.errors.contains("did not happen within"), "\(missed.errors)")
      let timed = try await run(["--timeout", "300ms"])
      #expect(timed.status == 0 && timed.errors.isEmpty && !timed.lines.isEmpty, "\(timed.errors)")
      for (arguments, word) in [(["--until", "rain"], "rain"), (["--inside", "--timeout", "1s"], "--timeout")] {
        let refused = try await run(arguments)
        #expect(refused.status == 64 && refused.errors.contains(word), "\(refused.errors)")
      }
      kill(shop.id, SIGTERM)
    }

    @Test("attach --json prints the current state and events until the program ends")
    func lines() async throws {
      let shop = try await start()
      let watcher = try ChildProcess(
        [Surroundings.hearth, "attach", "\(shop.id)", "--json"], environment: surroundings.environment, streams: .pipes)
      try await watcher.shows("\"type\": \"attached\"")
      try await watcher.shows("\"type\": \"listener-started\"")
      try await watcher.shows("\"type\": \"snapshot\"")
      kill(shop.id, SIGTERM)
      #expect(try await watcher.exitStatus() == 0)
      #expect(try await ChildProcess.all(watcher.errors).contains("has ended"))
      // Its name went with it, before anybody has looked for what is left.
      let left = FileManager.default.enumerator(atPath: surroundings.folder.path)?.compactMap { $0 as? String }
      #expect(left?.contains { $0.hasSuffix("\(shop.id).sock") } == false)
    }
  }
}
