// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreGRPC
import FirestoreJSON
package import FirestoreModel

/// The indexes and lifetimes that a server has.
package struct IndexDeployment: Sendable {
  package var indexes: [DeployedIndex]
  package var overrides: [FieldOverride]

  /// Asks a server.
  package init(of database: DatabaseID, at server: AdministrationCall) async throws(CommandFailure) {
    let groups = "/v1/\(Self.groups(of: database))/-"
    indexes = try await Self.pages("indexes", groups + "/indexes?", server).compactMap { DeployedIndex($0) }
    overrides = try await Self.overrides(below: groups, server, filters: Self.overridden)
  }

  /// The fields that differ from the default, as the interface wants to be asked for them.
  private static let overridden = ["indexConfig.usesAncestorConfig:false", lifetime]
  private static let lifetime = "ttlConfig:*"

  static func groups(of database: DatabaseID) -> String {
    "projects/\(database.project)/databases/\(database.database)/collectionGroups"
  }

  private static func overrides(
    below groups: String, _ server: AdministrationCall, filters: [String]
  ) async throws(CommandFailure) -> [FieldOverride] {
    var found: [FieldOverride] = []
    for filter in filters {
      for json in try await pages("fields", "\(groups)/fields?filter=\(AdministrationCall.encoded(filter))&", server) {
        guard let override = FieldOverride(deployed: json), !found.contains(override) else { continue }
        found.append(override)
      }
    }
    return found
  }

  /// The elements of all pages of a list.
  private static func pages(
    _ member: String, _ path: String, _ server: AdministrationCall
  ) async throws(CommandFailure) -> [JSONSyntax] {
    var (elements, token) = ([JSONSyntax](), "")
    repeat {
      let page = try await DeployedResource.get(
        "\(path)pageSize=300\(token.isEmpty ? "" : "&pageToken=\(AdministrationCall.encoded(token))")", of: .firestore,
        server)
      elements += page[member]?.elements ?? []
      token = page.text("nextPageToken") ?? ""
    } while !token.isEmpty
    return elements
  }

  /// The content of a `firestore.indexes.json`.
  package var configuration: String {
    func list(_ lines: [String]) -> String {
      lines.isEmpty ? "[]" : "[\n" + lines.map { "    " + $0 }.joined(separator: ",\n") + "\n  ]"
    }
    return "{\n  \"indexes\": \(list(indexes.map(\.definition))),\n"
      + "  \"fieldOverrides\": \(list(overrides.map(\.definition)))\n}\n"
  }
}
