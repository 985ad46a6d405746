// SPDX-License-Identifier: Apache-2.0
import COpenSSL
package import Foundation
import Synchronization

/// A private key of RSA that signs as RS256 (RFC 7518 §3.3), with OpenSSL. It keeps itself out of every description.
package final class RSAKey: Sendable, CustomStringConvertible, CustomReflectable {
  private let key: Mutex<OpaquePointer>

  /// `nil` for what is no RSA key in PEM, or is one behind a password.
  package init?(pem: String) {
    guard let parsed = Self.parse(pem) else { return nil }
    key = Mutex(parsed)
  }

  private static func parse(_ pem: String) -> sending OpaquePointer? {
    let bytes = Array(pem.utf8)
    let key = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
      guard let text = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
      defer { BIO_free(text) }
      // OpenSSL would ask for a password on the terminal.
      return PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in -1 }, nil)
    }
    guard let key, EVP_PKEY_is_a(key, "RSA") == 1 else {
      EVP_PKEY_free(key)
      return nil
    }
    return key
  }

  deinit { key.withLock { EVP_PKEY_free($0) } }

  /// PKCS #1 v1.5 over SHA-256; `nil` if OpenSSL fails.
  package func signature(of content: Data) -> Data? {
    key.withLock { key in
      guard let context = EVP_MD_CTX_new() else { return nil }
      defer { EVP_MD_CTX_free(context) }
      guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
      let content = [UInt8](content)
      var length = 0
      guard EVP_DigestSign(context, nil, &length, content, content.count) == 1 else { return nil }
      var signature = [UInt8](repeating: 0, count: length)
      guard EVP_DigestSign(context, &signature, &length, content, content.count) == 1 else { return nil }
      return Data(signature.prefix(length))
    }
  }

  package var description: String { "(hidden)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
