// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.OfPages {
  @Suite(.serialized) struct ReadmeTests {
    private let surroundings: Surroundings
    private let port: ReservedPort

    init() throws {
      surroundings = try Surroundings()
      port = try ReservedPort()
      let programs = URL(filePath: Surroundings.hearth).deletingLastPathComponent().path
      surroundings.environment["PATH"] = programs + ":" + (surroundings.environment["PATH"] ?? "/usr/bin:/bin")
    }

    @Test(
      "A page's commands run as written in an empty home directory and print output",
      arguments: ReadmeBlock.pages)
    func commands(_ page: String) async throws {
      let blocks = try ReadmeBlock.all(of: page).filter { $0.place == nil }
      for block in blocks {
        let run = try await bash(block.script(port: port.number))
        #expect(run.status == 0, "\(page), the block of line \(block.line): \(run.output)")
        #expect(!run.output.isEmpty, "\(page), the block of line \(block.line) shows nothing")
      }
      if page == "README.md" {
        #expect(blocks.count > 2)
        #expect(try await bash("hearth get people").output.contains("Ada"))
      }
    }

    @Test("The example job that tests rules runs as written")
    func rulesJob() async throws {
      let example = ReadmeBlock.repository.appending(path: "Tests/Examples/rules")
      for file in ["firestore.rules", "cases.jsonl"] {
        try FileManager.default.copyItem(
          at: example.appending(path: file), to: surroundings.folder.appending(path: file))
      }
      let job = try String(contentsOf: example.appending(path: "workflow.yml"), encoding: .utf8)
      let steps = job.components(separatedBy: "- name: ").dropFirst().map { step in
        (step.components(separatedBy: "run: ").last ?? "").replacing("|\n", with: "")
      }
      #expect(steps.count == 3)
      for step in steps {
        let run = try await bash(step.replacing("8085", with: "\(port.number)"))
        #expect(run.status == 0 && !run.output.isEmpty, "\(step): \(run.output)")
      }
      #expect(try await bash("hearth rules test firestore.rules cases.jsonl").output.contains("10"))
    }

    @Test("The example action starts a server with its inputs and sets variables")
    func action() async throws {
      let example = ReadmeBlock.repository.appending(path: "Tests/Examples")
      try FileManager.default.copyItem(
        at: example.appending(path: "rules/firestore.rules"), to: surroundings.folder.appending(path: "firestore.rules")
      )
      try surroundings.write("seed.jsonl", #"{"path": "rooms/a", "data": {"owner": "ada", "members": ["ada"]}}"#)
      let text = try String(contentsOf: example.appending(path: "action/action.yml"), encoding: .utf8)
      #expect(text.contains("\n  using: composite\n"))
      let inputs = Set(text.matches(of: /inputs\.(\w+)/).map { String($0.output.1) })
      #expect(inputs == ["package", "project", "rules", "seed"])
      for input in inputs { #expect(text.contains("\n  \(input):\n    description: ")) }
      let script = try #require(text.components(separatedBy: "      run: |\n").last)

      let folder = surroundings.folder.path
      for (name, value) in [
        ("RUNNER_TEMP", folder), ("GITHUB_ENV", "\(folder)/env"), ("GITHUB_OUTPUT", "\(folder)/output"),
        ("PROJECT", "demo-action"), ("RULES", "firestore.rules"), ("SEED", "seed.jsonl"),
      ] { surroundings.environment[name] = value }
      let use = """

        set -a; . ./env; . ./output
        test "$address" = "$FIRESTORE_EMULATOR_HOST"
        hearth get rooms/a --as ada
        hearth get rooms/a --as bob || echo "status $?"
        kill "$(cat hearth.pid)"
        """
      let run = try await bash(script + use)
      #expect(run.status == 0 && run.output.contains("\"owner\": \"ada\""), "\(run.output)")
      #expect(run.output.hasSuffix("\nstatus 77\n"), "\(run.output)")

      surroundings.environment["RULES"] = "missing.rules"
      let failed = try await bash("rm -f hearth.address; " + script)
      #expect(failed.status == 1 && failed.output.contains("missing.rules"), "\(failed.output)")
    }

    @Test("The job in Emulator.md runs as written, with the built image")
    func emulatorJob() async throws {
      let blocks = try ReadmeBlock.all(of: "Sources/Command/HearthCommand/Manual/Emulator.md")
      let job = try #require(blocks.first { $0.lines.last?.contains("- run: hearth exec") == true })
      let step = try #require(job.lines.last?.firstMatch(of: /- run: (.*)/))
      let script = String(step.1).replacing(
        "npm test", with: "sh -c 'hearth set cities/SF state=CA; hearth count cities'")
      let run = try await bash(script)
      #expect(run.status == 0 && run.output.hasSuffix("\n1\n"), "\(run.output)")

      let service = try #require(blocks.first { $0.lines.contains { $0.contains("image: hearth:") } }).lines
      let image = try String(
        contentsOf: ReadmeBlock.repository.appending(path: ".ci/packaging/Containerfile"), encoding: .utf8)
      let version = try await bash("hearth --version").output.split { $0.isWhitespace }.first ?? ""
      #expect(service.contains("    image: hearth:\(version)"))
      #expect(service.contains(#"    ports: ["127.0.0.1:8080:8080"]"#) && image.contains("\nEXPOSE 8080\n"))
      #expect(service.contains(#"    volumes: ["firestore:/data"]"#) && image.contains("\nVOLUME /data\n"))
      #expect(service.contains("    command: --open") && image.contains("\nCMD [\"--open\"]\n"))
    }

    @Test("The CI scripts test a manual page's install and build commands", arguments: ReadmeBlock.pages)
    func scripts(_ page: String) throws {
      for block in try ReadmeBlock.all(of: page) {
        guard let place = block.place else { continue }
        let file = ReadmeBlock.repository.appending(path: place)
        let text = try String(contentsOf: file, encoding: .utf8)
        let name = page.split(separator: "/").last ?? ""
        #expect(text.contains(name), "\(place) does not try the block of line \(block.line) of \(page)")
        guard place == ".ci/run", let packages = block.lines.first?.firstMatch(of: #/install -y ([^']*)'/#) else {
          continue
        }
        for package in packages.1.split(separator: " ") { #expect(text.contains(package), "\(place): \(package)") }
      }
    }

    /// Runs a script in the home; the end of what it printed names the line that failed.
    private func bash(_ script: String) async throws -> (status: CInt, output: String) {
      let begin = """
        cd "$HOME"; exec 2>&1; set -euo pipefail; number=0
        trap 'echo "failed: $BASH_COMMAND"' ERR
        trap 'kill $(jobs -p) 2>killed || true' EXIT

        """
      let process = try ChildProcess(
        ["bash", "-c", begin + script], environment: surroundings.environment, streams: .pipes)
      process.closeInput()
      let output = try await ChildProcess.all(process.output)
      return (try await process.exitStatus(), String(output.suffix(2_000)))
    }
  }
}
