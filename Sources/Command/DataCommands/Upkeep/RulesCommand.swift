// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
import FirestoreRules

/// `hearth rules`: files of security rules.
package struct RulesCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "rules", abstract: "Check files of security rules, or test them with cases.",
    subcommands: [Check.self, Test.self])

  /// `hearth rules check FILE…`.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check files of security rules.",
      discussion: """
        Each file is a ruleset of its own. Every problem is a line with file, line and column. Exit status 65 if a file \
        has an error; warnings say what is accepted and probably not meant, such as names that nothing has.
        """)

    @Argument(help: ArgumentHelp("Files of rules; - for standard input.", valueName: "file"))
    var files: [String]

    func run() throws {
      let output = OutputFile.standard()
      var bad: [String] = []
      for file in files {
        let source = try RulesSource(file)
        for line in source.problems { try output.line(ShownText(line)) }
        if source.ruleset != nil { try output.line("\(source.name): can be used") } else { bad.append(source.name) }
      }
      try output.flush()
      guard let first = bad.first else { return }
      let others = bad.count > 1 ? " and \(bad.count - 1) more" : ""
      throw CommandFailure(.badData, "\(first)\(others) cannot be used.")
    }
  }

  /// `hearth rules test FILE CASES…`.
  struct Test: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Compare what security rules decide with what they should.",
      discussion: """
        A file of cases has a JSON object on each line:

        {"method": "get", "path": "rooms/a", "user": "ada", "expect": "allow", "stored": {"rooms/a": {"owner": "ada"}}}

        method    get, list, create, update or delete
        path      the document; for list the collection
        expect    allow or deny
        name      what the case is called where it fails
        user      a uid, {"uid": ..., "claims": {...}} with the claims of the token, or null
        stored    documents that are there, by path, as hearth get prints them
        data      for create and update: the document as it will be
        mask      for create and update: the field paths of the update mask, for request.writeFields
        after     what other writes of the same request make of documents; null for a deleted one
        time      request.time, such as 2026-03-02T12:00:00Z
        query     for list, {"where": "n > 3 and (a == 1 or b == 1)", "orderBy": "n, m desc", "limit": 5, "offset": 2}, \
        with conditions and orders as 'hearth help queries' has them; where may also be a list of texts, [field, \
        operator, value], {"or": [...]} and {"and": [...]}, and "group": "rooms" is for all collections of a name below \
        path (which may be empty)

        A line without expect says what holds for the lines after it, unless they say otherwise. Cases that are decided \
        otherwise are printed with the line of the rules that decided, and the exit status is 1. Rules or cases that \
        cannot be read end with 65.
        """)

    @Argument(help: ArgumentHelp("The file of rules.", valueName: "file"))
    var file: String

    @Argument(help: ArgumentHelp("Files of cases; - for standard input.", valueName: "in"))
    var cases: [String]

    func run() throws {
      let output = OutputFile.standard()
      let source = try RulesSource(file)
      guard let ruleset = source.ruleset else {
        for line in source.problems { try output.line(ShownText(line)) }
        try output.flush()
        throw CommandFailure(.badData, "\(source.name) cannot be used.")
      }
      var run = RulesTestRun(ruleset, name: source.name)
      for path in cases { try run.test(path, output) }
      if run.count == 0 {
        throw CommandFailure(.badData, "there is no case in \(cases.joined(separator: ", ")): nothing was tested.")
      }
      try output.line(ShownText(run.summary))
      try output.flush()
      if run.failures > 0 { throw CommandFailure(.failure, run.complaint) }
    }
  }

  package init() {}
}
