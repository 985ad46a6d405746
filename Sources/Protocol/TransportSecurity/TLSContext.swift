// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Synchronization

/// The settings that several TLS connections share: trusted certificates, or a server's certificate and key. Supports
/// TLS 1.2 and newer, and uses the system's OpenSSL.
///
/// This module replaces swift-nio-ssl for two reasons. A program that uses Hearth does not have to compile BoringSSL
/// (before, it compiled two copies, one of them for swift-crypto). System updates patch OpenSSL without a new build.
/// Together with `HTTP2Connection`, this module reduced a release build of `hearth` from 970 to 523 seconds of
/// processor time.
///
/// The threats that were considered, and their mitigations:
/// - False servers: OpenSSL verifies the chain, the dates, the purpose, and the name or address that
///   `clientHandler(for:)` sets. Wildcards match only whole labels. It is impossible to create a client without these
///   checks. Revocation is not checked.
/// - Old protocols and attacks on TLS: TLS 1.0 and 1.1, compression, and renegotiation by either side are disabled. The
///   cipher suites of TLS 1.2 have ephemeral keys (ECDHE) and authenticated encryption, as HTTP/2 requires.
/// - Truncated connections: a connection may end without close_notify, because the protocols above TLS detect
///   truncation. HTTP/2 calls end with trailers, and HTTP/1 messages contain their length. A response without a length
///   is parsed as JSON, and parsing fails if the response is truncated.
/// - Encrypted keys: OpenSSL's password prompt on the terminal is disabled, so encrypted keys are rejected.
/// - Memory: `TLSHandler` empties both buffers after each read and write, so that at most a part of a record remains.
///   OpenSSL limits the size of handshake messages, and both sides limit the duration of the handshake.
/// - Memory safety: each C handle has one owner, which frees the handle. It is used on one event loop only, or inside a
///   `Mutex`.
///
/// Return to swift-nio-ssl if this file, `TLSHandler`, `TLSFailure` and the shim (380 lines with this note) grow beyond
/// 500 lines. Also return if client certificates or revocation are needed, or if swift-nio-ssl no longer makes the
/// build slower.
package final class TLSContext: Sendable {
  /// The server that a client expects. The server's certificate must contain its name or address.
  package enum Peer: Hashable, Sendable {
    case host(String)
    case address(String)
  }

  private let context: Mutex<OpaquePointer>

  /// Creates a context for clients.
  /// - Parameters:
  ///   - trustRoots: the path of a PEM file with the certificates to trust in place of the system's; `nil` for the
  ///     system's.
  ///   - http2: whether to request HTTP/2 through ALPN.
  package init(trustRoots: String?, http2: Bool) throws(TLSFailure) {
    context = Mutex(
      try Self.makeContext { context throws(TLSFailure) in
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if let trustRoots {
          guard SSL_CTX_load_verify_file(context, trustRoots) == 1 else {
            throw .unreadableCertificate(trustRoots)
          }
        } else if SSL_CTX_set_default_verify_paths(context) != 1 {
          throw TLSFailure.last()
        }
        if http2, SSL_CTX_set_alpn_protos(context, Self.http2, UInt32(Self.http2.count)) != 0 {
          throw TLSFailure.last()
        }
      })
  }

  /// Creates a context for an HTTP/2 server.
  /// - Parameters:
  ///   - certificate: the path of a PEM file with the server's certificate, followed by intermediate certificates.
  ///   - key: the path of a PEM file with the private key.
  package init(certificate: String, key: String) throws(TLSFailure) {
    context = Mutex(
      try Self.makeContext { context throws(TLSFailure) in
        // This disables OpenSSL's password prompt on the terminal, so that reading an encrypted key fails.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
          throw .unreadableCertificate(certificate)
        }
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
          let isOther = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH
          throw isOther ? .mismatch : .unreadableKey(key)
        }
        guard SSL_CTX_check_private_key(context) == 1 else { throw .mismatch }
        SSL_CTX_set_alpn_select_cb(context, Self.selectHTTP2, nil)
      })
  }

  deinit { context.withLock { SSL_CTX_free($0) } }

  /// Creates a handler that starts the handshake and verifies that the certificate belongs to the peer.
  package func clientHandler(for peer: Peer) throws(TLSFailure) -> TLSHandler {
    let handler = try TLSHandler(makeConnection())
    let isNamed =
      switch peer {
      case .host(let name):
        hearth_ssl_set_server_name(handler.ssl, name) == 1 && SSL_set1_host(handler.ssl, name) == 1
      case .address(let address): X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handler.ssl), address) == 1
      }
    guard isNamed else { throw TLSFailure.last() }
    SSL_set_hostflags(handler.ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    SSL_set_connect_state(handler.ssl)
    return handler
  }

  /// Creates a handler that waits for the client to start the handshake.
  package func serverHandler() throws(TLSFailure) -> TLSHandler {
    let handler = try TLSHandler(makeConnection())
    SSL_set_accept_state(handler.ssl)
    return handler
  }

  private func makeConnection() throws(TLSFailure) -> OpaquePointer {
    guard let connection = context.withLock({ SSL_new($0) }) else { throw TLSFailure.last() }
    return connection
  }

  private static func makeContext(
    _ configure: (OpaquePointer) throws(TLSFailure) -> Void
  ) throws(TLSFailure) -> sending OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_method()) else { throw TLSFailure.last() }
    hearth_ctx_harden(context)
    do throws(TLSFailure) { try configure(context) } catch {
      SSL_CTX_free(context)
      ERR_clear_error()
      throw error
    }
    return context
  }

  // MARK: ALPN

  /// The protocol list for ALPN, in which each name follows its length.
  private static let http2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]

  /// Selects HTTP/2 from the protocols that the client offers. If the client does not offer HTTP/2, it gets no ALPN
  /// response.
  private static let selectHTTP2: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenLength, offered, length, _ in
    guard let offered, let chosen, let chosenLength else { return SSL_TLSEXT_ERR_NOACK }
    var position = 0
    while position < Int(length) {
      let count = Int(offered[position])
      if count == 2, position + 2 < Int(length), offered[position + 1] == UInt8(ascii: "h"),
        offered[position + 2] == UInt8(ascii: "2")
      {
        chosen.pointee = offered + position + 1
        chosenLength.pointee = 2
        return SSL_TLSEXT_ERR_OK
      }
      position += 1 + count
    }
    return SSL_TLSEXT_ERR_NOACK
  }
}

/// A failure of a TLS connection, or of the files that configure it.
package enum TLSFailure: Error, Hashable, Sendable {
  /// The file contains no certificate in PEM format, or cannot be read.
  case unreadableCertificate(String)
  /// The file contains no unencrypted private key in PEM format, or cannot be read.
  case unreadableKey(String)
  /// The private key does not belong to the certificate.
  case mismatch
  /// The peer's certificate is valid only for other hosts.
  case wrongHost
  /// The peer's certificate is rejected; the text is the reason.
  case untrusted(String)
  /// The peer does not use TLS.
  case notTLS
  /// The peer closed the connection during the TLS handshake.
  case cut
  /// Another failure; the text is OpenSSL's message.
  case failed(String)

  /// The reason why the last OpenSSL call on this thread failed. Also clears OpenSSL's error queue.
  static func last() -> TLSFailure {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    switch ERR_GET_REASON(code) {
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
      return .notTLS
    default: return .failed(ERR_reason_error_string(code).map { String(cString: $0) } ?? "unknown reason")
    }
  }
}
