// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import CommandTransfer
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreText

// Steps about clocks, caches and indexes, and the expectations about them.

extension ScenarioParser {
  /// Parses `clock ahead TIME`, `clock behind TIME` and `clock right`.
  func clock(_ text: String) throws(TextError) -> Duration {
    let (word, rest) = Self.firstWord(text)
    if text == "right" { return .zero }
    guard word == "ahead" || word == "behind" else {
      throw TextError(column: 1, "Expected \"ahead\" or \"behind\" and a duration, such as ahead 1h, or \"right\".")
    }
    do throws(TextError) {
      let time = try DurationText.parse(rest)
      return word == "ahead" ? time : .zero - time
    } catch { throw error.moved(by: text.unicodeScalars.count - rest.unicodeScalars.count) }
  }

  // MARK: The cache

  private static let units = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1), ("", 1)]

  /// Parses `cache size BYTES`.
  func cacheSize(_ text: String) throws(TextError) -> Int64 {
    let (word, size) = Self.firstWord(text)
    let digits = size.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard word == "size", let number = Double(digits), number > 0, number < 1e9,
      let unit = Self.units.first(where: { $0.0 == size.dropFirst(digits.count) })?.1
    else { throw TextError(column: 1, "Expected \"size\" and a number of bytes, such as size 500kB.") }
    return Int64(number * unit)
  }

  // MARK: Indexes

  /// Parses `index COLLECTION FIELD [asc|desc|contains], …`.
  func index(_ text: String) throws(TextError) -> ClientSetting {
    let (collection, rest) = Self.firstWord(text)
    let before = text.unicodeScalars.count - rest.unicodeScalars.count
    if rest.isEmpty { throw TextError(column: 1, "Expected a collection and its fields, such as cities state.") }
    var fields: [FieldIndex.Field] = []
    for part in rest.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(whereSeparator: \.isWhitespace)
      let column = before + 1 + rest[..<part.startIndex].unicodeScalars.count
      guard let name = words.first, words.count <= 2 else {
        throw TextError(column: column, "Expected a field, followed by asc, desc or contains.")
      }
      let kind: FieldIndex.Kind
      switch words.dropFirst().first {
      case nil, "asc"?: kind = .ascending
      case "desc"?: kind = .descending
      case "contains"?: kind = .contains
      case let other?: throw TextError(column: column, "Expected asc, desc or contains, found \"\(other)\".")
      }
      fields.append(FieldIndex.Field(try FieldPathText.parse(String(name), column: column), kind))
    }
    do throws(ModelError) {
      return .index(try FieldIndex(collectionGroup: collection, fields: fields))
    } catch { throw TextError(column: 1, error.message) }
  }

  /// Parses `indexes automatic`, `indexes manual` and `indexes none`.
  func indexes(_ text: String) throws(TextError) -> ClientSetting {
    switch text {
    case "automatic": return .automaticIndexes(true)
    case "manual": return .automaticIndexes(false)
    case "none": return .noIndexes
    default: throw TextError(column: 1, "Expected automatic, manual or none.")
    }
  }

  // MARK: Expectations

  /// Parses an expectation about the state of the cache.
  /// - Returns: `nil` if the words are another kind of expectation.
  func stateOfCache(_ words: [String]) throws(TextError) -> ScenarioState? {
    guard let word = words.first else { return nil }
    let isDenied = word == "no" || word == "not"
    let subject = words.dropFirst(isDenied ? 1 : 0)
    guard let first = subject.first else { return nil }
    let rest = subject.dropFirst().joined(separator: " ")
    do throws(TextError) {
      switch (word, first) {
      case ("index", _), ("scan", _):
        var words = words
        if let name = EventPattern.taken("on", &words) {
          throw TextError("A plan belongs to a query, not to a listener. Remove \"on \(name)\".")
        }
        return .plan(first == "index" ? .index : .scan, try QueryLine.parse(rest, in: database))
      case ("streams", _), ("no", "streams"):
        if !rest.isEmpty {
          throw TextError("Expected nothing after \"streams\". Write the client's name before the step.")
        }
        return .streams(!isDenied)
      case ("cached", _) where !rest.isEmpty && !rest.hasPrefix("on "), ("not", "cached"):
        return .cached(try key(rest), isThere: !isDenied)
      case ("estimate", _), ("no", "estimate"): return try estimate(rest, isDenied: isDenied)
      default: return nil
      }
    } catch {
      let before = words.joined(separator: " ").unicodeScalars.count - rest.unicodeScalars.count
      throw error.column == nil ? error : error.moved(by: before)
    }
  }

  /// Parses `PATH [where CONDITION] [on LISTENER]` after the word `estimate`.
  private func estimate(_ text: String, isDenied: Bool) throws(TextError) -> ScenarioState {
    var words = text.split(separator: " ").map(String.init)
    let listener = EventPattern.taken("on", &words)
    let place = listener.map { ScenarioState.Place.listener($0) } ?? .cache
    let (path, rest) = Self.firstWord(words.joined(separator: " "))
    let key = try key(path)
    if rest.isEmpty { return .estimate(key, exists: !isDenied, [], at: place) }
    let (word, conditions) = Self.firstWord(rest)
    guard word == "where", !conditions.isEmpty, !isDenied else {
      throw TextError("Expected \"where\" and a condition, or nothing, after the document's path.")
    }
    return .estimate(
      key, exists: true,
      try ConditionText.parse(conditions, of: Query(path: key.collection), database: database), at: place)
  }
}

