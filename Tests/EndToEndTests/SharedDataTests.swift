// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// Processes that use one data directory together.
  @Suite(.serialized) struct SharedDataTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String...) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, surroundings)
    }

    private func start(_ arguments: String...) throws -> ChildProcess {
      try ChildProcess([Surroundings.hearth] + arguments, environment: surroundings.environment, streams: .pipes)
    }

    private func watch() throws -> ChildProcess { try start("watch", "c", "--json", "-q") }

    /// Who has the data open.
    private var owner: pid_t? {
      (try? String(contentsOfFile: surroundings.backend + "/lock", encoding: .utf8))
        .flatMap { pid_t($0.prefix { $0.isNumber }) }
    }

    @Test("Killing the processes that own the data neither loses nor repeats a write")
    func takeovers() async throws {
      #expect(try await hearth("set", "c/total", "{\"n\": 0}").status == 0)
      var watchers: [CountWatcher] = []
      var accepted = 0
      for round in 0..<(Waiting.isFull ? 50 : 2) {
        while watchers.count < (Waiting.isFull ? 3 : 2) {
          let watcher = CountWatcher(try watch())
          try await watcher.reaches(accepted)
          watchers.append(watcher)
        }
        let updates = try (0..<3).map { _ in try start("update", "c/total", "n={\"$increment\": 1}") }
        // When the first is applied, the others are on their way.
        try await watchers[0].reaches(accepted + 1)
        let holder = owner
        let victim = try #require(watchers.first { $0.process.id == holder }, "round \(round)").process
        kill(victim.id, SIGKILL)
        #expect(try await victim.exitStatus() == 128 + SIGKILL)
        watchers.removeAll { $0.process === victim }
        for update in updates {
          let errors = try await ChildProcess.all(update.errors)
          #expect(try await update.exitStatus() == 0, "\(errors)")
        }
        accepted += updates.count
        for watcher in watchers { try await watcher.reaches(accepted) }
        #expect(watchers.allSatisfy { $0.count == accepted })
      }
      let stored = try await hearth("get", "c/total", "--json")
      #expect(stored.output.contains("\"n\": \(accepted)}"), "\(stored.output)")
    }

    @Test("A stopped owner is reported with advice, and clients continue once it resumes")
    func stopped() async throws {
      #expect(try await hearth("set", "c/a", "{}").status == 0)
      let first = try watch()
      _ = try await first.line()
      kill(first.id, SIGSTOP)
      let run = try await hearth("get", "c/a")
      #expect(run.status == 69 && run.hasOneErrorLine, "\(run.errors)")
      #expect(
        run.errors.contains("Process \(first.id)") && run.errors.contains("kill -CONT \(first.id)"), "\(run.errors)")
      kill(first.id, SIGCONT)
      #expect(try await hearth("get", "c/a").status == 0)
    }

    @Test("If ctrl-z suspends the owner, other clients continue, and repair names the owner")
    func suspended() async throws {
      #expect(try await hearth("set", "c/a", "{}").status == 0)
      // Its parent, this process, is in another session: no shell would continue it, and it is not stopped.
      let first = try watch()
      _ = try await first.line()
      let repair = try await hearth("repair")
      #expect(repair.status == 69 && repair.hasOneErrorLine, "\(repair.errors)")
      #expect(repair.errors.contains("process \(first.id) (hearth watch)"), "\(repair.errors)")
      let second = try watch()
      _ = try await second.line()
      kill(first.id, SIGTSTP)
      #expect(try await hearth("set", "c/b", "{}").status == 0)
      for watcher in [first, second] { try await watcher.shows("c/b") }
    }

    @Test("A second server is rejected and names the first server, which continues", .timeLimit(.minutes(15)))
    func secondServer() async throws {
      let first = try await ServeProcess(surroundings, ["--local"])
      try surroundings.write("indexes.json", "{\"indexes\": []}")
      let file = surroundings.folder.appending(path: "indexes.json").path

      let plain = try await hearth("serve", "--local", "--port", "0")
      let enforcing = try await hearth("serve", "--local", "--port", "0", "--require-indexes", file)

      for second in [plain, enforcing] {
        #expect(second.status == 69 && second.hasOneErrorLine, "\(second.errors)")
        #expect(second.errors.contains("process \(first.process.id) (hearth serve)"), "\(second.errors)")
      }
      #expect(enforcing.errors.contains("--require-indexes"), "\(enforcing.errors)")
      #expect(try await hearth("set", "c/d", "{}", "--emulator", first.address).status == 0)
    }

    @Test("A server with rules takes over a watcher's data, even after a kill")
    func rules() async throws {
      #expect(try await hearth("set", "c/a", "{}").status == 0)
      let watcher = try watch()
      _ = try await watcher.line()
      try surroundings.write(
        "r.rules",
        """
        rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents { match /c/{id} { allow read: if true; } } }
        """)
      let rules = surroundings.folder.appending(path: "r.rules").path
      for round in 0..<2 {
        let server = try await ServeProcess(surroundings, ["--local", "--rules", rules])
        #expect(owner == server.process.id)
        // Later it may come before the watcher has noticed that the data is free.
        if round == 0 {
          let told = try await server.process.errorLine()
          #expect(told.contains("process \(watcher.id) (hearth watch)") && told.contains("has released"), "\(told)")
        }
        let path = "c/\(round)"
        #expect(try await hearth("set", path, "{}", "--emulator", server.address).status == 0)
        try await watcher.shows(path)
        kill(server.process.id, SIGKILL)
        #expect(try await server.process.exitStatus() == 128 + SIGKILL)
        // The watcher has the data then, or a command for as long as it runs.
        #expect(try await hearth("set", "c/between\(round)", "{}").status == 0)
        try await watcher.shows("c/between\(round)")
      }
    }

    @Test("A server takes over a watcher's data and keeps it after ctrl-z")
    func port() async throws {
      #expect(try await hearth("set", "c/a", "{}").status == 0)
      let watcher = try watch()
      _ = try await watcher.line()

      let server = try await ServeProcess(surroundings, ["--local"])
      #expect(owner == server.process.id)
      let told = try await server.process.errorLine()
      #expect(told.contains("process \(watcher.id) (hearth watch)") && told.contains("has released"), "\(told)")
      #expect(try await hearth("set", "c/b", "{}", "--emulator", server.address).status == 0)
      try await watcher.shows("c/b")

      // No shell would continue it, so that it is not stopped, and asks for the data at once.
      kill(server.process.id, SIGTSTP)
      #expect(try await hearth("set", "c/c", "{}", "--emulator", server.address).status == 0)
      try await watcher.shows("c/c")
      #expect(owner == server.process.id)

      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)
      #expect(try await hearth("set", "c/d", "{}").status == 0)
      try await watcher.shows("c/d")
    }
  }
}

extension ChildProcess {
  /// Reads lines until one holds a text.
  func shows(_ text: String) async throws {
    while try await !line().contains(text) {}
  }
}

/// What `hearth watch` has said of a document's field `n`. It need not say every number: what comes meanwhile is merged.
private final class CountWatcher {
  let process: ChildProcess
  private(set) var count = -1

  init(_ process: ChildProcess) { self.process = process }

  func reaches(_ goal: Int) async throws {
    while count < goal {
      let line = try await process.line()
      count = line.firstMatch(of: /"n": (\d+)/).flatMap { Int($0.output.1) } ?? count
    }
  }
}
