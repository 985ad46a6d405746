// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
import FirestoreRules
import Foundation

/// The tools of the server. Most of them run a command of Hearth.
struct MCPTools: Sendable {
  let allowsWrites: Bool

  var all: [MCPTool] { Self.reading + Self.rules + Self.programs + (allowsWrites ? Self.writing : []) }
  var descriptions: [JSONSyntax] { all.map(\.description) }

  /// The time limit of each command, so that an unreachable server does not delay later calls.
  private static let patience = ["--timeout", "30s"]
  private static let json = ["--json"] + patience

  private static let queried: [MCPTool.Argument] = [
    .init("path", .path, required: true, "The path of a collection, such as cities or cities/SF/parks."),
    .init(
      "collectionGroup", .flag, as: "--collection-group", "Query all collections with the id in path, at any depth."),
    .init("where", .texts, as: "--where", "Conditions such as \"state == CA and population > 1000\". All must match."),
  ]
  private static let ordered: [MCPTool.Argument] = [
    .init("orderBy", .texts, as: "--order", "Fields to order by, such as population:desc."),
    .init(
      "startAfter", .text, as: "--start-after",
      "Start after this value of the orderBy field: the last value of the previous page."),
  ]

  private static func limit(_ most: Int, _ usual: Int) -> MCPTool.Argument {
    .init("limit", .number(1...most, usual: usual), as: "--limit", "The maximum number of documents or entries.")
  }

  private static let reading: [MCPTool] = [
    MCPTool(
      "list", "List the collections of the database, or the collections and documents below a path.",
      [.init("path", .path, "The path of a collection or document. Default: the root."), limit(1_000, 100)],
      .command("ls", json)),
    MCPTool(
      "get", "Get one document as JSON.",
      [.init("path", .documentPath, required: true, "The path of the document, such as cities/SF.")],
      .command("get", json)),
    MCPTool(
      "query", "Get the documents of a collection that match conditions, one JSON object per line.",
      queried + ordered + [
        .init("select", .texts, as: "--select", "The fields to return. Default: all fields."), limit(500, 20),
      ], .command("get", json)),
    MCPTool(
      "count", "Count the documents of a query, in total or grouped by the values of fields.",
      queried + [.init("groupBy", .texts, as: "--by", "Fields to count by.")], .command("count", json)),
    MCPTool(
      "schema", "Describe the fields of a collection: types, how many documents have them, and examples.",
      queried + [limit(5_000, 500)], .command("schema", json)),
    MCPTool(
      "explain", "Explain how the server executes a query, and which index it needs.",
      queried + ordered + [.init("analyze", .flag, as: "--analyze", "Also execute the query and report its cost.")],
      .command("explain", json)),
    MCPTool(
      "watch", "Listen to a document or query for a while. Returns its documents and the changes in that time.",
      queried + [
        .init("seconds", .number(1...30, usual: 5, unit: "s"), as: "--timeout", "How long to listen."),
        .init("changesOnly", .flag, as: "--no-initial", "Skip the documents that exist at the start."),
      ], .command("watch", ["--json"])),
  ]

  // MARK: Rules

  private static let ruleSource: [MCPTool.Argument] = [
    .init("rules", .text, "The text of the security rules."),
    .init("file", .text, "The path of a file with the security rules. Use it instead of rules."),
  ]

  private static let rules: [MCPTool] = [
    MCPTool(
      "rules_check", "Check security rules for errors and warnings.", ruleSource,
      .answer { arguments, commands in
        let (_, issues) = try compiled(arguments, commands)
        return issues.isEmpty ? "The rules have no errors and no warnings." : text(of: issues)
      }),
    MCPTool(
      "rules_test", "Evaluate one request of a user against security rules, and report the line that decides.",
      ruleSource + [
        .init("method", .text, required: true, "get, list, create, update or delete."),
        .init("path", .path, required: true, "The path of the document; for list the path of the collection."),
        .init("user", .text, "The uid of the user. Default: a user who is not signed in."),
        .init("claims", .object, "The claims of the user's token."),
        .init("data", .object, "The new document, for create and update."),
        .init("stored", .object, "The stored documents, by path: {\"rooms/a\": {\"owner\": \"ada\"}}."),
        .init("query", .object, "For list: {\"where\": \"n > 3\", \"orderBy\": \"n\", \"limit\": 5}."),
      ],
      .answer { arguments, commands in
        let (ruleset, issues) = try compiled(arguments, commands)
        guard let ruleset else { throw CommandFailure(.badData, text(of: issues)) }
        let test = try rulesCase(arguments)
        let verdict = ruleset.decide(test.request, test.documents)
        var members = [("allowed", JSONSyntax.flag(verdict.isAllowed))]
        if let line = verdict.decidingLine { members.append(("line", .number(line))) }
        let reason = verdict.denial.split(whereSeparator: \.isNewline).joined(separator: " ")
        if !reason.isEmpty { members.append(("reason", .text(reason))) }
        return JSONSyntax.object(members).lineText
      }),
  ]