// Rules and bundles, given as a block of lines, a file or a name.

extension ScenarioParser {
  /// Parses a line that is followed by a block.
  func block(_ line: ScenarioLine, of name: String) throws(CommandFailure) -> ScenarioStep.Action {
    let block = line.block ?? []
    if line.text == "rules" {
      do throws(RulesIssue) { return .world(.rules(try Self.ruleset(block))) } catch {
        let place = min(error.line, max(block.count, 1))
        throw CommandFailure(
          .badData, "\(name), line \(line.number + place), column \(error.column): \(error.message)")
      }
    }
    return .world(.bundle(try bundle(line, block, of: name)))
  }

  // MARK: Rules

  /// Parses `rules FILE` and `rules none`.
  func rules(_ text: String) throws(TextError) -> Ruleset? {
    if text == "none" { return nil }
    let content: String
    do throws(CommandFailure) { content = try DocumentArgument.text(ofFile: text) } catch {
      throw TextError(column: 1, error.message)
    }
    do throws(RulesIssue) { return try Self.compile(content, text) } catch {
      throw TextError(column: 1, "\(text), line \(error.line), column \(error.column): \(error.message)")
    }
  }

  private static func compile(_ content: String, _ name: String) throws(RulesIssue) -> Ruleset {
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: name, content: content)])
    if let ruleset { return ruleset }
    throw issues.first(where: \.isError)
      ?? RulesIssue(fileName: name, line: 1, column: 1, currentOffset: 0, endOffset: 0, message: "No rules.")
  }

  /// Parses the rules in a block. They are a whole rules file, or only the `match` blocks inside a database's
  /// documents.
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

  /// Parses `bundle NAME from QUERY`.
  func bundle(_ text: String) throws(TextError) -> ScenarioBundle {
    let (name, rest) = Self.firstWord(text)
    let (word, query) = Self.firstWord(rest)
    guard !name.isEmpty, word == "from", !query.isEmpty else {
      throw TextError(
        column: 1, "Expected a name for the bundle, then \"from\" and a query, or lines of contents and \"end\".")
    }
    do throws(TextError) {
      return ScenarioBundle(name: name, contents: .result(try QueryLine.parse(query, in: database)))
    } catch { throw error.moved(by: text.unicodeScalars.count - query.unicodeScalars.count) }
  }

  /// Parses the lines of a bundle: `set PATH JSON`, `missing PATH` and `query NAME QUERY`.
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
          let mutation = try RequestText(in: database).set(rest)
          guard case .set(let fields) = mutation.operation, mutation.transforms.isEmpty else {
            throw TextError(column: 1, "A document of a bundle can have values, but no transforms.")
          }
          documents.append((mutation.key, fields))
        case "missing": documents.append((try key(rest), nil))
        case "query":
          let (name, query) = Self.firstWord(rest)
          do throws(TextError) { queries.append((name, try QueryLine.parse(query, in: database))) } catch {
            throw error.moved(by: rest.unicodeScalars.count - query.unicodeScalars.count)
          }
        default: throw TextError("\"\(verb)\" is not a line of a bundle. Expected set, missing, query or end.")
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
