// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Synchronization

/// What TLS connections are set up from: certificates to trust, or one's own. TLS 1.2 or newer, of the system's OpenSSL.
package final class TLSContext: Sendable {
  /// Whom a client wants to speak to, and looks for in the certificate.
  package enum Peer: Hashable, Sendable {
    case host(String)
    case address(String)
  }

  private let context: Mutex<OpaquePointer>

  /// For clients.
  /// - Parameters:
  ///   - trustRoots: a PEM file with the certificates to trust instead of the system's.
  ///   - http2: asks for HTTP/2 (ALPN).
  package init(trustRoots: String?, http2: Bool) throws(TLSFailure) {
    context = Mutex(try Self.makeContext { context throws(TLSFailure) in
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
      if let trustRoots {
        guard SSL_CTX_load_verify_file(context, trustRoots) == 1 else {
          throw .unreadableCertificate(trustRoots)
        }
      } else if SSL_CTX_set_default_verify_paths(context) != 1 {
        throw TLSFailure.last()
      }
      if http2, SSL_CTX_set_alpn_protos(context, Self.http2, UInt32(Self.http2.count)) != 0 { throw TLSFailure.last() }
    })
  }

  /// For a server that speaks HTTP/2.
  /// - Parameters:
  ///   - certificate: a PEM file, its own first, then those in between.
  ///   - key: a PEM file.
  package init(certificate: String, key: String) throws(TLSFailure) {
    context = Mutex(try Self.makeContext { context throws(TLSFailure) in
      // A password would be asked for on the terminal.
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

  /// A connection that begins by itself, and checks that the certificate is the peer's.
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

  /// A connection that waits for the client.
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

  /// As ALPN has it: names behind their lengths.
  private static let http2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]

  /// Picks HTTP/2 from what the client offers; whoever offers something else alone is spoken to without a choice.
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
