// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// What is wrong with a TLS connection, or with what one is to be set up from.
package enum TLSFailure: Error, Hashable, Sendable {
  /// No certificates as PEM can be read there.
  case unreadableCertificate(String)
  /// No unencrypted private key as PEM can be read there.
  case unreadableKey(String)
  /// The key is another certificate's.
  case mismatch
  /// The peer's certificate is for other hosts.
  case wrongHost
  /// The peer's certificate is not accepted, and why.
  case untrusted(String)
  /// The peer speaks something else.
  case notTLS
  /// The peer closed the connection while TLS was set up.
  case cut
  /// In OpenSSL's words.
  case failed(String)

  /// What made the last operation of this thread fail.
  static func last() -> TLSFailure {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    switch ERR_GET_REASON(code) {
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
      return .notTLS
    default: return .failed(ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason is known")
    }
  }
}
