// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A failure of a TLS connection, or of the files that one is set up from.
package enum TLSFailure: Error, Hashable, Sendable {
  /// The file holds no certificate as PEM, or cannot be read.
  case unreadableCertificate(String)
  /// The file holds no unencrypted private key as PEM, or cannot be read.
  case unreadableKey(String)
  /// The private key does not belong to the certificate.
  case mismatch
  /// The peer's certificate names other hosts.
  case wrongHost
  /// The peer's certificate is not accepted, with the reason.
  case untrusted(String)
  /// The peer does not speak TLS.
  case notTLS
  /// The peer closed the connection while TLS was set up.
  case cut
  /// Another failure, in OpenSSL's words.
  case failed(String)

  /// The reason why the last OpenSSL call of this thread failed; clears OpenSSL's queue of errors.
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