  private static func compiled(_ arguments: MCPArguments, _ commands: AssistantCommands) throws -> (
    Ruleset?, [RulesIssue]
  ) {
    switch (arguments.text("rules"), arguments.text("file")) {
    case (let text?, nil): return Ruleset.compile([RulesFile(name: "rules", content: text)])
    case (nil, let file?):
      let text = try commands.readRules(file)
      return Ruleset.compile([RulesFile(name: file, content: text)])
    default: throw JSONRPCError(.invalidParams, "Pass the security rules as either \"rules\" or \"file\".")
    }
  }

  private static func text(of issues: [RulesIssue]) -> String {
    issues.map { issue in
      let place = issue.line > 0 ? "line \(issue.line), column \(issue.column): " : ""
      return "\(place)\(issue.isError ? "error" : "warning"): \(issue.message)"
    }.joined(separator: "\n")
  }

  /// The request as a test case for `hearth rules test`. Both have the same members.
  private static func rulesCase(_ arguments: MCPArguments) throws(JSONRPCError) -> RulesCase {
    var members: [(String, JSONSyntax)] = [("expect", "allow")]
    for name in ["method", "path"] { members.append((name, arguments[name] ?? "")) }
    let claims = try arguments.object("claims")
    if let user = arguments["user"] {
      members.append(("user", ["uid": user, "claims": claims ?? [:]]))
    } else if claims != nil {
      throw JSONRPCError(.invalidParams, "\"claims\" needs a \"user\".")
    }
    for name in ["data", "stored", "query"] {
      if let object = try arguments.object(name) { members.append((name, object)) }
    }
    var reader = RulesCaseReader()
    do throws(JSONError) {
      guard let test = try reader.read(.object(members)) else {
        throw JSONError(line: 1, column: 1, reason: "No case.")
      }
      return test
    } catch { throw JSONRPCError(.invalidParams, error.reason) }
  }

  // MARK: Programs and writes

  private static let programs: [MCPTool] = [
    MCPTool(
      "programs", "List the running programs with a Firestore client that you can watch.", [],
      .command("attach", ["--json"])),
    MCPTool(
      "program_state", "Show a running program's listeners, pending and rejected writes, and its network state.",
      [
        .init("program", .path, required: true, "The id or name of a program, from the programs tool."),
        .init(
          "seconds", .number(1...30, usual: 1, unit: "s"), as: "--timeout",
          "How long to collect events after reading the state."),
      ], .command("attach", ["--json"])),
  ]

  private static let target = MCPTool.Argument("path", .documentPath, required: true, "The path of the document.")

  private static let writing: [MCPTool] = [
    MCPTool(
      "set", "Create or replace a document.",
      [
        target, .init("data", .object, required: true, "The fields of the document."),
        .init("merge", .flag, as: "--merge", "Keep existing fields that are not in data."),
      ], writes: true, .command("set", patience)),
    MCPTool(
      "update", "Change fields of an existing document.",
      [target, .init("data", .object, required: true, "The fields to change.")], writes: true,
      .command("update", patience)),
    MCPTool(
      "delete", "Delete one document. The collections below it remain.", [target], writes: true,
      .command("delete", ["--yes"] + patience)),
  ]
}

/// Documents and collections as resources.
enum MCPResource {
  private static let root = "hearth:///"

  static let template: JSONSyntax = [
    "uriTemplate": .text("\(root){+path}"), "name": "document or collection",
    "description": .text("A document, or the first 100 documents of a collection, by path: \(root)cities/SF."),
    "mimeType": "application/json",
  ]

  /// The root collections, at most 100.
  static func all(by commands: AssistantCommands) async -> [JSONSyntax] {
    let result = await commands.run(["ls", "--json", "--limit", "100", "--timeout", "30s"])
    return result.output.split(separator: "\n").compactMap { line in
      // Every line is an object. An object without a path would be another kind of entry.
      guard let path = (try? JSONSyntax(parsing: String(line)))?["path"]?.stringValue else { return nil }
      return ["uri": .text(root + escaped(path)), "name": .text(path), "mimeType": "application/json"]
    }
  }

  static func content(_ uri: String, by commands: AssistantCommands) async throws(JSONRPCError) -> JSONSyntax {
    let path = uri.hasPrefix(root) ? String(uri.dropFirst(root.count)).removingPercentEncoding : nil
    guard let path, !path.isEmpty, !path.hasPrefix("-") else {
      throw JSONRPCError(.resourceNotFound, "Unknown resource \(uri). Use \(root) followed by a path.")
    }
    let isCollection = !path.split(separator: "/").count.isMultiple(of: 2)
    let limit = isCollection ? ["--limit", "100"] : []
    let result = await commands.run(["get", path, "--json", "--timeout", "30s"] + limit)
    guard result.status == 0 else { throw JSONRPCError(.resourceNotFound, result.errors) }
    return ["uri": .text(uri), "mimeType": "application/json", "text": .text(result.output)]
  }

  private static func escaped(_ name: String) -> String {
    name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? name
  }
}
