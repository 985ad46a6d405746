// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
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

    @Test("rules check prints every problem with its position, and exits with 65 or 0")
    func check() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("good.rules", Self.rules)
      try surroundings.write("bad.rules", "service cloud.firestore { match /x { allow read if; allow write: if a; } }")
      let path = surroundings.folder.path
      let good = try await HeadlessRun(["rules", "check", "\(path)/good.rules"], surroundings)
      #expect(good.status == 0 && good.output == "\(path)/good.rules: valid\n" && good.errors == "")

      let bad = try await HeadlessRun(["rules", "check", "\(path)/good.rules", "\(path)/bad.rules"], surroundings)
      #expect(bad.status == 65 && bad.hasOneErrorLine, "\(bad.errors)")
      #expect(bad.output.contains("bad.rules:1:49: error: Missing ':' before 'if' condition."), "\(bad.output)")
      let missing = try await HeadlessRun(["rules", "check", "\(path)/none.rules"], surroundings)
      #expect(missing.status == 66 && missing.hasOneErrorLine, "\(missing.errors)")
    }

    @Test("Control characters in files and arguments never reach the terminal or pipe")
    func hostile() async throws {
      let surroundings = try Surroundings()
      let path = surroundings.folder.path
      let raw = "\u{1b}]52;c;SEVBUlRI\u{7}\u{202e}\u{9b}"
      let condition = "'a'.matches('\(raw)(')"
      try surroundings.write(
        "x.rules",
        "service cloud.firestore { match /databases/{d}/documents { match /r/{i} { allow read: if \(condition); } } }")
      try surroundings.write("r.rules", Self.rules)
      try surroundings.write(
        "cases.jsonl", #"{"path": "rooms/a", "method": "get", "expect": "allow", "name": "\u001b\u202e\u009b"}"#)
      try surroundings.write("t.toml", "schema = 1\ninherits = \"ember\"\n\"a\\u202e\\u001b\" = 1\n")
      let runs = [
        ["rules", "check", "\(path)/x.rules"], ["rules", "test", "\(path)/x.rules", "\(path)/cases.jsonl"],
        ["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], ["theme", "check", "\(path)/t.toml"],
        ["rules", "check", "\(path)/\(raw)"], ["get", raw, "--in-memory"], ["--\(raw)"], [raw], ["help", raw],
        ["get", "--where", raw],
      ]
      for arguments in runs {
        let run = try await HeadlessRun(arguments, surroundings)
        let isSafe = (run.output + run.errors).unicodeScalars.allSatisfy { scalar in
          scalar == "\n" || ![.control, .format].contains(scalar.properties.generalCategory)
        }
        #expect(isSafe, "\(arguments.first ?? ""): \(run.output.debugDescription) \(run.errors.debugDescription)")
      }
    }

    @Test("hearth rules test prints failed cases with the deciding line and exits with 1")
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
      #expect(run.status == 1 && run.errors == "hearth: 2 of 4 cases failed.\n", "\(run.errors)")
      #expect(run.lines.count == 4 && run.lines[2] == "4 cases, 2 as expected", "\(run.output)")
      #expect(run.lines[3] == "rules: all 11 expressions were evaluated.", "\(run.output)")
      #expect(
        run.lines[0].hasPrefix("\(path)/cases.jsonl:4: guests: get rooms/a is denied, \(path)/r.rules:5: "),
        "\(run.output)")
      #expect(run.lines[1] == "\(path)/cases.jsonl:6: list rooms is allowed, \(path)/r.rules:6", "\(run.output)")
    }

    @Test("hearth rules test fails if there are no cases")
    func none() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      try surroundings.write("cases.jsonl", "\n")
      let path = surroundings.folder.path
      let run = try await HeadlessRun(["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], surroundings)
      #expect(run.status == 65 && run.hasOneErrorLine && run.output == "", "\(run.errors)")
    }

    @Test("With --as and --claims a command runs as a user under the rules")
    func actingAsUser() async throws {
      let surroundings = try Surroundings()
      try surroundings.write(
        "r.rules",
        """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{d}/documents {
            match /rooms/{r} {
              allow read: if request.auth.uid == resource.data.owner || request.auth.token.level > 2;
              allow create: if request.auth.uid == request.resource.data.owner;
            }
          }
        }
        """)
      let server = try await ServeProcess(surroundings, ["--rules", surroundings.folder.path + "/r.rules"])
      func status(_ arguments: String...) async throws -> CInt {
        try await HeadlessRun(arguments + ["--emulator", server.address], surroundings).status
      }
      #expect(try await status("set", "rooms/a", "owner=ada", "--as", "bob") == 77)
      #expect(try await status("set", "rooms/a", "owner=ada", "--as", "ada") == 0)
      #expect(try await status("get", "rooms/a", "--as", "ada") == 0)
      #expect(try await status("get", "rooms/a", "--as", "bob") == 77)
      #expect(try await status("get", "rooms/a", "--as", "none") == 77)
      #expect(try await status("get", "rooms/a", "--as", "bob", "--claims", #"{"level": 3}"#) == 0)
      #expect(try await status("get", "rooms", "--where", "owner == ada", "--as", "ada") == 0)
      #expect(try await status("count", "rooms", "--as", "bob") == 77)
      // Without --as a command is an administrator.
      #expect(try await status("get", "rooms/a") == 0)
      #expect(try await status("get", "rooms/a", "--as", "") == 64)
      #expect(try await status("get", "rooms/a", "--claims", "{}") == 64)
      #expect(try await status("get", "rooms/a", "--as", "ada", "--claims", "[]") == 64)
      let local = try await HeadlessRun(["get", "rooms/a", "--as", "ada"], surroundings)
      #expect(local.status == 64 && local.errors.contains("Name the server with --emulator"), "\(local.errors)")
    }

    @Test("If a server checks tokens, only commands with the secret run as administrators")
    func administrator() async throws {
      let surroundings = try Surroundings()
      let path = surroundings.folder.path
      try surroundings.write("r.rules", Self.rules)
      try surroundings.write("keys.pem", Self.publicKey)
      try surroundings.write("secret", "0123456789abcdef0123\n")
      chmod("\(path)/secret", 0o600)
      try surroundings.write("other", "another-secret-than-that\n")
      let server = try await ServeProcess(
        surroundings,
        [
          "--in-memory", "--rules", "\(path)/r.rules", "--auth-keys", "\(path)/keys.pem", "--admin-secret",
          "\(path)/secret",
        ])

      let write = ["set", "rooms/a", "{\"n\": 1}", "--emulator", server.address]
      let nobody = try await HeadlessRun(write, surroundings)
      #expect(nobody.status == 77 && nobody.hasOneErrorLine, "\(nobody.status) \(nobody.errors)")
      #expect(nobody.errors.contains("--admin-secret"), "\(nobody.errors)")
      let wrong = try await HeadlessRun(write + ["--admin-secret", "\(path)/other"], surroundings)
      #expect(
        wrong.status == 77 && wrong.hasOneErrorLine && !wrong.errors.contains("another-secret"), "\(wrong.errors)")
      let missing = try await HeadlessRun(write + ["--admin-secret", "\(path)/none"], surroundings)
      #expect(missing.status == 77 && missing.errors.contains("\(path)/none"), "\(missing.errors)")

      let done = try await HeadlessRun(write + ["--admin-secret", "\(path)/secret"], surroundings)
      #expect(done.status == 0 && done.errors == "", "\(done.errors)")
      let read = try await HeadlessRun(
        ["get", "rooms/a", "--emulator", server.address, "--admin-secret", "\(path)/secret"], surroundings)
      #expect(read.status == 0 && read.output.contains("\"n\": 1"), "\(read.output) \(read.errors)")
    }

    /// A key of RSA whose private half nobody has kept.
    private static let publicKey = """
      -----BEGIN PUBLIC KEY-----
      MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyHsnAaaIOGxtEToionuE
      RA4uZdAOaFsBtkd4VXSTdMn3O/Rke8eB/NdMWDBprmO4dxkoN+F/lsaEBT98N4NS
      U5c6oXqUziWQ3EZULNeTPIlhxsTxs87lUVvOx0ftcd25uwjzlG91GfF5bC+xSDop
      5i0i/zVv1wnKSyFpBCXfqJp/TzFzX/1g0osgwolQKZtTNtjHW8exHXAkv1a9nVPZ
      +tuZBuy1aWCjCx0MTf8GQqK0jsXsrs+v76cCHVHOgyFaeUfdLwwF4pLtUEr5G/2Z
      PTTFXDJqsOHPTdTzifi0x2SGmYzimygygoAN4tF2qF16Sgn9eR90jS1Jn6TXDSKs
      tQIDAQAB
      -----END PUBLIC KEY-----
      """

    @Test("Secrets that other users can read and keys that they can write are rejected")
    func weakAccess() async throws {
      let surroundings = try Surroundings()
      let path = surroundings.folder.path
      try surroundings.write("r.rules", Self.rules)
      let options = [
        "--in-memory", "--rules", "\(path)/r.rules", "--auth-keys", "\(path)/keys", "--admin-secret", "\(path)/secret",
      ]
      func attempt(keys: String, mode keysMode: mode_t = 0o644, secretMode: mode_t = 0o600) async throws -> HeadlessRun
      {
        try surroundings.write("keys", keys)
        try surroundings.write("secret", "0123456789abcdef0123\n")
        chmod("\(path)/keys", keysMode)
        chmod("\(path)/secret", secretMode)
        return try await HeadlessRun(["serve", "--port", "0"] + options, surroundings)
      }
      for mode: mode_t in [0o644, 0o620, 0o604, 0o640] {
        let run = try await attempt(keys: Self.publicKey, secretMode: mode)
        #expect(run.status == 77 && run.hasOneErrorLine, "\(run.status) \(run.errors)")
        #expect(run.errors.contains("chmod 600 \(path)/secret"), "\(run.errors)")
      }
      for mode: mode_t in [0o666, 0o664, 0o646] {
        let run = try await attempt(keys: Self.publicKey, mode: mode)
        #expect(run.status == 77 && run.errors.contains("chmod go-w \(path)/keys"), "\(run.errors)")
      }
      for (bytes, exponent, reason) in [
        (128, "AQAB", "1024 bits"), (256, "AQ", "1 or even"), (256, "AQAA", "1 or even"),
      ] {
        let modulus = Data(repeating: 0xD5, count: bytes).base64EncodedString()
          .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let run = try await attempt(
          keys:
            "{\"keys\": [{\"kty\": \"RSA\", \"kid\": \"the weak one\", \"n\": \"\(modulus)\", \"e\": \"\(exponent)\"}]}"
        )
        #expect(run.status == 65 && run.hasOneErrorLine, "\(run.status) \(run.errors)")
        #expect(run.errors.contains("\"the weak one\"") && run.errors.contains(reason), "\(run.errors)")
      }
      try surroundings.write("keys", Self.publicKey)
      #expect(try await ServeProcess(surroundings, options).port > 0)
    }

    @Test("A server reports invalid or missing rules and keeps the previous ones")
    func served() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let path = surroundings.folder.appending(path: "r.rules").path
      let server = try await ServeProcess(surroundings, ["--in-memory", "--rules", path])

      try surroundings.write("r.rules", "rules_version = '2';")
      let refused = try await server.process.errorLine()
      #expect(
        refused.hasPrefix("hearth: \(path):1:21: error: ")
          && refused.hasSuffix(" The previous rules remain in effect."),
        "\(refused)")
      try FileManager.default.removeItem(atPath: path)
      #expect(
        try await server.process.errorLine()
          == "hearth: The rules in \(path) cannot be read: No such file or directory. "
          + "The previous rules remain in effect.")
      try surroundings.write("r.rules", Self.rules)
      #expect(try await server.process.errorLine() == "hearth: \(path) has changed. The new rules are in effect.")
    }

    @Test("Rules can be read from a pipe, up to a size limit")
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

    @Test("For an invalid rules test case, hearth prints the position and exits with 65")
    func unreadable() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("r.rules", Self.rules)
      let path = surroundings.folder.path
      for (line, reason) in [
        ("{\"method\": \"put\", \"path\": \"a/b\", \"expect\": \"allow\"}", ":1:12: \"method\" must be one of"),
        ("{\"method\": \"get\", \"path\": \"a\", \"expect\": \"deny\"}", ":1:27: \"a\" is not the path of a document"),
        ("{\"methods\": \"get\"}", ":1:13: \"methods\" is unknown"), ("[1]", ":1:1: Expected a case"),
        ("{", ":1:2: "),
        (
          "{\"method\": \"list\", \"path\": \"a\", \"query\": {\"where\": [[\"n\", \"~\", 1]]}, \"expect\": \"deny\"}",
          "is not an operator"
        ),
      ] {
        try surroundings.write("cases.jsonl", line)
        let run = try await HeadlessRun(["rules", "test", "\(path)/r.rules", "\(path)/cases.jsonl"], surroundings)
        #expect(run.status == 65 && run.hasOneErrorLine && run.errors.contains(reason), "\(run.errors)")
      }
    }
  }
}
