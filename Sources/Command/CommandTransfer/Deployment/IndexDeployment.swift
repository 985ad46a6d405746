// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreGRPC
import FirestoreJSON
package import FirestoreModel

/// The indexes and lifetimes of a database: those that a server has, or those of a `firestore.indexes.json`.
package struct IndexDeployment: Sendable {
  package var indexes: [DeployedIndex]
  package var overrides: [FieldOverride]

  /// The lifetimes among the overrides.
  package var lifetimes: [FieldOverride] { overrides.filter(\.isLifetime) }

  /// Reads a file that `IndexConfigurationReader` accepts.
  package init(file text: String, name: String) throws(CommandFailure) {
    let json: JSONSyntax
    do throws(JSONError) { json = try JSONSyntax(parsing: text) } catch {
      throw CommandFailure(.badData, "\(name), \(error)")
    }
    indexes = (json["indexes"]?.elements ?? []).compactMap { DeployedIndex($0) }
    overrides = (json["fieldOverrides"]?.elements ?? []).compactMap { FieldOverride(entry: $0) }
  }

  /// Asks a server.
  package init(of database: DatabaseID, at server: AdministrationCall) async throws(CommandFailure) {
    let groups = "/v1/\(Self.groups(of: database))/-"
    indexes = try await Self.pages("indexes", groups + "/indexes?", server).compactMap { DeployedIndex($0) }
    overrides = try await Self.overrides(below: groups, server, filters: Self.overridden)
  }

  /// Asks a server for the lifetimes alone.
  package static func lifetimes(
    of database: DatabaseID, at server: AdministrationCall
  ) async throws(CommandFailure) -> [FieldOverride] {
    try await overrides(below: "/v1/\(groups(of: database))/-", server, filters: [lifetime]).filter(\.isLifetime)
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

  /// Lines for people: those of indexes and overrides that are here alone, and those that are in the other alone.
  package func difference(to other: IndexDeployment) -> (removed: [String], added: [String]) {
    (
      indexes.filter { !other.indexes.contains($0) }.map(\.text)
        + overrides.filter { !other.overrides.contains($0) }.map(\.text),
      other.indexes.filter { !indexes.contains($0) }.map(\.text)
        + other.overrides.filter { !overrides.contains($0) }.map(\.text)
    )
  }

  /// The requests that would make a server have what it lacks of these. None deletes anything.
  package func requests(
    beyond deployed: IndexDeployment, in database: DatabaseID, at server: AdministrationCall
  ) -> [DeploymentRequest] {
    let root = "\(server.root(of: .firestore))/v1/\(Self.groups(of: database))"
    let made = indexes.filter { !deployed.indexes.contains($0) }.map { index in
      DeploymentRequest(
        method: "POST", url: "\(root)/\(AdministrationCall.encoded(index.collectionGroup))/indexes", body: index.body)
    }
    let set = overrides.filter { !deployed.overrides.contains($0) }.map { override in
      DeploymentRequest(
        method: "PATCH",
        url: "\(root)/\(AdministrationCall.encoded(override.collectionGroup))/fields/"
          + "\(AdministrationCall.encoded(override.path))?updateMask=indexConfig"
          + (override.isLifetime ? "&updateMask=ttlConfig" : ""),
        body: override.body)
    }
    return made + set
  }
}
