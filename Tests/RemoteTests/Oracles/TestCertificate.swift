// SPDX-License-Identifier: Apache-2.0
import Crypto
import FirestoreEmulator
import FirestoreTesting
import Foundation
import SwiftASN1
import X509

/// A self-signed certificate and its key in files, which go with the value.
final class TestCertificate: Sendable {
  let certificate: String
  let key: String
  private let folder = TemporaryFolder()

  /// - Parameters:
  ///   - names: the host names that it is for.
  ///   - address: the IPv4 address that it is for.
  ///   - lifetime: from now until when it is good; negative for one that has expired.
  init(names: [String], address: [UInt8]? = nil, lifetime: TimeInterval = 3600) throws {
    let key = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName("Hearth test") }
    let sites =
      names.map { GeneralName.dnsName($0) }
      + (address.map { [.ipAddress(ASN1OctetString(contentBytes: $0[...]))] } ?? [])
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
      notValidBefore: .now.addingTimeInterval(-7200), notValidAfter: .now.addingTimeInterval(lifetime),
      issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        SubjectAlternativeNames(sites)
      },
      issuerPrivateKey: Certificate.PrivateKey(key))
    try folder.write("certificate.pem", try certificate.serializeAsPEM().pemString)
    try folder.write("key.pem", key.pemRepresentation)
    (self.certificate, self.key) = (folder("certificate.pem"), folder("key.pem"))
  }

  var tls: EmulatorServer.Configuration.TLS { EmulatorServer.Configuration.TLS(certificate: certificate, key: key) }
}
