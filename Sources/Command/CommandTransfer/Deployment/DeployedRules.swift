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

  /// The two requests that would release a text: the answer to the first has the name that goes into the second.
  package static func requests(
    releasing text: String, in database: DatabaseID, at server: AdministrationCall
  ) -> [DeploymentRequest] {
    let root = server.root(of: .rules) + "/v1/"
    let (project, release) = ("projects/\(database.project)", release(of: database))
    return [
      DeploymentRequest(
        method: "POST", url: "\(root)\(project)/rulesets",
        body: "{\"source\": {\"files\": [{\"name\": \"firestore.rules\", \"content\": \(quoted(text))}]}}"),
      DeploymentRequest(
        method: "PATCH", url: root + release,
        body: "{\"release\": {\"name\": \(quoted(release)), "
          + "\"rulesetName\": \"\(project)/rulesets/ID-OF-THE-FIRST-ANSWER\"}}"),
    ]
  }
}

/// One request to an interface of administration. Hearth prints it and does not send it.
package struct DeploymentRequest: Hashable, Sendable {
  package var method: String
  package var url: String
  package var body: String

  /// The request as a line for a shell, which asks gcloud for the token.
  package var curl: String {
    "curl -X \(method) \(ShellText.typed(url, in: .quote("'"))) -H \"Authorization: Bearer $(gcloud auth print-access-token)\" "
      + "-H 'Content-Type: application/json' -d \(ShellText.typed(body, in: .quote("'")))"
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
