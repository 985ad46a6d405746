// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreText

// Rules and bundles, which stand in a block of lines, in a file or behind a name.

extension ScenarioParser {
  /// Reads a line that has a block.
  func block(_ line: ScenarioLine, of name: String) throws(CommandFailure) -> ScenarioStep.Action {
    let block = line.block ?? []
    if line.text == "rules" {
      do throws(RulesIssue) { return .rules(try Self.ruleset(block)) } catch {
        let place = min(error.line, max(block.count, 1))
        throw CommandFailure(
          .badData, "\(name), line \(line.number + place), column \(error.column): \(error.message)")
      }
    }
    return .bundle(try bundle(line, block, of: name))
  }

  // MARK: Rules

  /// Reads `rules FILE` and `rules none`.
  func rules(_ text: String) throws(TextError) -> ScenarioStep.Action {
    if text == "none" { return .rules(nil) }
    let content: String
    do throws(CommandFailure) { content = try DocumentArgument.text(ofFile: text) } catch {
      throw TextError(column: 1, error.message)
    }
    do throws(RulesIssue) { return .rules(try Self.compile(content, text)) } catch {
      throw TextError(column: 1, "\(text), line \(error.line), column \(error.column): \(error.message)")
    }
  }

  private static func compile(_ content: String, _ name: String) throws(RulesIssue) -> Ruleset {
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: name, content: content)])
    if let ruleset { return ruleset }
    throw issues.first(where: \.isError)
      ?? RulesIssue(fileName: name, line: 1, column: 1, currentOffset: 0, endOffset: 0, message: "No rules.")
  }

  /// Reads rules of a block: a whole file, or `match` blocks below the documents of a database.
  private static func ruleset(_ block: [String]) throws(RulesIssue) -> Ruleset {
    let text = block.joined(separator: "\n")
    if text.contains("cloud.firestore") { return try compile(text, "rules") }
    let head = "rules_version = '2'; service cloud.firestore { match /databases/{database}/documents {\n"
    do throws(RulesIssue) { return try compile(head + text + "\n}}", "rules") } catch {
      var issue = error
      issue.line = max(1, issue.line - 1)
      throw issue
    }
  }

  // MARK: Bundles

  /// Reads `bundle NAME from QUERY`.
  func bundle(_ text: String) throws(TextError) -> ScenarioStep.Action {
    let (name, rest) = Self.firstWord(text)
    let (word, query) = Self.firstWord(rest)
    guard !name.isEmpty, word == "from", !query.isEmpty else {
      throw TextError(
        column: 1, "Expected a name for the bundle, and \"from\" and a query, or lines below it up to \"end\".")
    }
    do throws(TextError) {
      return .bundle(ScenarioBundle(name: name, contents: .result(try QueryLine.parse(query, in: database))))
    } catch { throw error.moved(by: text.unicodeScalars.count - query.unicodeScalars.count) }
  }

  /// Reads the lines of a bundle: `set PATH JSON`, `missing PATH` and `query NAME QUERY`.
  private func bundle(
    _ line: ScenarioLine, _ block: [String], of name: String
  ) throws(CommandFailure) -> ScenarioBundle {
    var documents: [(key: DocumentKey, fields: Fields?)] = []
    var queries: [(name: String, query: Query)] = []
    for (index, row) in block.enumerated() {
      let text = String(row.trimming())
      if text.isEmpty || text.hasPrefix("#") { continue }
      let (verb, rest) = Self.firstWord(text)
      do throws(TextError) {
        switch verb {
        case "set":
          let mutation = try set(rest)
          guard case .set(let fields) = mutation.operation, mutation.transforms.isEmpty else {
            throw TextError(column: 1, "A document of a bundle has values, and no transforms.")
          }
          documents.append((mutation.key, fields))
        case "missing": documents.append((try key(rest), nil))
        case "query":
          let (name, query) = Self.firstWord(rest)
          do throws(TextError) { queries.append((name, try QueryLine.parse(query, in: database))) } catch {
            throw error.moved(by: rest.unicodeScalars.count - query.unicodeScalars.count)
          }
        default: throw TextError("\"\(verb)\" is no line of a bundle. Expected set, missing, query or end.")
        }
      } catch {
        let column = error.column.map { $0 + text.unicodeScalars.count - rest.unicodeScalars.count } ?? 1
        throw CommandFailure(
          .badData, "\(name), line \(line.number + index + 1), column \(column): \(error.reason)")
      }
    }
    let (_, bundle) = Self.firstWord(line.text)
    if documents.isEmpty { throw CommandFailure(.badData, "\(name), line \(line.number): The bundle is empty.") }
    return ScenarioBundle(name: bundle, contents: .documents(documents, queries: queries))
  }
}
