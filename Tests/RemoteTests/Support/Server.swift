// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import Foundation

/// The server that tests of the remote backend run against: whatever listens at `HEARTH_TEST_EMULATOR` (`HOST:PORT`),
/// such as Google's emulator. Without it these tests are left out.
enum Server {
  static let address = ProcessInfo.processInfo.environment["HEARTH_TEST_EMULATOR"]

  static func endpoint() throws -> FirestoreGRPC.Endpoint {
    try FirestoreGRPC.Endpoint(address ?? "", security: .plaintext, from: "HEARTH_TEST_EMULATOR")
  }
}
