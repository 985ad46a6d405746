// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InShells {
  @Suite("hearth plain")
  struct PlainTests {
    @Test("hearth plain prints events without escape codes and ends when its reader exits")
    func closedPipe() async throws {
      let surroundings = try Surroundings()
      let run = try await HeadlessRun(
        ["plain", "--demo", "--in-memory"],
        redirection: """
          | while IFS= read -r line; do printf '%s\\n' "$line"; case $line in *"status: online"*) a=1;; \
          *"orders added"*) b=1;; esac; [ "$a$b" = 11 ] && break; done
          """, surroundings)

      #expect(run.lines.contains { $0.contains("status: online") }, "\(run.output)")
      // A listing comes before the orders that are made while it goes on, or with them.
      #expect(run.lines.contains { $0.contains("orders ") && $0.contains(/[0-9]+ docs?/) }, "\(run.output)")
      #expect(run.lines.contains { $0.contains("orders added") }, "\(run.output)")
      #expect(!run.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
      #expect(run.errors == "")
    }

    @Test("hearth plain opens the named listeners of a file and reports errors in the file")
    func listeners() async throws {
      let surroundings = try Surroundings()
      try surroundings.write(
        "mine.toml",
        """
        [[listener]]
        name = "people"
        path = "users"
        [[listener]]
        name = "nothing"

        """)
      let path = surroundings.folder.appending(path: "mine.toml").path
      let run = try await HeadlessRun(
        ["plain", "--demo", "--in-memory", "--listeners", path], redirection: "| head -n 8", surroundings)
      #expect(run.output.contains("mine.toml:4: path or group is missing"), "\(run.output)")
      #expect(run.output.contains("people added"), "\(run.output)")
      #expect(!run.output.contains("orders added"), "\(run.output)")
    }

    @Test("After a signal hearth plain exits with 128 plus the signal's number", arguments: [SIGTERM, SIGINT])
    func signals(signal: CInt) async throws {
      let surroundings = try Surroundings()
      let process = try ChildProcess(
        [Surroundings.hearth, "plain", "--in-memory"], environment: surroundings.environment, streams: .pipes)
      process.closeInput()
      var said: [UInt8] = []
      while !String(decoding: said, as: UTF8.self).contains("status: ") {
        try #require(await Waiting.isReadable(process.output, by: .now + Waiting.limit))
        said += Waiting.read(process.output)
      }
      kill(process.id, signal)
      #expect(try await process.exitStatus() == 128 + signal)
    }

    @Test("hearth plain reads commands to go offline, write, print, expect and quit")
    func words() async throws {
      let surroundings = try Surroundings()
      let run = try await HeadlessRun(
        ["plain", "--in-memory", "--listen", "cities"],
        input: """
          expect synced
          offline
          set cities/SF {"state": "CA"}
          expect added cities/SF
          queue
          dance
          online
          expect acknowledged cities/SF
          update cities/SF state=NV
          expect modified cities/SF
          listeners
          quit

          """, surroundings)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)\(run.output)")
      for said in [
        "as expected: added cities/SF happened", "queue: 1 write pending", "#1 set cities/SF", "pending while offline",
        "not understood: dance is not a command", "as expected: acknowledged cities/SF happened",
        "state \"CA\" to \"NV\"", "cities: cities, 1 document",
      ] {
        #expect(run.output.contains(said), "\(said) is not in:\n\(run.output)")
      }
      #expect(!run.output.contains("→") && !run.output.contains("·"), "\(run.output)")
    }

    @Test("In hearth plain, 'queue' counts the writes of all commands before it")
    func counted() async throws {
      let run = try await HeadlessRun(
        ["plain", "--in-memory"],
        input: "offline\n" + (1...20).map { "set c/\($0) {\"n\": \($0)}\n" }.joined() + "queue\nquit\n",
        try Surroundings())
      #expect(run.output.contains("queue: 20 writes pending"), "\(run.output)")
    }

    @Test("hearth plain --json prints each event and each requested part as one JSON object")
    func json() async throws {
      let surroundings = try Surroundings()
      let run = try await HeadlessRun(
        ["plain", "--json", "--in-memory", "--listen", "cities"],
        input: """
          expect synced
          offline
          set cities/SF {"state": "CA"}
          expect added cities/SF
          aside 1
          expect removed cities/SF
          queue
          again 1
          expect added cities/SF
          network
          inside
          online
          expect acknowledged cities/SF
          quit

          """, surroundings)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)\(run.output)")
      for line in run.lines {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["type"] is String, "\(line)")
      }
      for said in [
        #""type": "feed""#, #""type": "status""#, #""met": true"#, #""setAside": true"#, #""type": "network""#,
        #""type": "inside""#, #""path": "cities/SF""#,
      ] {
        #expect(run.output.contains(said), "\(said) is not in:\n\(run.output)")
      }
    }

    @Test("hearth plain prints all tabs of a document and the document counts of the tree")
    func panes() async throws {
      let run = try await HeadlessRun(
        ["plain", "--in-memory", "--listen", "cities"],
        input: """
          set cities/SF {"state": "CA", "name": "San Francisco"}
          expect acknowledged cities/SF
          document cities/SF --json
          collections
          offline
          update cities/SF state=NV
          document cities/SF
          document cities/SF --json
          document cities/none --json
          collections --json
          requests
          requests --json
          document cities
          quit

          """, try Surroundings())
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)\(run.output)")
      let objects = try run.lines.filter { $0.hasPrefix("{") }.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      }
      try #require(
        objects.compactMap { $0["type"] as? String }
          == ["document", "document", "document", "collections", "requests"], "\(run.output)")
      let (online, offline) = (objects[0], objects[1])
      #expect(online["fromCache"] as? Bool == false && online["pendingWrites"] as? Bool == false, "\(online)")
      #expect((online["data"] as? [String: String])?["state"] == "CA")
      #expect(offline["fromCache"] as? Bool == true && offline["pendingWrites"] as? Bool == true, "\(offline)")
      #expect((offline["data"] as? [String: String])?["state"] == "NV")
      #expect((offline["server"] as? [String: String])?["state"] == "CA")
      #expect(
        ((offline["overlay"] as? [String: Any])?["data"] as? [String: String])?["state"] == "NV", "\(offline)")
      #expect((offline["history"] as? [Any])?.count ?? 0 >= 2, "\(offline)")
      #expect(objects[2]["data"] is NSNull)
      let tree = try #require((objects[3]["collections"] as? [[String: Any]])?.first)
      #expect(tree["path"] as? String == "cities" && tree["heard"] as? String == "all", "\(tree)")
      #expect((objects[4]["problem"] as? String)?.contains("--rules") == true)
      for said in [
        "collections: 1", "cities: 1 document, listened to", "document cities/SF, from the cache",
        "state: \"NV\", at the server \"CA\"", "requests: rules apply at", "not understood: ",
      ] {
        #expect(run.output.contains(said), "\(said) is not in:\n\(run.output)")
      }
    }

    @Test("hearth plain exits with 1 for an unmet expectation; --readonly rejects writes")
    func unmet() async throws {
      let surroundings = try Surroundings()
      let run = try await HeadlessRun(
        ["plain", "--in-memory", "--listen", "cities", "--readonly"],
        input: "set cities/SF {}\nexpect added within 200ms\nquit\n", surroundings)
      #expect(run.status == 1 && run.hasOneErrorLine, "\(run.errors)")
      #expect(run.output.contains("rejected: this session may not write"), "\(run.output)")
      #expect(run.output.contains("not as expected: added did not happen"), "\(run.output)")
    }

    @Test("--timeout ends hearth plain, with status 1 for an unmet expectation")
    func timeout() async throws {
      let surroundings = try Surroundings()
      for (words, status) in [("queue\n", CInt(0)), ("expect added within 10ms\n", 1)] {
        let process = try ChildProcess(
          [Surroundings.hearth, "plain", "--in-memory", "--timeout", "1s"],
          environment: surroundings.environment, streams: .pipes)
        process.write(words)
        #expect(try await process.exitStatus() == status, "\(words)")
      }
    }

    @Test("hearth plain reports configuration errors with file and line")
    func configuration() async throws {
      let surroundings = try Surroundings()
      try surroundings.configure("mouze = true\n")
      let run = try await HeadlessRun(
        ["plain", "--in-memory", "--demo"], redirection: "| head -n 3", surroundings)

      #expect(run.output.contains("config.toml:1: unknown setting \"mouze\"; did you mean mouse?"), "\(run.output)")
    }

    @Test("hearth plain does not listen to a whole real database by default")
    func refused() async throws {
      for (arguments, status, word) in [
        (["plain", "--cloud", "--project", "p"], CInt(64), "--listen"), (["--listen", "a"], 64, "'--listen'"),
        (["--json"], 64, "'--json'"), (["--timeout", "1s"], 64, "'--timeout'"),
        (["plain", "--in-memory", "--listen", "a//b"], 64, "a//b"),
      ] {
        let run = try await HeadlessRun(arguments, Surroundings())
        #expect(run.status == status && run.hasOneErrorLine && run.errors.contains(word), "\(run.errors)")
      }
    }
  }
}
