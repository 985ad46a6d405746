// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// `hearth exec`: a server for the time of one command.
  @Suite(.serialized) struct ExecTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private var folder: String { surroundings.folder.path }

    /// Runs `hearth` in the folder of the test.
    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, by: ["env", "-C", folder], surroundings)
    }

    /// A script of a shell with the program under test as `hearth`.
    private func script(_ text: String) -> String { "hearth() { '\(Surroundings.hearth)' \"$@\"; }; \(text)" }

    @Test(
      "exec ends with the command's exit status", arguments: ["exit 0", "exit 3", "kill -TERM $$", "kill -KILL $$"])
    func status(_ text: String) async throws {
      let run = try await hearth("exec", "--", "sh", "-c", text)
      let expected: CInt = ["exit 0": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137][text] ?? -1
      #expect(run.status == expected, "\(run.errors)")
      #expect(run.output == "" && run.hasOneErrorLine, "\(run.errors)")
    }

    @Test("exec starts its command once the server responds and sets environment variables")
    func variables() async throws {
      let run = try await hearth(
        "exec", "--project", "demo-shop", "-q", "--", "sh", "-ec",
        script(
          """
          hearth set cities/SF state=CA
          hearth get cities/SF --project demo-shop --emulator "$FIRESTORE_EMULATOR_HOST"
          echo "$GCLOUD_PROJECT $GOOGLE_CLOUD_PROJECT"
          echo "$__FIREBASE_DEFAULTS__"
          echo "$FIRESTORE_EMULATOR_HOST"
          """))
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let lines = run.lines
      #expect(run.output.contains("\"state\": \"CA\""), "\(run.output)")
      let address = try #require(lines.last)
      #expect(address.hasPrefix("127.0.0.1:"))
      #expect(lines.contains("demo-shop demo-shop"))
      let defaults = "{\"config\": {\"projectId\": \"demo-shop\"}, \"emulatorHosts\": {\"firestore\": \"\(address)\"}}"
      #expect(lines.contains(defaults), "\(run.output)")
    }

    @Test("A test suite passes twice under exec and leaves the local database unchanged")
    func secondRun() async throws {
      #expect(try await hearth("set", "mine/a", "x=1").status == 0)
      for _ in 0..<2 {
        let run = try await hearth("exec", "--", "sh", "-ec", script("hearth create c/1 x=1; hearth count c"))
        #expect(run.status == 0 && run.output == "1\n", "\(run.errors)")
      }
      #expect(try await hearth("get", "mine/a").status == 0)
      #expect(try await hearth("get", "c/1").status == 4)
    }

    @Test("A signal reaches the command, and exec ends with the command's status")
    func signals() async throws {
      let exec = try ChildProcess(
        [
          Surroundings.hearth, "exec", "-q", "--", "sh", "-c",
          "trap 'echo heard; exit 7' TERM; trap 'echo one' USR1; echo ready; while :; do read -r line; done",
        ], environment: surroundings.environment, streams: .pipes)
      #expect(try await exec.line() == "ready")
      kill(exec.id, SIGUSR1)
      exec.write("\n")
      #expect(try await exec.line() == "one")
      kill(exec.id, SIGTERM)
      exec.write("\n")
      #expect(try await exec.line() == "heard")
      #expect(try await exec.exitStatus() == 7)
    }

    @Test("exec exits with 127 for an unknown command and with 64 if none is given")
    func missing() async throws {
      let absent = try await hearth("exec", "-q", "--", "no-such-program")
      #expect(absent.status == 127 && absent.hasOneErrorLine, "\(absent.errors)")
      #expect(absent.errors.contains("no-such-program cannot be run"), "\(absent.errors)")
      let none = try await hearth("exec")
      #expect(none.status == 64 && none.errors.contains("hearth exec -- npm test"), "\(none.errors)")
      let loose = try await hearth("exec", "--rules", "x", "npm", "test")
      #expect(loose.status == 64 && loose.errors.contains("hearth exec --rules x -- npm test"), "\(loose.errors)")
    }

    @Test("exec reads firebase.json with comments and reports its other products once")
    func firebaseProject() async throws {
      let port = try ReservedPort()
      try surroundings.write(
        "firebase.json",
        """
        {
          // What the project deploys.
          "firestore": {"rules": "firestore.rules", "indexes": "firestore.indexes.json"},
          "hosting": {"public": "dist"}, /* emulators */
          "emulators": {"firestore": {"port": \(port.number)}, "auth": {"port": 9099}, "ui": {"enabled": true}}
        }
        """)
      try surroundings.write(".firebaserc", #"{"projects": {"default": "demo-notes", "live": "notes-1"}}"#)
      try surroundings.write(
        "firestore.rules",
        """
        rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents { match /c/{i} { allow read: if false; } } }
        """)
      let document = "http://$FIRESTORE_EMULATOR_HOST/v1/projects/$GCLOUD_PROJECT/databases/(default)/documents/c/a"
      let run = try await hearth(
        "exec", "--", "sh", "-ec",
        script("hearth set c/a n=1; curl -sS '\(document)'; hearth get c/a; echo $FIRESTORE_EMULATOR_HOST")
          .replacing("'http:", with: "\"http:").replacing("c/a'", with: "c/a\""))
      #expect(run.status == 0 && run.output.contains("PERMISSION_DENIED"), "\(run.output)\(run.errors)")
      #expect(run.output.contains("\"n\": 1") && run.output.hasSuffix("127.0.0.1:\(port.number)\n"), "\(run.output)")
      #expect(
        run.errors.hasPrefix(
          "hearth: firebase.json sets rules firestore.rules and port \(port.number). "
            + "It also has hosting and auth, which Hearth does not serve.\nhearth: Serving demo-notes on 127.0.0.1:"),
        "\(run.errors)")

      let live = try await hearth("exec", "-q", "--project", "live", "--port", "0", "--", "printenv", "GCLOUD_PROJECT")
      #expect(live.status == 0 && live.output == "notes-1\n", "\(live.errors)")
      withExtendedLifetime(port) {}
    }

    @Test("exec with rules prints the rule expressions that its command evaluated")
    func coverage() async throws {
      try surroundings.write(
        "r.rules",
        """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{d}/documents {
            match /c/{i} {
              allow get: if request.auth != null;
              allow delete: if request.auth.uid == i;
            }
          }
        }
        """)
      let rules = ["exec", "--rules", folder + "/r.rules"]
      let some = try await HeadlessRun(
        rules + ["--", "sh", "-c", script("hearth set c/a n=1 && hearth get c/a --as ada")], surroundings)
      #expect(some.status == 0, "\(some.errors)")
      #expect(
        some.errors.contains("hearth: rules: 3 of 7 expressions were evaluated, 4 never: \(folder)/r.rules:6.\n"),
        "\(some.errors)")
      let none = try await HeadlessRun(rules + ["--", "true"], surroundings)
      #expect(
        none.errors.hasSuffix(
          "hearth: rules: none of the 7 expressions in \(folder)/r.rules was evaluated. "
            + "Requests of administrators bypass rules.\n"), "\(none.errors)")
      let quiet = try await HeadlessRun(rules + ["-q", "--", "true"], surroundings)
      #expect(quiet.errors == "")
    }

    @Test("The Firebase CLI's import and export options carry data from one run to the next")
    func exports() async throws {
      let options = ["exec", "--only", "firestore", "--project", "demo-x", "--import=seed", "--export-on-exit", "--"]
      for number in 1...2 {
        let run = try await HeadlessRun(
          options + ["sh", "-ec", script("hearth create c/\(number) n=\(number); hearth count c")],
          by: ["env", "-C", folder], surroundings)
        #expect(run.status == 0 && run.output == "\(number)\n", "\(run.errors)")
        #expect(run.errors.ranges(of: "--import is read as --import-data").count == 1, "\(run.errors)")
        #expect(run.errors.contains("seed does not exist yet") == (number == 1), "\(run.errors)")
      }
    }

    @Test("Exporting over a Firebase CLI export keeps the folder and other products' data")
    func firebaseExport() async throws {
      #expect(try await hearth("set", "c/a", "n=1").status == 0)
      let inner = "seed/firestore_export"
      try FileManager.default.createDirectory(atPath: "\(folder)/seed/auth_export", withIntermediateDirectories: true)
      try surroundings.write(
        "seed/firebase-export-metadata.json", #"{"version": "13.0.0", "firestore": {"path": "firestore_export"}}"#)
      #expect(try await hearth("export", "--all", "--format", "google", "-o", inner).status == 0)
      let run = try await hearth(
        "exec", "--project", "demo-x", "--import-data", "seed", "--export-on-exit", "--", "sh", "-ec",
        script("hearth create c/b n=2"))
      #expect(run.status == 0, "\(run.errors)")
      let read = try await hearth("import", "--dry-run", "seed", "--in-memory")
      #expect(read.status == 0 && read.errors.contains("2 documents"), "\(read.errors)")
      #expect(FileManager.default.fileExists(atPath: "\(folder)/seed/auth_export"))
    }
  }

  /// What `hearth serve` promises to scripts, and that test suites do no harm to the local database.
  @Suite(.serialized) struct ServeScriptTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String...) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, surroundings)
    }

    private func curl(_ arguments: String...) async throws -> String {
      let process = try ChildProcess(
        ["curl", "-sS", "-o", "-", "-w", " %{http_code}"] + arguments, environment: surroundings.environment,
        streams: .pipes)
      return try await ChildProcess.all(process.output)
    }

    @Test("By default a server keeps its data in memory and says so in its first line")
    func memory() async throws {
      #expect(try await hearth("set", "mine/a", "x=1").status == 0)
      let server = try ChildProcess(
        [Surroundings.hearth, "serve", "--port", "0"], environment: surroundings.environment, streams: .pipes)
      let first = try await server.line()
      #expect(first.hasSuffix(". The data is in memory until the server ends. Ctrl-C ends it."), "\(first)")
      let address = try await server.line().replacing("export FIRESTORE_EMULATOR_HOST=", with: "")
      #expect(try await hearth("get", "mine/a", "--emulator", address).status == 4)
      #expect(try await curl("-X", "POST", "http://\(address)/reset").hasSuffix(" 200"))
      #expect(try await hearth("get", "mine/a").status == 0)
    }

    @Test("Clients cannot clear the local database unless --allow-reset is set", arguments: [false, true])
    func local(mayReset: Bool) async throws {
      #expect(try await hearth("set", "mine/a", "x=1").status == 0)
      let server = try await ServeProcess(surroundings, ["--local"] + (mayReset ? ["--allow-reset"] : []))
      let root = "http://\(server.address)"
      let clear = try await curl("-X", "DELETE", "\(root)/emulator/v1/projects/hearth/databases/(default)/documents")
      let reset = try await curl("-X", "POST", "\(root)/reset")
      for answer in [clear, reset] {
        #expect(answer.hasSuffix(mayReset ? " 200" : " 403"), "\(answer)")
        #expect(answer.contains("--allow-reset") != mayReset, "\(answer)")
      }
      #expect(try await hearth("get", "mine/a").status == (mayReset ? 4 : 0))
    }

    @Test("The local database is protected from clearing under every spelling of its path")
    func folders() async throws {
      let own = try await ServeProcess(surroundings, ["--data", surroundings.folder.path + "/own"])
      #expect(try await curl("-X", "POST", "http://\(own.address)/reset").hasSuffix(" 200"))
      let usual = try await ServeProcess(surroundings, ["--data", surroundings.folder.path + "/data/./hearth/backend"])
      #expect(try await curl("-X", "POST", "http://\(usual.address)/reset").hasSuffix(" 403"))
    }

    @Test("--print-port prints the port, and --ready-file stores the address")
    func readiness() async throws {
      let file = surroundings.folder.appending(path: "ready").path
      let server = try ChildProcess(
        [Surroundings.hearth, "serve", "--port", "0", "--print-port", "--ready-file", file],
        environment: surroundings.environment, streams: .pipes)
      let port = try #require(Int(try await server.line()))
      #expect(try surroundings.text("ready") == "127.0.0.1:\(port)\n")
      #expect(try await curl("http://127.0.0.1:\(port)/health") == "Ok\n 200")
      kill(server.id, SIGTERM)
      #expect(try await server.exitStatus() == 0)
      #expect(try await ChildProcess.all(server.output) == "")
      #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test("localhost is served on 127.0.0.1 and ::1")
    func families() async throws {
      let server = try ChildProcess(
        [Surroundings.hearth, "serve", "--host", "localhost", "--port", "0", "--print-port"],
        environment: surroundings.environment, streams: .pipes)
      let port = try await server.line()
      #expect(try await curl("http://127.0.0.1:\(port)/") == "Ok\n 200")
      if try String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8).contains(" lo\n") {
        #expect(try await curl("-g", "http://[::1]:\(port)/") == "Ok\n 200")
      }
      kill(server.id, SIGTERM)
      #expect(try await server.exitStatus() == 0)
    }

    @Test(
      "The log has a line per request with user and rule, and is quiet by default", arguments: ["json", "text", ""])
    func log(_ format: String) async throws {
      try surroundings.write(
        "r.rules",
        """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{d}/documents { match /c/{i} {
            allow read: if request.auth.uid == 'bob'; } }
        }
        """)
      let server = try await ServeProcess(
        surroundings,
        ["--rules", surroundings.folder.path + "/r.rules"] + (format.isEmpty ? [] : ["--log-format", format]))
      #expect(try await hearth("set", "c/a", "n=1", "--emulator", server.address).status == 0)
      // {"alg":"none"}.{"sub":"ada"}
      let token = "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."
      let path = "/v1/projects/hearth/databases/(default)/documents/c/a"
      #expect(try await curl("-H", token, "http://\(server.address)\(path)?mask.fieldPaths=secret").hasSuffix(" 403"))
      kill(server.process.id, SIGTERM)
      #expect(try await server.process.exitStatus() == 0)
      let lines = try await ChildProcess.all(server.process.errors).split(separator: "\n")
      switch format {
      case "json":
        let commit = try #require(lines.first { $0.contains("/google.firestore.v1.Firestore/Commit") })
        #expect(commit.contains(#""status": 200, "grpcStatus": "ok""#) && commit.contains(#""user": "owner""#))
        let refused = try #require(lines.first { $0.contains(path) })
        #expect(refused.contains(#""level": "info", "method": "GET", "path": "\#(path)", "status": 403, "#))
        #expect(refused.contains(#""user": "ada", "rulesLine": 4}"#), "\(refused)")
      case "text":
        let refused = try #require(lines.first { $0.contains(" GET \(path) 403 ") })
        #expect(refused.hasSuffix(" ms ada rules line 4"), "\(refused)")
      default: #expect(lines.isEmpty, "\(lines)")
      }
      #expect(!lines.contains { $0.contains("secret") })
    }
  }
}
