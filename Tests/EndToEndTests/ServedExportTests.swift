// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// A `hearth serve` that begins with an export in Google's format, and leaves one.
  @Suite(.serialized) struct ServedExportTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    private func hearth(_ arguments: String...) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, surroundings)
    }

    /// An export of documents of the project `p`.
    private func makeExport(_ name: String, documents: Int) async throws {
      let filling = String(repeating: "é", count: 100)
      let lines = (0..<documents).map {
        "{\"path\": \"c/\($0)/below/x\", \"data\": {\"n\": \($0), \"s\": \"\(filling)\"}}\n"
      }
      try surroundings.write("\(name).jsonl", lines.joined())
      let data = ["--data", path("data-\(name)"), "--project", "p"]
      let imported = try await HeadlessRun(["import", path("\(name).jsonl")] + data, surroundings)
      try #require(imported.status == 0, "\(imported.errors)")
      let exported = try await HeadlessRun(
        ["export", "--all", "--format", "google", "-o", path(name)] + data, surroundings)
      try #require(exported.status == 0, "\(exported.errors)")
    }

    private func serve(_ arguments: String...) async throws -> ServeProcess {
      try await ServeProcess(surroundings, arguments)
    }

    @Test("A server starts with an export's documents and exports all changes on exit")
    func both() async throws {
      try await makeExport("seed", documents: 300)
      let server = try await serve(
        "--import-data", path("seed"), "--export-on-exit", path("left"), "--single_project_mode", "true",
        "--project_id", "p")
      let there = ["--emulator", server.address, "--project", "p"]
      let change = try await HeadlessRun(["set", "c/new", "{\"n\": -1}"] + there, surroundings)
      #expect(change.status == 0, "\(change.errors)")

      kill(server.process.id, SIGTERM)

      #expect(try await server.process.exitStatus() == 0)
      let difference = try await hearth("diff", path("seed"), path("left"), "--in-memory")
      #expect(difference.status == 1)
      #expect(difference.output.contains("c/new"))
    }

    @Test("A seed file is loaded only if the database is empty")
    func seeded() async throws {
      try surroundings.write("seed.json", #"{"c": {"a": {"n": 1}, "b": {"n": 2}}}"#)
      for arguments in [[], ["--data", path("kept")], ["--data", path("kept")]] {
        let server = try await ServeProcess(
          surroundings, ["--seed", path("seed.json"), "--project-id", "p"] + arguments)
        let there = ["--emulator", server.address, "--project", "p"]
        let counted = try await HeadlessRun(["count", "c"] + there, surroundings)
        #expect(counted.output.hasPrefix("2"), "\(counted.output)\(counted.errors)")
        kill(server.process.id, SIGTERM)
        #expect(try await server.process.exitStatus() == 0)
      }
      let aimless = try await hearth("serve", "--seed", path("seed.json"), "--port", "0")
      #expect(aimless.status == 64 && aimless.errors.contains("Add --project-id PROJECT."), "\(aimless.errors)")
      try surroundings.write("bad.json", #"[{"n": 1}]"#)
      let bad = try await hearth("serve", "--seed", path("bad.json"), "--project-id", "p", "--port", "0")
      #expect(bad.status == 65 && bad.errors.contains("has no path"), "\(bad.errors)")
    }

    @Test("Closing the terminal also exports before the server ends")
    func hungUp() async throws {
      let server = try await serve("--in-memory", "--project-id", "p", "--export-on-exit", path("left"))
      let there = ["--emulator", server.address, "--project", "p"]
      #expect(try await HeadlessRun(["set", "c/d", "{}"] + there, surroundings).status == 0)

      kill(server.process.id, SIGHUP)

      #expect(try await server.process.exitStatus() == 0)
      #expect(try await hearth("import", "--dry-run", path("left"), "--in-memory").errors.contains("1 document"))
    }

    @Test("An export killed at exit is complete or absent, and the previous file remains")
    func killed() async throws {
      try await makeExport("seed", documents: 2_000)
      for old in [false, true] {
        let left = path("left-\(old)")
        if old { try FileManager.default.copyItem(atPath: path("seed"), toPath: left) }
        let server = try await serve("--import-data", path("seed"), "--export-on-exit", left)
        kill(server.process.id, SIGTERM)
        kill(server.process.id, SIGKILL)
        _ = try await server.process.exitStatus()
        if old || FileManager.default.fileExists(atPath: left) {
          let read = try await hearth("import", "--dry-run", left, "--in-memory")
          #expect(read.status == 0, "\(read.errors)")
          #expect(read.errors.contains("2000 documents"))
        }
      }
    }

    @Test("Invalid options are reported before serving starts")
    func refusals() async throws {
      try await makeExport("seed", documents: 3)
      try FileManager.default.createDirectory(atPath: path("full"), withIntermediateDirectories: true)
      try surroundings.write("full/letter", "x")
      let cases: [([String], CInt, String)] = [
        (["--import-data", path("absent")], 66, "absent"), (["--import-data", path("full")], 66, "has no export"),
        (["--export-on-exit", path("left")], 64, "--project-id"),
        (["--project-id", "p", "--export-on-exit", path("full")], 73, "letter"),
        (["--project-id", "p", "--export-on-exit", path("a/b/c")], 73, "a/b/c"),
        (["--project-id", "p", "--export-on-exit", "."], 73, "./export"),
        (["--import-data", path("seed"), "--data", path("data-seed"), "--project-id", "p"], 5, "has documents"),
        (["--database-mode", "datastore-mode"], 64, "datastore-mode"), (["--host-port", "8080"], 64, "HOST:PORT"),
        (["true"], 64, "true"), (["--single_project_mode"], 64, "--project-id"),
      ]
      for (arguments, status, text) in cases {
        let run = try await HeadlessRun(["serve", "--port", "0"] + arguments, surroundings)
        #expect(run.status == status && run.errors.contains(text), "\(arguments): \(run.status) \(run.errors)")
      }
    }
  }
}
