// SPDX-License-Identifier: Apache-2.0
import CryptoExtras
import FirestoreModel
import Foundation

/// The key of a service account. It signs its own tokens, which Google's APIs take in place of fetched ones.
struct ServiceAccountKey: Sendable {
  /// Whom a token for Google's Firestore is for.
  static let audience = "https://firestore.googleapis.com/"
  /// Seconds that a token is good for; more is refused.
  static let lifetime: Int64 = 3600

  let email: String
  private let keyID: String?
  private let key: PrivateKey

  /// - Throws: `unauthenticated` for a key that is not RSA in PEM.
  init(email: String, keyID: String?, pem: Secret, file: String) throws(RPCStatus) {
    guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem.revealed) else {
      throw RPCStatus(
        .unauthenticated,
        "The \"private_key\" in \(file) is not an RSA key in PEM. Download the key of \(email) again, as JSON.")
    }
    self.email = email
    self.keyID = keyID
    self.key = PrivateKey(key: key)
  }

  /// A JSON Web Token (RFC 7519), signed with RS256.
  /// - Parameters:
  ///   - audience: who alone should take it.
  ///   - now: seconds since 1970.
  func token(for audience: String, at now: Int64) throws(RPCStatus) -> AccessToken {
    let expiry = now + Self.lifetime
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let header = try encoder.encode(Header(alg: "RS256", typ: "JWT", kid: keyID))
      let claims = try encoder.encode(Claims(iss: email, sub: email, aud: audience, iat: now, exp: expiry))
      let content = header.base64URL + "." + claims.base64URL
      let signature = try key.key.signature(for: Data(content.utf8), padding: .insecurePKCS1v1_5)
      return AccessToken(secret: Secret(content + "." + signature.rawRepresentation.base64URL), expiry: expiry)
    } catch {
      throw RPCStatus(.unauthenticated, "The key of \(email) cannot sign: \(error)")
    }
  }

  private struct Header: Encodable {
    var alg: String
    var typ: String
    var kid: String?
  }

  private struct Claims: Encodable {
    var iss: String
    var sub: String
    var aud: String
    var iat: Int64
    var exp: Int64
  }
}

/// Keeps the key out of every description.
private struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
  let key: _RSA.Signing.PrivateKey
  var description: String { "(hidden)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension Data {
  /// RFC 4648 §5, without padding.
  fileprivate var base64URL: String {
    base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
