// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation
import TransportSecurity

extension Credentials {
  /// The application default credentials, which are found in the same way as by Google's clients. The first of these
  /// that exists is used: the given file, the file that `GOOGLE_APPLICATION_CREDENTIALS` names, gcloud's file, the
  /// machine's metadata server. The search happens at the first call, and again after a rejection.
  package static func application(
    file: String? = nil, environment: [String: String], now: @escaping @Sendable () -> Timestamp
  ) -> Credentials {
    Credentials(now: now) { () throws(RPCStatus) in
      if let file = keyFile(file, environment) { return try source(in: try read(file), named: file) }
      let host = environment["GCE_METADATA_HOST"].flatMap { $0.isEmpty ? nil : $0 } ?? MetadataServer.host
      return .metadataServer(try MetadataServer.url(host: host))
    }
  }

  /// The secret of a server's administrator, as given to `hearth serve --admin-secret`.
  package static func secret(file: String) -> Credentials {
    Credentials(now: { Timestamp(seconds: 0) }) { () throws(RPCStatus) in
      let text = String(decoding: try read(file), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      // A header value must consist of visible characters.
      guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
        throw RPCStatus(
          .unauthenticated, "The file \"\(file)\" contains no secret. Write one line of letters, digits and symbols.")
      }
      return .fixed(Secret(text))
    }
  }

  /// The id of the project to which a service account's key belongs.
  package static func project(file: String?, environment: [String: String]) -> String? {
    guard let file = keyFile(file, environment), let data = FileManager.default.contents(atPath: file) else {
      return nil
    }
    // An invalid file has no project. The error is reported when its credentials are read.
    return (try? JSONDecoder().decode(CredentialsFile.self, from: data))?.project_id
  }

  private static func keyFile(_ named: String?, _ environment: [String: String]) -> String? {
    if let named { return named }
    if let file = environment["GOOGLE_APPLICATION_CREDENTIALS"], !file.isEmpty { return file }
    return gcloudFile(environment).flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
  }

  private static func gcloudFile(_ environment: [String: String]) -> String? {
    let folder = environment["CLOUDSDK_CONFIG"] ?? environment["HOME"].map { $0 + "/.config/gcloud" }
    return folder.map { $0 + "/application_default_credentials.json" }
  }

  private static func read(_ file: String) throws(RPCStatus) -> Data {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw RPCStatus(.unauthenticated, "The credentials file \(file) cannot be read. Check its path and permissions.")
    }
    return data
  }

  /// The credentials in a file of type `service_account` or `authorized_user`.
  private static func source(in data: Data, named file: String) throws(RPCStatus) -> Source {
    // The decoder's error would not say what to do, and might quote a key.
    guard let fields = try? JSONDecoder().decode(CredentialsFile.self, from: data) else {
      throw RPCStatus(
        .unauthenticated,
        "\(file) is not a credentials file: it is not JSON with a \"type\". Download the key again, as JSON.")
    }
    func field(_ name: String, _ value: String?) throws(RPCStatus) -> String {
      guard let value, !value.isEmpty else {
        throw RPCStatus(
          .unauthenticated, "The credentials file \(file) has no \"\(name)\". Download it again, as JSON.")
      }
      return value
    }
    switch fields.type {
    case "service_account":
      return .serviceAccount(
        try ServiceAccountKey(
          email: try field("client_email", fields.client_email), keyID: fields.private_key_id,
          pem: Secret(try field("private_key", fields.private_key)), file: file))
    case "authorized_user":
      return .authorizedUser(
        try AuthorizedUser(
          clientID: try field("client_id", fields.client_id),
          clientSecret: Secret(try field("client_secret", fields.client_secret)),
          refreshToken: Secret(try field("refresh_token", fields.refresh_token)), tokenURL: fields.token_uri,
          file: file))
    default:
      throw RPCStatus(
        .unauthenticated,
        "The credentials file \(file) is of the type \"\(fields.type)\". Use a key of a service account, or \"gcloud auth application-default login\"."
      )
    }
  }
}

/// The fields of a credentials file, under the names that the file uses.
private struct CredentialsFile: Decodable {
  var type: String
  var project_id: String?
  var client_email: String?
  var private_key_id: String?
  var private_key: String?
  var client_id: String?
  var client_secret: String?
  var refresh_token: String?
  var token_uri: String?
}

/// The metadata server of a machine at Google, which grants tokens for the machine's service account.
enum MetadataServer {
  static let host = "metadata.google.internal"
  private static let path = "/computeMetadata/v1/instance/service-accounts/default/token"

  static func url(host: String) throws(RPCStatus) -> HTTPURL {
    guard let url = HTTPURL("http://" + host + path) else {
      throw RPCStatus(.unauthenticated, "GCE_METADATA_HOST \"\(host)\" is not a host name.")
    }
    return url
  }

