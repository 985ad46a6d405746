// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreGRPC
import FirestoreJSON
package import FirestoreModel

/// The security rules that a project has released for a database.
package struct DeployedRules: Sendable {
  package struct File: Hashable, Sendable {
    package var name: String
    package var content: String
  }

  package var files: [File]
  /// The time of the release as the server tells it; empty if it does not.
  package var released: String

  /// Asks a server.
  /// - Returns: `nil` if no rules are released.
  package static func read(
    of database: DatabaseID, at server: AdministrationCall
  ) async throws(CommandFailure) -> DeployedRules? {
    let release: JSONSyntax
    do throws(CommandFailure) {
      release = try await DeployedResource.get("/v1/\(self.release(of: database))", of: .rules, server)
    } catch {
      if error.status == .notFound { return nil }
      throw error
    }
    guard let name = release.text("rulesetName") else {
      throw CommandFailure(.badData, "the server tells a release without a ruleset.")
    }
    let ruleset = try await DeployedResource.get("/v1/\(name)", of: .rules, server)
    let files = (ruleset["source"]?["files"]?.elements ?? []).compactMap { file in
      file.text("content").map { File(name: file.text("name") ?? "firestore.rules", content: $0) }
    }
    if files.isEmpty { throw CommandFailure(.badData, "the server tells no text of \(name).") }
    return DeployedRules(files: files, released: release.text("updateTime") ?? release.text("createTime") ?? "")
  }

  /// The name of the release; databases other than the first one have their own.
  private static func release(of database: DatabaseID) -> String {
    let own = database.database == "(default)" ? "" : "/\(database.database)"
    return "projects/\(database.project)/releases/cloud.firestore\(own)"
  }
}

enum DeployedResource {
  static func get(
    _ path: String, of interface: AdministrationCall.Interface, _ server: AdministrationCall
  ) async throws(CommandFailure) -> JSONSyntax {
    let body: [UInt8]
    do throws(RPCStatus) { body = try await server.get(path, of: interface) } catch { throw CommandFailure(error) }
    do throws(JSONError) { return try JSONSyntax(parsing: String(decoding: body, as: UTF8.self)) } catch {
      throw CommandFailure(.badData, "the server's answer is no JSON: \(error)")
    }
  }
}
