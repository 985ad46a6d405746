// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// The credentials that `gcloud auth application-default login` stores: a token that is exchanged for short-lived ones.
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
    // Servers may refuse without JSON: the status then has to say enough.
    let answer = try? JSONDecoder().decode(Refusal.self, from: Data(response.body))
    let reason = [answer?.error, answer?.error_description].compactMap { $0 }.joined(separator: ": ")
    // An error of the server passes; a refusal does not.
    throw RPCStatus(
      response.status >= 500 ? .unavailable : .unauthenticated,
      "\(url.host) refused the refresh token in \(file) (\(reason.isEmpty ? "HTTP \(response.status)" : reason)). "
        + "Run \"gcloud auth application-default login\" again"
        + (answer?.error == "invalid_grant" ? ", and check this machine's clock." : "."))
  }

  private struct Refusal: Decodable {
    var error: String?
    var error_description: String?
  }
}

/// The answer that grants a token.
struct TokenResponse: Decodable {
  var access_token: String
  var expires_in: Int64

  static func token(in response: HTTPResponse, from url: HTTPURL, at now: Int64) throws(RPCStatus) -> AccessToken {
    // The decoder's error would quote the answer, which may hold a token.
    guard let granted = try? JSONDecoder().decode(Self.self, from: Data(response.body)) else {
      throw RPCStatus(.unavailable, "\(url.host) answered the request for a token with something that is none.")
    }
    let lifetime = min(max(granted.expires_in, 0), 1 << 31)
    return AccessToken(secret: Secret(granted.access_token), expiry: now + lifetime)
  }
}
