// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import HearthCommand

/// The connection that is used where no option names a backend.
@Suite struct DefaultConnectionTests {
  private func withPaths(_ work: (Paths) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-default-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try work(Paths(environment: ["HOME": folder.path]))
  }

  @Test("HEARTH_CONNECTION overrides the default connection, or disables it if empty")
  func order() throws {
    try withPaths { paths in
      func name(_ environment: [String: String]) -> String? { DefaultConnection(paths, environment)?.name }
      #expect(name([:]) == nil)
      #expect(name(["HEARTH_CONNECTION": "local"]) == "local")
      try DefaultConnection.choose("prod", paths)
      #expect(DefaultConnection(paths, [:]) == DefaultConnection(paths, ["FIRESTORE_EMULATOR_HOST": ""]))
      #expect(name([:]) == "prod" && DefaultConnection(paths, [:])?.source == .chosen)
      #expect(name(["HEARTH_CONNECTION": "local"]) == "local" && name(["HEARTH_CONNECTION": ""]) == nil)
      #expect(name(["FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"]) == nil)
      #expect(name(["FIRESTORE_EMULATOR_HOST": "127.0.0.1:1", "HEARTH_CONNECTION": "local"]) == "local")
      try DefaultConnection.choose(nil, paths)
      #expect(name([:]) == nil)
      try DefaultConnection.choose(nil, paths)
    }
  }
}
