// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// Reads a scenario: one step per line, `#` begins a comment line.
///
///     listen cities where state == CA order population:desc limit 10
///     offline
///     set cities/SF {"state": "CA"}
///     expect added cities/SF within 1s
///     online
///     expect acknowledged cities/SF
struct ScenarioParser {
  let database: DatabaseID

  /// - Throws: `CommandFailure` with the number of the line that is wrong, and why.
  func steps(_ text: String, of name: String) throws(CommandFailure) -> [ScenarioStep] {
    var steps: [ScenarioStep] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = String(line.trimming())
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(ArgumentError) {
        steps.append(ScenarioStep(line: index + 1, text: line, action: try action(line)))
      } catch {
        throw CommandFailure(.badData, "\(name), line \(index + 1): \(error.reason)")
      }
    }
    return steps
  }

  private func action(_ line: String) throws(ArgumentError) -> ScenarioStep.Action {
    let (verb, rest) = Self.firstWord(line)
    switch verb {
    case "offline" where rest.isEmpty: return .goOffline
    case "online" where rest.isEmpty: return .goOnline
    case "listen": return .listen(try query(rest))
    case "set": return .write(try set(rest))
    case "update": return .write(try update(rest))
    case "delete": return .write(Mutation(key: try key(rest), operation: .delete))
    case "expect": return try expectation(rest)
    case "offline", "online": throw ArgumentError("Expected nothing after \(verb).")
    default:
      throw ArgumentError(
        "\"\(verb)\" is not a step. Expected listen, offline, online, set, update, delete or expect.")
    }
  }

  private static func firstWord(_ text: String) -> (String, String) {
    let end = text.firstIndex(where: \.isWhitespace) ?? text.endIndex
    return (String(text[..<end]), String(text[end...].trimming()))
  }

  // MARK: Steps

  private func query(_ text: String) throws(ArgumentError) -> FirestoreQuery.Query {
    let (path, rest) = Self.firstWord(text)
    var query = FirestoreQuery.Query(path: try checked { () throws(ModelError) in try ResourcePath(validating: path) })
    for (keyword, operand) in try Self.clauses(rest) {
      switch keyword {
      case "where": query.filters += try ConditionText.parse(operand, of: query, database: database)
      case "order": query.explicitOrderBy.append(try OrderText.parse(operand))
      default:
        guard let limit = Int(operand), (1...QueryOptions.largestLimit).contains(limit) else {
          throw ArgumentError("Expected a number from 1 to \(QueryOptions.largestLimit) after limit.")
        }
        query.limit = limit
      }
    }
    do throws(QueryError) { try query.validate() } catch { throw ArgumentError(error.message) }
    return query
  }

  /// `where …`, `order …` and `limit …`; the words count as such outside of quotes only.
  private static func clauses(_ text: String) throws(ArgumentError) -> [(String, String)] {
    var clauses: [(String, String)] = []
    var quote: Character?
    for word in text.split(separator: " ") {
      if quote == nil, ["where", "order", "limit"].contains(word) {
        clauses.append((String(word), ""))
        continue
      }
      guard !clauses.isEmpty else { throw ArgumentError("Expected where, order or limit, found \"\(word)\".") }
      clauses[clauses.count - 1].1 += (clauses[clauses.count - 1].1.isEmpty ? "" : " ") + word
      for character in word where character == "\"" || character == "'" {
        if quote == nil { quote = character } else if quote == character { quote = nil }
      }
    }
    return clauses
  }

  private func set(_ text: String) throws(ArgumentError) -> Mutation {
    let (path, json) = Self.firstWord(text)
    let key = try key(path)
    do throws(JSONError) {
      return WriteArgument.set(key, try DocumentJSON.parse(json, database: database), merge: false)
    } catch {
      throw ArgumentError(error.reason)
    }
  }

  private func update(_ text: String) throws(ArgumentError) -> Mutation {
    let (path, rest) = Self.firstWord(text)
    let key = try key(path)
    var changes: [(path: FieldPath, value: JSONSyntax)] = []
    for word in rest.split(separator: " ") { changes.append(try FieldAssignment.parse(String(word))) }
    if changes.isEmpty { throw ArgumentError("Expected FIELD=VALUE after the path.") }
    do throws(CommandFailure) {
      return try WriteArgument.update(key, changes, removing: [], database: database)
    } catch {
      throw ArgumentError(error.message)
    }
  }

  private func expectation(_ text: String) throws(ArgumentError) -> ScenarioStep.Action {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    var limit = ScenarioStep.patience
    if let index = words.firstIndex(of: "within") {
      guard index == words.count - 2, let time = try? DurationText.parse(words[index + 1]) else {
        throw ArgumentError("Expected a time after within, such as 500ms or 5s, and nothing more.")
      }
      limit = time
      words.removeLast(2)
    }
    guard let first = words.first else { throw ArgumentError("Expected what is expected: \(Self.events).") }
    if first == "nothing", words.count == 1 { return .expectNothing(within: limit) }
    guard let kind = ScenarioEvent.Kind(rawValue: first) else {
      throw ArgumentError("\"\(first)\" is not an event. Expected \(Self.events).")
    }
    guard words.count <= 2, kind != .synced || words.count == 1 else {
      throw ArgumentError("Expected one path at most after \(first).")
    }
    let path = try words.dropFirst().first.map { word throws(ArgumentError) in try key(word).path }
    return .expect(ScenarioEvent.Pattern(kind: kind, path: path), within: limit)
  }

  private static let events = "added, modified, removed, synced, acknowledged, rejected or nothing"

  private func key(_ text: String) throws(ArgumentError) -> DocumentKey {
    try checked { () throws(ModelError) in try DocumentKey(validating: text) }
  }

  private func checked<Result>(_ body: () throws(ModelError) -> Result) throws(ArgumentError) -> Result {
    do throws(ModelError) { return try body() } catch { throw ArgumentError(error.message) }
  }
}
