// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  @Suite("hearth rules")
  struct RulesCommandTests {
    private static let rules = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          match /rooms/{room} {
            allow get: if resource.data.owner == request.auth.uid;
            allow list: if resource.data.open == true;
          }
        }
      }
      """

    @Test("A check prints every problem with file, line and column and ends with 65; good rules end with 0")
    func check() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("good.rules", Self.rules)
      try surroundings.write("bad.rules", "service cloud.firestore { match /x { allow read if; allow write: if a; } }")
      let path = surroundings.folder.path
      let good = try await HeadlessRun(["rules", "check", "\(path)/good.rules"], surroundings)
      #expect(good.status == 0 && good.output == "\(path)/good.rules: can be used\n" && good.errors == "")

      let bad = try await HeadlessRun(["rules", "check", "\(path)/good.rules", "\(path)/bad.rules"], surroundings)
      #expect(bad.status == 65 && bad.hasOneErrorLine, "\(bad.errors)")
      #expect(bad.output.contains("bad.rules:1:49: error: Missing ':' before 'if' condition."), "\(bad.output)")
      let missing = try await HeadlessRun(["rules", "check", "\(path)/none.rules"], surroundings)
      #expect(missing.status == 66 && missing.hasOneErrorLine, "\(missing.errors)")
    }

    @Test("Cases that are decided otherwise are printed with the deciding line and end with 1")
    func cases() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      try surroundings.write(
        "cases.jsonl",
        """
        {"stored": {"rooms/a": {"owner": "ada"}}, "path": "rooms/a", "method": "get"}
        {"user": "ada", "expect": "allow"}

        {"user": "bob", "expect": "allow", "name": "guests"}
        {"user": null, "expect": "deny"}
        {"method": "list", "path": "rooms", "query": {"where": [["open", "==", true]]}, "expect": "deny"}
        """)
      let path = surroundings.folder.path
      let run = try await HeadlessRun(["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], surroundings)
      #expect(run.status == 1 && run.errors == "hearth: 2 of 4 cases were decided otherwise.\n", "\(run.errors)")
      #expect(run.lines.count == 3 && run.lines.last == "4 cases, 2 as expected", "\(run.output)")
      #expect(
        run.lines[0].hasPrefix("\(path)/cases.jsonl:4: guests: get rooms/a is denied, \(path)/r.rules:5: "),
        "\(run.output)")
      #expect(run.lines[1] == "\(path)/cases.jsonl:6: list rooms is allowed, \(path)/r.rules:6", "\(run.output)")
    }

    @Test("Without a case nothing was tested, and that is no success")
    func none() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      try surroundings.write("cases.jsonl", "\n")
      let path = surroundings.folder.path
      let run = try await HeadlessRun(["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], surroundings)
      #expect(run.status == 65 && run.hasOneErrorLine && run.output == "", "\(run.errors)")
    }

    @Test("A server tells of rules that it does not take, and of a file that is gone; what it had holds on")
    func served() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let path = surroundings.folder.appending(path: "r.rules").path
      let server = try await ServeProcess(surroundings, ["--in-memory", "--rules", path])

      try surroundings.write("r.rules", "rules_version = '2';")
      let refused = try await server.process.errorLine()
      #expect(
        refused.hasPrefix("hearth: \(path):1:21: error: ") && refused.hasSuffix(" The rules from before hold on."),
        "\(refused)")
      try FileManager.default.removeItem(atPath: path)
      #expect(
        try await server.process.errorLine()
          == "hearth: The rules in \(path) cannot be read: No such file or directory. The rules from before hold on.")
      try surroundings.write("r.rules", Self.rules)
      #expect(try await server.process.errorLine() == "hearth: \(path) has changed; its rules hold from now on.")
    }

    @Test("Rules come through a pipe, too, and no more of them than are rules")
    func piped() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let path = surroundings.folder.appending(path: "r.rules").path
      let server = try await ServeProcess(
        surroundings, ["--in-memory", "--rules", "/dev/stdin"], redirection: "<\(path)")
      #expect(server.port > 0)
      let endless = try await HeadlessRun(
        ["serve", "--in-memory", "--port", "0", "--rules", "/dev/zero"], surroundings)
      #expect(endless.status == 65 && endless.hasOneErrorLine && endless.errors.contains("16 MiB"), "\(endless.errors)")
    }

    @Test("A case that cannot be read is named with its place and ends with 65")
    func unreadable() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let path = surroundings.folder.path
      for (line, reason) in [
        ("{\"method\": \"put\", \"path\": \"a/b\", \"expect\": \"allow\"}", ":1:12: \"method\" is one of"),
        ("{\"method\": \"get\", \"path\": \"a\", \"expect\": \"deny\"}", ":1:27: \"a\" names no document"),
        ("{\"methods\": \"get\"}", ":1:13: \"methods\" is not known"), ("[1]", ":1:1: Expected a case"), ("{", ":1:2: "),
        ("{\"method\": \"list\", \"path\": \"a\", \"query\": {\"where\": [[\"n\", \"=\", 1]]}, \"expect\": \"deny\"}", "is no operator"),
      ] {
        try surroundings.write("cases.jsonl", line)
        let run = try await HeadlessRun(["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], surroundings)
        #expect(run.status == 65 && run.hasOneErrorLine && run.errors.contains(reason), "\(run.errors)")
      }
    }
  }
}
