// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import Foundation

/// What Google's emulator said of rules and requests; `.ci/rules-verdicts` asks it and writes the files.
struct VerdictTable {
  struct Line {
    var number: Int
    var text: String
    var rules: String
    /// The condition in them; empty where they have other blocks.
    var condition: String
    var content: RulesCase
    /// `allow`, `deny`, or `invalid` for rules that are not accepted.
    var verdict: String
    var denial: String
    /// Why Hearth decides otherwise, where it does on purpose.
    var differs: String?
  }

  let lines: [Line]

  init(_ name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Verdicts")
    let text = try String(contentsOf: folder.appending(path: name + ".jsonl"), encoding: .utf8)
    let extra: Set<String> = ["rules", "condition", "functions", "match", "version", "denial", "differs"]
    var defaults: [String: JSONSyntax] = [:]
    var reader = RulesCaseReader()
    var lines: [Line] = []
    for (index, text) in text.split(separator: "\n").enumerated() {
      let syntax = try JSONSyntax(parsing: String(text))
      guard case .object(let members) = syntax.kind else { continue }
      var own = defaults
      for member in members where extra.contains(member.name) { own[member.name] = member.value }
      var plain = members.filter { !extra.contains($0.name) }
      let verdict = syntax["expect"].map(Self.text) ?? ""
      if verdict == "invalid", let place = plain.firstIndex(where: { $0.name == "expect" }) {
        plain[place].value = JSONSyntax(.string("deny"))
      }
      guard let content = try reader.read(JSONSyntax(.object(plain))) else {
        defaults = own
        continue
      }
      lines.append(
        Line(
          number: index + 1, text: String(text), rules: Self.rules(own, method: content.request.method.rawValue),
          condition: own["match"] == nil && own["rules"] == nil ? own["condition"].map(Self.text) ?? "" : "",
          content: content, verdict: verdict, denial: own["denial"].map(Self.text) ?? "",
          differs: own["differs"].map(Self.text)))
    }
    self.lines = lines
  }

  private static func text(_ syntax: JSONSyntax) -> String {
    if case .string(let text) = syntax.kind { text } else { "" }
  }

  /// The same text as the making script's `rules_of`.
  private static func rules(_ members: [String: JSONSyntax], method: String) -> String {
    if let whole = members["rules"] { return text(whole) }
    let version = members["version"] == nil ? "2" : "1"
    let condition = members["condition"].map(text) ?? ""
    let inner = members["match"].map(text) ?? "match /e/{id} { allow \(method): if \(condition); }"
    let functions = members["functions"].map(text) ?? ""
    return "rules_version = '\(version)';\nservice cloud.firestore {\nmatch /databases/{database}/documents {\n"
      + "\(functions)\n\(inner)\n}\n}\n"
  }
}
