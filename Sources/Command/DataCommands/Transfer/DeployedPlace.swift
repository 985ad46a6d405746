// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreGRPC
import FirestoreModel

/// The server that says what is deployed.
enum DeployedPlace {
  /// - Throws: `usage` for data of this machine, which has none of it.
  static func server(of locations: StorageOptions.Locations) throws(CommandFailure) -> AdministrationCall {
    guard case .remote(let remote) = locations.backend else {
      throw CommandFailure(
        .usage,
        "the data of this machine has no indexes, lifetimes or rules of its own: name a server with --cloud or --emulator "
          + "HOST:PORT.")
    }
    return AdministrationCall(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// The rules in force; `nil` if there are none.
  /// - Throws: `badData` for rules of several files, which would not be one text.
  static func rules(of locations: StorageOptions.Locations, at server: AdministrationCall) async throws -> String? {
    if !locations.isCloud, let control = EmulatorControl(of: locations.backend) {
      return try await ServedRuleset(control, locations.database.project).text()
    }
    guard let rules = try await DeployedRules.read(of: locations.database, at: server) else { return nil }
    guard rules.files.count == 1 else {
      let names = rules.files.map(\.name).joined(separator: ", ")
      throw CommandFailure(.badData, "the rules are \(rules.files.count) files: \(names).")
    }
    return rules.files[0].content
  }
}
