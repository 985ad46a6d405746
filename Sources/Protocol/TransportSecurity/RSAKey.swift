// SPDX-License-Identifier: Apache-2.0
import COpenSSL
package import Foundation
import Synchronization

/// An RSA private key that signs with RS256 (RFC 7518 §3.3), using OpenSSL. The key does not appear in descriptions.
package final class RSAKey: Sendable, CustomStringConvertible, CustomReflectable {
  private let key: Mutex<OpaquePointer>

  /// Reads a private key. `nil` if the text is not an RSA key in PEM format, or if the key has a password.
  package init?(pem: String) {
    guard let parsed = Self.parse(pem) else { return nil }
    key = Mutex(parsed)
  }

  private static func parse(_ pem: String) -> sending OpaquePointer? {
    let bytes = Array(pem.utf8)
    let key = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
      guard let text = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
      defer { BIO_free(text) }
      // The callback prevents OpenSSL from asking for a password on the terminal.
      return PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in -1 }, nil)
    }
    guard let key, EVP_PKEY_is_a(key, "RSA") == 1 else {
      EVP_PKEY_free(key)
      return nil
    }
    return key
  }

  deinit { key.withLock { EVP_PKEY_free($0) } }

  /// Signs content with PKCS #1 v1.5 over SHA-256. Returns `nil` if OpenSSL fails.
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

/// An RSA public key that verifies RS256 signatures (RFC 7518 §3.3), using OpenSSL.
package final class RSAPublicKey: Sendable {
  private let key: Mutex<OpaquePointer>

  /// Reads a public key from a text in PEM format, which may also be a certificate. `nil` if the text contains no RSA
  /// key.
  package convenience init?(pem: String) {
    guard let key = Self.parse(Array(pem.utf8)) else { return nil }
    self.init(key)
  }

  /// Creates a key from the big-endian modulus and exponent of a JSON Web Key (RFC 7518 §6.3.1).
  package convenience init?(modulus: [UInt8], exponent: [UInt8]) {
    guard !modulus.isEmpty, !exponent.isEmpty else { return nil }
    // The encoding is SubjectPublicKeyInfo (RFC 5280 §4.1) with rsaEncryption.
    let numbers = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
    let algorithm = DER.sequence([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00])
    let info = DER.sequence(algorithm + DER.element(0x03, [0] + numbers))
    let key = info.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_PUBKEY(nil, &start, bytes.count)
    }
    guard let key, EVP_PKEY_is_a(key, "RSA") == 1 else {
      EVP_PKEY_free(key)
      return nil
    }
    self.init(key)
  }

  private init(_ key: sending OpaquePointer) { self.key = Mutex(key) }

  deinit { key.withLock { EVP_PKEY_free($0) } }

  private static func parse(_ bytes: [UInt8]) -> sending OpaquePointer? {
    let key = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
      func read(_ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        guard let text = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
        defer { BIO_free(text) }
        return body(text)
      }
      // The callback prevents OpenSSL from asking for a password on the terminal. An encrypted block is not accepted as
      // a key.
      return read { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
        ?? read { text in
          guard let certificate = PEM_read_bio_X509(text, nil, { _, _, _, _ in -1 }, nil) else { return nil }
          defer { X509_free(certificate) }
          return X509_get_pubkey(certificate)
        }
    }
    ERR_clear_error()
    guard let key, EVP_PKEY_is_a(key, "RSA") == 1 else {
      EVP_PKEY_free(key)
      return nil
    }
    return key
  }

  /// The reason why the key is not secure; `nil` for a secure key. RS256 requires at least 2 048 bits (RFC 7518 §3.3).
  /// If the exponent is 1, anyone who has the public key can sign. Even exponents are invalid (RFC 8017 §3.1).
  package var weakness: String? {
    key.withLock { key in
      let bits = EVP_PKEY_get_bits(key)
      if bits < 2_048 { return "it has \(bits) bits, but RS256 requires 2048 or more" }
      var exponent: OpaquePointer?
      guard EVP_PKEY_get_bn_param(key, "e", &exponent) == 1, let exponent else { return "its exponent cannot be read" }
      defer { BN_free(exponent) }
      if BN_is_odd(exponent) == 1, BN_is_one(exponent) == 0 { return nil }
      return "its exponent is 1 or even, so anyone can sign"
    }
  }

  /// Whether the signature was made with the private key, by PKCS #1 v1.5 over SHA-256.
  package func isValid(_ signature: [UInt8], of content: [UInt8]) -> Bool {
    key.withLock { key in
      guard let context = EVP_MD_CTX_new() else { return false }
      defer {
        EVP_MD_CTX_free(context)
        ERR_clear_error()
      }
      guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
      return EVP_DigestVerify(context, signature, signature.count, content, content.count) == 1
    }
  }
}

/// Encodes the elements of a public key in DER (X.690).
private enum DER {
  static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

  /// Encodes a nonnegative integer.
  static func integer(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    return element(0x02, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
  }

  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    if count < 0x80 { return [tag, UInt8(count)] + content }
    let length = withUnsafeBytes(of: UInt64(count).bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }
}
