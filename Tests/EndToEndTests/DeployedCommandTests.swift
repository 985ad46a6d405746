// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// `hearth deployed`, `hearth explain` and backups, against a `hearth serve` in a process of its own.
  @Suite(.serialized) struct DeployedCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    private static let rules = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents { match /{path=**} { allow read; } } }

      """
    private static let indexes = """
      {"indexes": [
        {"collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "state", "order": "ASCENDING"}, {"fieldPath": "population", "order": "DESCENDING"}]},
        {"collectionGroup": "tags", "queryScope": "COLLECTION_GROUP", "fields": [
          {"fieldPath": "words", "arrayConfig": "CONTAINS"}, {"fieldPath": "n", "order": "ASCENDING"}]}]}
      """

    private func serve(_ more: [String] = []) async throws -> ServeProcess {
      try surroundings.write("firestore.rules", Self.rules)
      try surroundings.write("indexes.json", Self.indexes)
      return try await ServeProcess(
        surroundings,
        ["--in-memory", "--rules", path("firestore.rules"), "--require-indexes", path("indexes.json")] + more)
    }

    @Test("The indexes of a server come as a firestore.indexes.json, which differs from itself in nothing")
    func indexes() async throws {
      let server = try await serve()
      let printed = try await HeadlessRun(["deployed", "indexes", "--emulator", server.address], surroundings)
      #expect(printed.status == 0, "\(printed.errors)")
      #expect(printed.output.contains(#"{"fieldPath": "population", "order": "DESCENDING"}]"#), "\(printed.output)")
      for text in [printed.output, Self.indexes] {
        try surroundings.write("same.json", text)
        let same = try await HeadlessRun(
          ["deployed", "indexes", "--emulator", server.address, "--compare", path("same.json")], surroundings)
        #expect(same.status == 0 && same.output == "", "\(same.output)\(same.errors)")
      }
    }

    @Test("What a file has and the server lacks is told with the request that would make it, and the other way round")
    func compare() async throws {
      let server = try await serve()
      try surroundings.write(
        "other.json",
        #"{"indexes": [{"collectionGroup": "a b", "fields": [{"fieldPath": "x", "order": "ASCENDING"}, "#
          + #"{"fieldPath": "y", "order": "ASCENDING"}]}], "fieldOverrides": [{"collectionGroup": "orders", "#
          + #""fieldPath": "expires", "ttl": true, "indexes": []}]}"#)
      let run = try await HeadlessRun(
        ["deployed", "indexes", "--emulator", server.address, "--compare", path("other.json"), "--requests"],
        surroundings)
      #expect(run.status == 1, "\(run.errors)")
      let lines = run.lines
      #expect(lines.prefix(2).allSatisfy { $0.hasPrefix("- ") } && lines.contains("+ a b: x ASC, y ASC"), "\(lines)")
      #expect(lines.contains("+ orders.expires: no index, documents expire"), "\(lines)")
      let requests = lines.filter { $0.hasPrefix("curl -X ") }
      #expect(requests.count == 2 && requests[0].contains("/collectionGroups/a%20b/indexes' "), "\(requests)")
      #expect(requests[1].contains("PATCH") && requests[1].contains("expires?updateMask=indexConfig&updateMask=ttl"))
      let alone = try await HeadlessRun(
        ["deployed", "indexes", "--emulator", server.address, "--requests"], surroundings)
      #expect(alone.status == 64 && alone.errors.contains("--compare"))
    }

    @Test("The rules of a server are printed, compared, and come into a backup with the indexes")
    func rules() async throws {
      let server = try await serve()
      let printed = try await HeadlessRun(["deployed", "rules", "--emulator", server.address], surroundings)
      #expect(printed.status == 0 && printed.output == Self.rules, "\(printed.output)\(printed.errors)")
      let arguments = ["deployed", "rules", "--emulator", server.address, "--compare"]
      let same = try await HeadlessRun(arguments + [path("firestore.rules")], surroundings)
      #expect(same.status == 0 && same.output == "the same\n", "\(same.errors)")
      let other = try await HeadlessRun(arguments + [path("indexes.json"), "--requests"], surroundings)
      #expect(other.status == 1 && other.lines.first == "the server's rules are others", "\(other.output)")
      #expect(other.lines.filter { $0.hasPrefix("curl -X ") }.count == 2)

      let backup = try await HeadlessRun(["backup", path("kept"), "--emulator", server.address], surroundings)
      #expect(backup.status == 0 && backup.errors.contains("and indexes in"), "\(backup.errors)")
      #expect(try surroundings.text("kept/firestore.rules") == Self.rules)
      #expect(try surroundings.text("kept/firestore.indexes.json").contains("COLLECTION_GROUP"))
    }

    @Test("Over TLS, as at Cloud Firestore, rules are those of the project's release")
    func overTLS() async throws {
      try surroundings.write("cert.pem", TLSFiles.certificate)
      try surroundings.write("key.pem", TLSFiles.key)
      chmod(path("key.pem"), 0o600)
      let server = try await serve(["--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")])
      let url = "https://\(server.address)/v1/projects/hearth"
      let release = try ChildProcess(
        ["curl", "-s", "--cacert", path("cert.pem"), "\(url)/releases/cloud.firestore"],
        environment: surroundings.environment, streams: .pipes)
      #expect(try await ChildProcess.all(release.output).contains("projects/hearth/rulesets/current"))
      let ruleset = try ChildProcess(
        ["curl", "-s", "--cacert", path("cert.pem"), "\(url)/rulesets/current"],
        environment: surroundings.environment, streams: .pipes)
      #expect(try await ChildProcess.all(ruleset.output).contains("allow read"))
    }

    @Test("A server without rules or lifetimes, and data that can have none, say so")
    func nothing() async throws {
      let server = try await ServeProcess(surroundings)
      let rules = try await HeadlessRun(["deployed", "rules", "--emulator", server.address], surroundings)
      #expect(rules.status == 4 && rules.output == "" && rules.errors.contains("no rules"), "\(rules.errors)")
      let lifetimes = try await HeadlessRun(["deployed", "ttl", "--emulator", server.address], surroundings)
      #expect(lifetimes.status == 0 && lifetimes.output == "" && lifetimes.errors.contains("expires"))
      let indexes = try await HeadlessRun(["deployed", "indexes", "--emulator", server.address], surroundings)
      #expect(indexes.status == 0 && indexes.output.contains(#""indexes": []"#), "\(indexes.errors)")
      let local = try await HeadlessRun(["deployed", "rules"], surroundings)
      #expect(local.status == 64 && local.errors.contains("--emulator HOST:PORT"), "\(local.errors)")
    }

    @Test("explain names the index and, if asked, what the query costs; a document and a server that is away are told")
    func explain() async throws {
      let server = try await serve()
      for number in 0..<5 {
        let set = try await HeadlessRun(
          ["set", "cities/c\(number)", "{\"state\": \"CA\", \"population\": \(number)}", "--emulator", server.address],
          surroundings)
        #expect(set.status == 0, "\(set.errors)")
      }
      let query = ["cities", "--where", "state == CA", "--order", "population:desc", "--limit", "3"]
      let plan = try await HeadlessRun(["explain"] + query + ["--emulator", server.address], surroundings)
      #expect(plan.status == 0, "\(plan.errors)")
      #expect(plan.output.contains("(state ASC, population DESC, __name__ DESC)  of the collection"), "\(plan.output)")
      #expect(plan.output.contains("composite") && !plan.output.contains("results"), "\(plan.output)")
      let run = try await HeadlessRun(
        ["explain"] + query + ["--analyze", "--json", "--emulator", server.address], surroundings)
      #expect(run.output.contains(#""results": 3"#) && run.output.contains(#""readsBilled": 3"#), "\(run.output)")

      let local = try await HeadlessRun(["explain", "nothing", "--analyze"], surroundings)
      #expect(local.status == 0 && local.output.contains("results   0 in") && local.output.contains("billed    1"))
      let document = try await HeadlessRun(["explain", "cities/c1"], surroundings)
      #expect(document.status == 64 && document.errors.contains("names a document"), "\(document.errors)")
      let away = try await HeadlessRun(["explain", "cities", "--emulator", "127.0.0.1:1"], surroundings)
      #expect(away.status == 69 && away.hasOneErrorLine, "\(away.errors)")
    }
  }
}
