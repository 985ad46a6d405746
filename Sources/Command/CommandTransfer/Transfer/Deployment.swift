// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreGRPC
import FirestoreJSON
package import FirestoreModel

/// The indexes and document lifetimes (TTL policies) that are deployed on a server.
package struct IndexDeployment: Sendable {
  package var indexes: [DeployedIndex]
  package var overrides: [FieldOverride]

  /// Reads the indexes and document lifetimes from a server.
  package init(of database: DatabaseID, at server: AdministrationCall) async throws(CommandFailure) {
    let groups = "/v1/\(Self.groups(of: database))/-"
    indexes = try await Self.pages("indexes", groups + "/indexes?", server).compactMap { DeployedIndex($0) }
    overrides = try await Self.overrides(below: groups, server, filters: Self.overridden)
  }

  /// The filters that select fields which differ from the default, in the syntax of the administration API.
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

/// A composite index that a project has or should have. Its attributes have Google's format.
package struct DeployedIndex: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var path: String
    /// The part of the field's entry after `fieldPath`: `order`, `arrayConfig` or `vectorConfig` with its value.
    package var mode: String
  }

  package var collectionGroup: String
  /// The query scope, `COLLECTION` or `COLLECTION_GROUP`.
  package var scope: String
  /// The fields without `__name__`. Every index ends with `__name__`, which by default has the direction of the last
  /// field.
  package var fields: [Field]

  /// Reads a `google.firestore.admin.v1.Index`. Its name contains the collection.
  /// - Returns: `nil` for other JSON.
  init?(_ json: JSONSyntax) {
    guard let group = json.text("name").flatMap({ Self.collection(in: $0) }), let list = json["fields"]?.elements else {
      return nil
    }
    collectionGroup = group
    scope = json.text("queryScope") ?? "COLLECTION"
    fields = []
    for entry in list {
      guard let path = entry.text("fieldPath"), let mode = Self.mode(of: entry) else { return nil }
      fields.append(Field(path: path, mode: mode))
    }
    let end = fields.dropLast().last?.mode
    if fields.count > 1, fields.last?.path == "__name__",
      fields.last?.mode == (end == Self.descending ? end : Self.ascending)
    {
      fields.removeLast()
    }
  }

  static let ascending = #""order": "ASCENDING""#
  static let descending = #""order": "DESCENDING""#

  /// The order, array or vector configuration in an entry; `nil` for a field without one.
  static func mode(of entry: JSONSyntax) -> String? {
    for name in ["order", "arrayConfig", "vectorConfig"] {
      if let value = entry[name] { return "\"\(name)\": \(value.lineText)" }
    }
    return nil
  }

  /// The collection id in a name such as `projects/P/databases/D/collectionGroups/C/…`.
  static func collection(in name: String) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count > 5 && parts[4] == "collectionGroups" ? String(parts[5]) : nil
  }

  /// The index as an entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    "{\"collectionGroup\": \(quoted(collectionGroup)), \"queryScope\": \"\(scope)\", \"fields\": [\(fieldList)]}"
  }

  private var fieldList: String {
    fields.map { "{\"fieldPath\": \(quoted($0.path)), \($0.mode)}" }.joined(separator: ", ")
  }
}

func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }

extension JSONSyntax {
  var elements: [JSONSyntax]? { if case .array(let elements) = kind { elements } else { nil } }
  func text(_ member: String) -> String? { if case .string(let text)? = self[member]?.kind { text } else { nil } }
}

/// A field whose indexes differ from the project's default, or a timestamp field that determines when documents expire.
package struct FieldOverride: Hashable, Sendable {
  package struct Index: Hashable, Sendable, Comparable {
    /// The query scope, `COLLECTION` or `COLLECTION_GROUP`.
    var scope: String
    /// The order or array configuration on one line, such as `"order": "ASCENDING"`.
    var mode: String

    package static func < (one: Index, other: Index) -> Bool { (one.scope, one.mode) < (other.scope, other.mode) }
  }

  package var collectionGroup: String
  package var path: String
  /// Whether documents expire at the time in this field.
  package var isLifetime: Bool
  /// The sorted single-field indexes of the field. If the list is empty, the field is not indexed.
  package var indexes: [Index]

  /// Reads a `google.firestore.admin.v1.Field`.
  /// - Returns: `nil` for other JSON, and for the entry that represents all fields of the database.
  init?(deployed json: JSONSyntax) {
    guard let name = json.text("name"), let group = DeployedIndex.collection(in: name), group != "__default__",
      let range = name.firstRange(of: "/fields/")
    else { return nil }
    (collectionGroup, path) = (group, String(name[range.upperBound...]))
    isLifetime = json["ttlConfig"] != nil
    indexes = (json["indexConfig"]?["indexes"]?.elements ?? []).compactMap { index in
      guard let field = index["fields"]?.elements?.first, let mode = DeployedIndex.mode(of: field) else { return nil }
      return Index(scope: index.text("queryScope") ?? "COLLECTION", mode: mode)
    }.sorted()
  }

  /// The override as an entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    let list = indexes.map { "{\"queryScope\": \"\($0.scope)\", \($0.mode)}" }.joined(separator: ", ")
    return "{\"collectionGroup\": \(quoted(collectionGroup)), \"fieldPath\": \(quoted(path)), "
      + "\(isLifetime ? "\"ttl\": true, " : "")\"indexes\": [\(list)]}"
  }

  /// Whether two overrides are equal. The state of the document lifetime is not compared.
  package static func == (one: FieldOverride, other: FieldOverride) -> Bool {
    one.collectionGroup == other.collectionGroup && one.path == other.path && one.isLifetime == other.isLifetime
      && one.indexes == other.indexes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(collectionGroup)
    hasher.combine(path)
  }
}

/// The security rules that a project has released for a database.
package struct DeployedRules: Sendable {
  package struct File: Hashable, Sendable {
    package var name: String
    package var content: String
  }

  package var files: [File]
  /// The time of the release, as the server reports it; empty if the server reports none.
  package var released: String

  /// Reads the rules from a server.
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
      throw CommandFailure(.badData, "the server returned a release without a ruleset.")
    }
    let ruleset = try await DeployedResource.get("/v1/\(name)", of: .rules, server)
    let files = (ruleset["source"]?["files"]?.elements ?? []).compactMap { file in
      file.text("content").map { File(name: file.text("name") ?? "firestore.rules", content: $0) }
    }
    if files.isEmpty { throw CommandFailure(.badData, "the server returned no text for \(name).") }
    return DeployedRules(files: files, released: release.text("updateTime") ?? release.text("createTime") ?? "")
  }

  /// The name of the release. Each database other than the default one has a separate release.
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
      throw CommandFailure(.badData, "the server's response is not JSON: \(error)")
    }
  }
}
