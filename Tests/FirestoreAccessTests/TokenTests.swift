// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import SeededRandom
import ServiceTesting
import Testing

@testable import FirestoreAccess

@Suite("User tokens")
struct TokenTests {
  static func encoded(_ text: String) -> String {
    Base64.encode(Array(text.utf8)).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func token(_ claims: String, header: String = #"{"alg":"none"}"#, signature: String = "") -> String {
    "Bearer \(encoded(header)).\(encoded(claims)).\(signature)"
  }

  /// Keys of which one, `k`, has signed what ends with its name.
  private static let signed = TokenReader(
    TokenReader.Keys(owner: "a secret of an owner", now: { 1_000 }) { id, content, signature in
      id == "k" && signature == Array("k".utf8) && !content.isEmpty
    })

  private static let claims = #"{"sub":"u","aud":"p","iss":"https://securetoken.google.com/p","exp":1500}"#

  @Test("A token identifies an anonymous caller, an administrator or a user with claims")
  func unsigned() throws {
    let reader = TokenReader()
    #expect(try reader.caller(nil) == .user(nil))
    #expect(try reader.caller("Bearer owner") == .owner)
    let claims = #"{"sub":"u","admin":true,"n":1,"list":[1.5,"é"],"map":{"a":null}}"#
    guard case .user(let user?) = try reader.caller(Self.token(claims)) else {
      Issue.record("not a user")
      return
    }
    #expect(user.uid == "u")
    #expect(user.claims["admin"] == .boolean(true) && user.claims["n"] == .integer(1))
    #expect(user.claims["list"] == .array([.double(1.5), .string("é")]) && user.claims["map"] == .map(["a": .null]))
  }

  @Test(
    "An invalid token is rejected",
    arguments: [
      "Bearer", "Basic abc", "Bearer x", "Bearer a.b.c", "Bearer ..", "Bearer \(encoded("[]")).\(encoded("{}")).",
      token("{}"), token("not json"), token(#"{"sub":7}"#),
      token(#"{"user_id":"v"}"#),
    ])
  func none(text: String) {
    let error = #expect(throws: RPCStatus.self) { _ = try TokenReader().caller(text) }
    #expect(error?.code == .invalidArgument)
  }

  @Test("With keys, only a valid signed project token or the owner secret is accepted")
  func keys() throws {
    let (reader, header) = (Self.signed, #"{"alg":"RS256","kid":"k"}"#)
    let good = Self.encoded("k")
    #expect(try reader.caller(Self.token(Self.claims, header: header, signature: good)) != .user(nil))
    #expect(try reader.caller("Bearer a secret of an owner") == .owner)
    let refused = [
      Self.token(Self.claims), Self.token(Self.claims, header: header, signature: Self.encoded("x")),
      Self.token(Self.claims, header: #"{"alg":"none","kid":"k"}"#, signature: good),
      Self.token(Self.claims, header: #"{"alg":"RS256","kid":"other"}"#, signature: good),
      Self.token(Self.claims.replacing("1500", with: "900"), header: header, signature: good),
      Self.token(Self.claims.replacing(#","exp":1500"#, with: ""), header: header, signature: good),
      Self.token(Self.claims.replacing("google.com/p", with: "google.com/q"), header: header, signature: good),
    ]
    for text in refused {
      let error = #expect(throws: RPCStatus.self) { _ = try reader.caller(text) }
      #expect(error?.code == .unauthenticated, "\(text)")
    }
    for text in ["Bearer owner", "Bearer x", "Basic abc", "Bearer another secret of an owner"] {
      let error = #expect(throws: RPCStatus.self) { _ = try reader.caller(text) }
      #expect(error?.code == .unauthenticated && error?.message.contains("--admin-secret") == true, "\(text)")
    }
    let user = RulesUser(uid: "u", claims: ["aud": .string("p")])
    #expect(throws: Never.self) { try reader.check(user, for: DatabaseID(project: "p")) }
    #expect(throws: RPCStatus.self) { try reader.check(user, for: DatabaseID(project: "q")) }
  }

  @Test(
    "A token from the future is rejected beyond the allowed clock skew",
    arguments: ["nbf", "iat", "auth_time"])
  func beginnings(claim: String) throws {
    func caller(_ value: String) throws -> Caller {
      let claims = String(Self.claims.dropLast()) + ",\"\(claim)\":\(value)}"
      return try Self.signed.caller(
        Self.token(claims, header: #"{"alg":"RS256","kid":"k"}"#, signature: Self.encoded("k")))
    }
    for value in ["0", "1000", "1060", "1059.5", "-1e300"] { #expect(try caller(value) != .user(nil)) }
    for value in ["1061", "90000", "1e300", "9223372036854775807", "\"1000\"", "null"] {
      let error = #expect(throws: RPCStatus.self) { _ = try caller(value) }
      #expect(error?.code == .unauthenticated && error?.message.contains(claim) == true, "\(value)")
    }
  }

  @Test("A mutated token identifies a user or is rejected")
  func mutations() {
    let reader = TokenReader()
    let text = Array(Self.token(#"{"sub":"u","map":{"a":[1,2,{"b":"c"}]}}"#).utf8)
    var random = SeededGenerator(seed: 7)
    var (users, refusals) = (0, 0)
    for _ in 0..<10_000 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 7..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
      }
      do throws(RPCStatus) {
        _ = try reader.caller(String(decoding: bytes, as: UTF8.self))
        users += 1
      } catch { refusals += 1 }
    }
    #expect(users > 0 && refusals > 0)
  }
}
