// SPDX-License-Identifier: Apache-2.0
import Crypto
import FirestoreEmulator
import FirestoreTesting
import Foundation
import SwiftASN1
import X509

/// A certificate with its key: of an authority, or of a server.
struct IssuedCertificate {
  /// What is in a certificate besides whose it is.
  struct Terms {
    var names: [String] = []
    var addresses: [[UInt8]] = []
    /// From now, in seconds.
    var validity: ClosedRange<TimeInterval> = -7_200...3_600
    /// How many authorities may stand below this one; `nil` for what is no authority.
    var pathLength: Int?
    var purposes: [ExtendedKeyUsage.Usage] = []

    static let authority = Terms(pathLength: 3)
    static let server = Terms(names: ["localhost"], addresses: [[127, 0, 0, 1], loopback6], purposes: [.serverAuth])
    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
  }

  let certificate: Certificate
  private let key: P256.Signing.PrivateKey

  /// - Parameter issuer: `nil` for one that signs itself.
  init(_ name: String, _ terms: Terms, by issuer: IssuedCertificate? = nil) throws {
    let key = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName(name) }
    var extensions = Certificate.Extensions()
    let constraints: BasicConstraints =
      terms.pathLength.map { .isCertificateAuthority(maxPathLength: $0) } ?? .notCertificateAuthority
    try extensions.append(Certificate.Extension(constraints, critical: true))
    try extensions.append(
      Certificate.Extension(
        terms.pathLength == nil ? KeyUsage(digitalSignature: true) : KeyUsage(keyCertSign: true, cRLSign: true),
        critical: true))
    if !terms.purposes.isEmpty {
      try extensions.append(Certificate.Extension(ExtendedKeyUsage(terms.purposes), critical: false))
    }
    let sites =
      terms.names.map { GeneralName.dnsName($0) }
      + terms.addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) }
    if !sites.isEmpty {
      try extensions.append(Certificate.Extension(SubjectAlternativeNames(sites), critical: false))
    }
    certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
      notValidBefore: .now.addingTimeInterval(terms.validity.lowerBound),
      notValidAfter: .now.addingTimeInterval(terms.validity.upperBound),
      issuer: issuer?.certificate.subject ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: extensions, issuerPrivateKey: Certificate.PrivateKey(issuer?.key ?? key))
    self.key = key
  }

  /// Files for a server: this certificate, those behind it, and the key.
  func files(sending chain: [IssuedCertificate] = []) throws -> CertificateFiles {
    try CertificateFiles([self] + chain, key: key.pemRepresentation)
  }
}

/// Certificates in a file and the key of the first in another, which go with the value.
final class CertificateFiles: Sendable {
  let chain: String
  private let key: String
  private let folder = TemporaryFolder()

  init(_ certificates: [IssuedCertificate], key: String = "") throws {
    let text = try certificates.map { try $0.certificate.serializeAsPEM().pemString + "\n" }.joined()
    try folder.write("chain.pem", text)
    try folder.write("key.pem", key)
    (chain, self.key) = (folder("chain.pem"), folder("key.pem"))
  }

  var tls: EmulatorServer.Configuration.TLS { EmulatorServer.Configuration.TLS(certificate: chain, key: key) }
}
