// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreRules
import Synchronization

/// Reads the identity of a caller from the header `authorization`. The header contains a token of Firebase
/// Authentication, which is a JSON Web Token (RFC 7519). Without keys, unsigned tokens are accepted, as in Google's
/// emulator. With keys, the token must be signed, unexpired and for the project.
package final class TokenReader: Sendable {
  /// Checks an RS256 signature.
  package struct Keys: Sendable {
    /// - Parameters: the key's id (`kid`), the signed bytes, and the signature.
    package var isValid: @Sendable (String?, [UInt8], [UInt8]) -> Bool
    /// The secret of an administrator; `nil` for none.
    package var owner: String?
    /// The current time, in seconds since 1970.
    package var now: @Sendable () -> Int64

    package init(
      owner: String?, now: @escaping @Sendable () -> Int64,
      isValid: @escaping @Sendable (String?, [UInt8], [UInt8]) -> Bool
    ) {
      self.owner = owner
      self.now = now
      self.isValid = isValid
    }
  }

  /// The maximum number of cached headers with their users. If there are more, all are discarded.
  private static let mostKnown = 256
  /// The accepted difference between the clocks of a token's issuer and its reader, in seconds. It is the maximum of
  /// Google's Admin SDKs (`clock_skew_seconds` of firebase_admin.auth).
  private static let leeway: Int64 = 60
  /// The maximum size of a token in bytes; Google's tokens have about 1 KB.
  private static let mostBytes = 64 << 10

  /// A user with a verified token.
  private struct VerifiedUser {
    let user: RulesUser
    /// The expiry of the token in seconds since 1970, if tokens are verified.
    let expiry: Int64?
  }

  private let keys: Keys?
  private let known = Mutex([String: VerifiedUser]())

  package init(_ keys: Keys? = nil) { self.keys = keys }

  /// Whether callers must authenticate.
  var asksForProof: Bool { keys != nil }

  /// - Parameter authorization: the text of the header; `nil` for a caller who is not signed in.
  /// - Throws: `invalid-argument` for text that is not a token, `unauthenticated` for a token that is not accepted.
  package func caller(_ authorization: String?) throws(RPCStatus) -> Caller { try identify(authorization).caller }

  /// - Returns: the caller and the expiry of its token, in seconds since 1970; `nil` for a token that does not expire.
  func identify(_ authorization: String?) throws(RPCStatus) -> (caller: Caller, expiry: Int64?) {
    guard let authorization, !authorization.isEmpty else { return (.user(nil), nil) }
    if let known = known.withLock({ $0[authorization] }) {
      try check(known.expiry)
      return (.user(known.user), known.expiry)
    }
    let words = authorization.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else { throw invalid }
    let token = String(words[1])
    if isOwner(token) { return (.owner, nil) }
    let (user, expiry) = try read(token)
    try check(expiry)
    known.withLock { known in
      if known.count >= Self.mostKnown { known = [:] }
      known[authorization] = VerifiedUser(user: user, expiry: expiry)
    }
    return (.user(user), expiry)
  }

  private func isOwner(_ token: String) -> Bool {
    guard let keys else { return token == "owner" }
    guard let owner = keys.owner else { return false }
    // The comparison takes constant time, regardless of the number of matching bytes.
    let (given, secret) = (Array(token.utf8), Array(owner.utf8))
    guard given.count == secret.count else { return false }
    return zip(given, secret).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  func check(_ expiry: Int64?) throws(RPCStatus) {
    guard let keys else { return }
    guard let expiry, keys.now() < expiry &+ Self.leeway else { throw Self.refused("The token has expired.") }
  }

  /// The seconds until a token counts as expired; `nil` if expiry is not checked.
  func timeLeft(until expiry: Int64) -> Int64? {
    guard let keys else { return nil }
    let (end, now) = (expiry &+ Self.leeway, keys.now())
    return end <= now ? 0 : Int64(clamping: UInt64(bitPattern: end &- now))
  }

  /// Checks that the token's start times are in the past (RFC 7519 §4.1.5, §4.1.6; `auth_time` as Firebase checks it).
  private static func checkBeginning(_ claims: Fields, at now: Int64) throws(RPCStatus) {
    for name in ["nbf", "iat", "auth_time"] {
      let isPast =
        switch claims[name] {
        case nil: true
        case .integer(let seconds)?: seconds <= now &+ leeway
        case .double(let seconds)?: seconds <= Double(now &+ leeway)
        default: false
        }
      if !isPast { throw refused("The token is not valid yet: \(name) is in the future, or not a time.") }
    }
  }

  private func read(_ token: String) throws(RPCStatus) -> (RulesUser, expiry: Int64?) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard token.utf8.count <= Self.mostBytes, parts.count == 3, let header = Self.object(parts[0]),
      let claims = Self.object(parts[1])
    else { throw invalid }
    let fields = Fields(Self.members(of: claims))
    if let keys {
      guard Self.text(header["alg"]) == "RS256", let signature = Base64.decodeURL(parts[2]),
        keys.isValid(Self.text(header["kid"]), Array("\(parts[0]).\(parts[1])".utf8), signature)
      else { throw Self.refused("The token's signature matches none of the keys of --auth-keys.") }
      guard let project = Self.text(claims["aud"]), Self.text(claims["iss"]) == Self.issuer + project else {
        throw Self.refused("The token's issuer and audience (iss, aud) do not belong to a Firebase project.")
      }
    }
    // The claim `sub` is required, as in the emulator. Google's own tokens also have `user_id`, but `user_id` without
    // `sub` is not enough.
    guard let uid = Self.text(claims["sub"]), !uid.isEmpty || keys == nil else { throw invalid }
    if let keys { try Self.checkBeginning(fields, at: keys.now()) }
    var expiry: Int64?
    if case .integer(let seconds)? = fields["exp"] { expiry = seconds }
    return (RulesUser(uid: uid, claims: fields), expiry)
  }

  /// Checks that the token is for the database's project. A token is valid for one project only.
  func check(_ user: RulesUser?, for database: DatabaseID) throws(RPCStatus) {
    guard keys != nil, let user, user.claims["aud"] != .string(database.project) else { return }
    throw Self.refused("The token is for a project other than \(database.project).")
  }

  private static let issuer = "https://securetoken.google.com/"

  private static func object(_ part: String) -> JSONSyntax? {
    // The caller of this function rejects the token. The position of a parse error would not help the sender.
    guard let bytes = Base64.decodeURL(part), let text = String(validating: bytes, as: UTF8.self),
      let json = try? JSONSyntax(parsing: text, numbers: .ofAnySize), case .object = json.kind
    else { return nil }
    return json
  }

  private static func text(_ json: JSONSyntax?) -> String? {
    if case .string(let text)? = json?.kind { text } else { nil }
  }

  private static func members(of object: JSONSyntax) -> [(name: String, value: Value)] {
    guard case .object(let members) = object.kind else { return [] }
    return members.map { ($0.name, value($0.value)) }
  }

  /// The value of a claim. The parser limits its depth.
  private static func value(_ json: JSONSyntax) -> Value {
    switch json.kind {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(value))
    case .object: .map(Fields(members(of: json)))
    }
  }

  /// The error for an invalid token. Without keys, it has the text and code of Google's emulator. With keys, it has the
  /// text and code of production.
  private var invalid: RPCStatus {
    if keys != nil {
      return Self.refused(
        "The credentials are neither a token of Firebase Authentication nor the secret of --admin-secret.")
    }
    return RPCStatus(
      .invalidArgument,
      "invalid jwt: the authorization is neither a token of Firebase Authentication nor one of an administrator.")
  }

  private static func refused(_ reason: String) -> RPCStatus {
    RPCStatus(.unauthenticated, "Request had invalid authentication credentials. \(reason)")
  }
}

/// The identity of a call's caller, from its `authorization` (PROTOCOL §5.5).
package enum Caller: Sendable, Hashable {
  /// An administrator, who is not subject to rules.
  case owner
  /// A user of an app; `nil` for a caller who is not signed in.
  case user(RulesUser?)
}