  static func fetchToken(from url: HTTPURL, at now: Int64) async throws(RPCStatus) -> AccessToken {
    let response: HTTPResponse
    do throws(RPCStatus) {
      response = try await HTTPRequest(method: .get, url: url, headers: [("Metadata-Flavor", "Google")])
        .perform()
    } catch {
      throw RPCStatus(
        .unauthenticated,
        "No credentials found: no file is given, gcloud has none, and no metadata server responds. "
          + "Give a key file with --credentials or GOOGLE_APPLICATION_CREDENTIALS. For a 'hearth serve --tls-cert' "
          + "without credentials, use --emulator HOST:PORT --trust FILE.")
    }
    guard response.status == 200 else {
      throw RPCStatus(
        .unauthenticated,
        "The metadata server \(url.host) has no service account for this machine "
          + "(HTTP \(response.status)).")
    }
    return try TokenResponse.token(in: response, from: url, at: now)
  }
}

/// The key of a service account, which signs tokens locally. Google's APIs accept these tokens in place of fetched
/// ones.
struct ServiceAccountKey: Sendable {
  /// The audience of a token that is meant for Google's Firestore.
  static let audience = "https://firestore.googleapis.com/"
  /// The lifetime of a token in seconds. Google rejects tokens with a longer lifetime.
  static let lifetime: Int64 = 3600

  let email: String
  private let keyID: String?
  private let key: RSAKey

  /// Reads a key.
  /// - Throws: `unauthenticated` if the key is not an RSA key in PEM format.
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

  /// Creates a JSON Web Token (RFC 7519) that is signed with RS256.
  /// - Parameters:
  ///   - audience: the server that should accept the token; other servers reject it.
  ///   - now: the current time, in seconds since 1970.
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
  /// The bytes as base64url text (RFC 4648 §5) without padding.
  fileprivate var base64URL: String {
    base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}

/// The credentials that `gcloud auth application-default login` stores. They contain a token that is exchanged for
/// short-lived ones.
struct AuthorizedUser: Sendable {
  static let tokenURL = "https://oauth2.googleapis.com/token"

  private let clientID: String
  private let clientSecret: Secret
  private let refreshToken: Secret
  private let url: HTTPURL
  private let file: String

  init(
    clientID: String, clientSecret: Secret, refreshToken: Secret, tokenURL: String?, file: String
  ) throws(RPCStatus) {
    guard let url = HTTPURL(tokenURL ?? Self.tokenURL) else {
      throw RPCStatus(.unauthenticated, "The \"token_uri\" in \(file) is not an http address.")
    }
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.refreshToken = refreshToken
    self.url = url
    self.file = file
  }

  func fetchToken(at now: Int64) async throws(RPCStatus) -> AccessToken {
    let form = [
      ("client_id", clientID), ("client_secret", clientSecret.revealed), ("grant_type", "refresh_token"),
      ("refresh_token", refreshToken.revealed),
    ]
    let body = form.map { $0.0 + "=" + HTTPURL.formEncoded($0.1) }.joined(separator: "&")
    let response = try await HTTPRequest(
      method: .post, url: url, headers: [("content-type", "application/x-www-form-urlencoded")], body: body
    ).perform()
    if response.status == 200 { return try TokenResponse.token(in: response, from: url, at: now) }
    // The response of a server that rejects the request may not be JSON. The error then contains the HTTP status.
    let answer = try? JSONDecoder().decode(Refusal.self, from: Data(response.body))
    let reason = [answer?.error, answer?.error_description].compactMap { $0 }.joined(separator: ": ")
    // A server error is temporary; a rejection is not.
    throw RPCStatus(
      response.status >= 500 ? .unavailable : .unauthenticated,
      "\(url.host) rejected the refresh token in \(file) (\(reason.isEmpty ? "HTTP \(response.status)" : reason)). "
        + "Run \"gcloud auth application-default login\" again"
        + (answer?.error == "invalid_grant" ? ", and check this machine's clock." : "."))
  }

  private struct Refusal: Decodable {
    var error: String?
    var error_description: String?
  }
}

/// The response to a request for a token.
struct TokenResponse: Decodable {
  var access_token: String
  var expires_in: Int64

  static func token(in response: HTTPResponse, from url: HTTPURL, at now: Int64) throws(RPCStatus) -> AccessToken {
    // The decoder's error would quote the response, which may contain a token.
    guard let granted = try? JSONDecoder().decode(Self.self, from: Data(response.body)) else {
      throw RPCStatus(.unavailable, "\(url.host) sent an invalid response to the request for a token.")
    }
    let lifetime = min(max(granted.expires_in, 0), 1 << 31)
    return AccessToken(secret: Secret(granted.access_token), expiry: now + lifetime)
  }
}
