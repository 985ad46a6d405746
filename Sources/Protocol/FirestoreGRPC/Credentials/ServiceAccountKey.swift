// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation
import TransportSecurity

/// The key of a service account. It signs its own tokens, which Google's APIs take in place of fetched ones.
struct ServiceAccountKey: Sendable {
  /// The audience of a token for Google's Firestore.
  static let audience = "https://firestore.googleapis.com/"
  /// The seconds for which a token is valid; Google refuses more.
  static let lifetime: Int64 = 3600

  let email: String
  private let keyID: String?
  private let key: RSAKey

  /// Reads a key.
  /// - Throws: `unauthenticated` for a key that is not RSA in PEM.
  init(email: String, keyID: String?, pem: Secret, file: String) throws(RPCStatus) {
    guard let key = RSAKey(pem: pem.revealed) else {
      throw RPCStatus(
        .unauthenticated,
        "The \"private_key\" in \(file) is not an RSA key in PEM. Download the key of \(email) again, as JSON.")
    }
    self.email = email
    self.keyID = keyID
    self.key = key
  }

  /// A JSON Web Token (RFC 7519), signed with RS256.
  /// - Parameters:
  ///   - audience: the only server that should accept the token.
  ///   - now: seconds since 1970.
  func token(for audience: String, at now: Int64) throws(RPCStatus) -> AccessToken {
    let expiry = now + Self.lifetime
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding texts and whole numbers cannot fail.
    guard let header = try? encoder.encode(Header(alg: "RS256", typ: "JWT", kid: keyID)),
      let claims = try? encoder.encode(Claims(iss: email, sub: email, aud: audience, iat: now, exp: expiry)),
      case let content = header.base64URL + "." + claims.base64URL,
      let signature = key.signature(of: Data(content.utf8))
    else { throw RPCStatus(.unauthenticated, "The key of \(email) cannot sign. Download it again, as JSON.") }
    return AccessToken(secret: Secret(content + "." + signature.base64URL), expiry: expiry)
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

extension Data {
  /// The base64url text (RFC 4648 §5) without padding.
  fileprivate var base64URL: String {
    base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
