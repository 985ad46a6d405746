// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import CommandTransfer
import DashboardModel
import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
import FirestoreText

/// Reads a scenario: one step per line, `#` begins a comment line.
///
///     listen cities where state == CA order by population desc limit 10
///     offline
///     set cities/SF {"state": "CA"}
///     expect added cities/SF within 1s
///     online
///     expect acknowledged cities/SF
package struct ScenarioParser {
  private let database: DatabaseID

  package init(database: DatabaseID) { self.database = database }

  /// - Throws: `CommandFailure` with the number of the line that is wrong, and why.
  package func steps(_ text: String, of name: String) throws(CommandFailure) -> [ScenarioStep] {
    var steps: [ScenarioStep] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = String(line.trimming())
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(TextError) {
        steps.append(ScenarioStep(line: index + 1, text: line, action: try action(line)))
      } catch {
        let place = "line \(index + 1)" + (error.column.map { ", column \($0)" } ?? "")
        var failure = CommandFailure(.badData, "\(name), \(place): \(error.reason)")
        failure.excerpt = error.excerpt(of: line)
        throw failure
      }
    }
    return steps
  }

  private func action(_ line: String) throws(TextError) -> ScenarioStep.Action {
    let (verb, rest) = Self.firstWord(line)
    do throws(TextError) { return try action(verb, rest) } catch {
      // An error without a column is about all of the step.
      throw error.column == nil ? error : error.moved(by: line.unicodeScalars.count - rest.unicodeScalars.count)
    }
  }

  private func action(_ verb: String, _ rest: String) throws(TextError) -> ScenarioStep.Action {
    switch verb {
    case "offline" where rest.isEmpty: return .goOffline
    case "online" where rest.isEmpty: return .goOnline
    case "calm" where rest.isEmpty: return .fault(.calm)
    case "fault": return .fault(try fault(rest))
    case "listen": return .listen(try QueryLine.parse(rest, in: database))
    case "set": return .write(try set(rest))
    case "update": return .write(try update(rest))
    case "delete": return .write(Mutation(key: try key(rest), operation: .delete))
    case "expect": return try expectation(rest)
    case "offline", "online", "calm": throw TextError("Expected nothing after \(verb).")
    default:
      throw TextError(
        "\"\(verb)\" is not a step. Expected listen, offline, online, fault, calm, set, update, delete or expect.")
    }
  }

  private static func firstWord(_ text: String) -> (String, String) {
    let end = text.firstIndex(where: \.isWhitespace) ?? text.endIndex
    return (String(text[..<end]), String(text[end...].trimming()))
  }

  // MARK: Steps

  private func fault(_ text: String) throws(TextError) -> FaultChange {
    let change = try FaultText.parse(text)
    if let objection = change.objectionOfClients { throw TextError(column: 1, objection) }
    return change
  }

  private func set(_ text: String) throws(TextError) -> Mutation {
    let (path, json) = Self.firstWord(text)
    let key = try key(path)
    do throws(JSONError) {
      return WriteArgument.set(key, try DocumentJSON.parse(json, database: database), merge: false)
    } catch {
      throw TextError(error, from: text.unicodeScalars.count - json.unicodeScalars.count + 1)
    }
  }

  private func update(_ text: String) throws(TextError) -> Mutation {
    let (path, rest) = Self.firstWord(text)
    let key = try key(path)
    var changes: [(path: FieldPath, value: JSONSyntax)] = []
    for (word, place) in Self.assignments(rest) {
      do throws(TextError) { changes.append(try FieldAssignment.parse(word)) } catch {
        throw error.moved(by: text.unicodeScalars.count - rest.unicodeScalars.count + place)
      }
    }
    if changes.isEmpty { throw TextError("Expected FIELD=VALUE after the path.") }
    do throws(CommandFailure) {
      return try WriteArgument.update(key, changes, removing: [], database: database)
    } catch {
      throw TextError(error.message)
    }
  }

  /// The words of a text, with the scalars before each; quotes and brackets of a value hold words together.
  private static func assignments(_ text: String) -> [(word: String, place: Int)] {
    var words: [(String, Int)] = []
    var cursor = TextCursor(text)
    while true {
      cursor.skipSpace()
      if cursor.isAtEnd { return words }
      let start = cursor.position
      var quote: Unicode.Scalar?
      var depth = 0
      while let next = cursor.next, quote != nil || depth > 0 || !next.properties.isWhitespace {
        let before = cursor.position > start ? cursor.scalars[cursor.position - 1] : "="
        cursor.position += 1
        if let open = quote {
          if next == "\\", open != "'" { cursor.position = min(cursor.position + 1, cursor.scalars.count) }
          if next == open { quote = nil }
        } else if next == "`" || "\"'".unicodeScalars.contains(next) && "=[{,: ".unicodeScalars.contains(before) {
          quote = next
        } else if "[{".unicodeScalars.contains(next), depth > 0 || before == "=" {
          depth += 1
        } else if "]}".unicodeScalars.contains(next), depth > 0 {
          depth -= 1
        }
      }
      words.append((cursor.text(start..<cursor.position), start))
    }
  }

  private func expectation(_ text: String) throws(TextError) -> ScenarioStep.Action {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    var limit = ScenarioStep.patience
    if let index = words.firstIndex(of: "within") {
      guard index == words.count - 2 else {
        throw TextError("Expected a time after within, such as 500ms or 5s, and nothing more.")
      }
      do throws(TextError) { limit = try DurationText.parse(words[index + 1]) } catch {
        throw error.moved(by: text.unicodeScalars.count - words[index + 1].unicodeScalars.count)
      }
      words.removeLast(2)
    }
    guard let first = words.first else { throw TextError("Expected what is expected: \(Self.events).") }
    if first == "nothing", words.count == 1 { return .expectNothing(within: limit) }
    guard let kind = ScenarioEvent.Kind(rawValue: first) else {
      throw TextError("\"\(first)\" is not an event. Expected \(Self.events).")
    }
    guard words.count <= 2, kind != .synced || words.count == 1 else {
      throw TextError("Expected one path at most after \(first).")
    }
    let path = try words.dropFirst().first.map { word throws(TextError) in try key(word).path }
    return .expect(ScenarioEvent.Pattern(kind: kind, path: path), within: limit)
  }

  private static let events = "added, modified, removed, synced, acknowledged, rejected or nothing"

  private func key(_ text: String) throws(TextError) -> DocumentKey {
    try checked { () throws(ModelError) in try DocumentKey(validating: text) }
  }

  private func checked<Result>(_ body: () throws(ModelError) -> Result) throws(TextError) -> Result {
    do throws(ModelError) { return try body() } catch { throw TextError(error.message) }
  }
}
