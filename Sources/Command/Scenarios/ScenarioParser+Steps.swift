// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import CommandTransfer
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreText
import Spelling

// Steps that perform actions.

extension ScenarioParser {
  static let verbs = [
    "client", "listen", "stop", "offline", "online", "set", "merge", "create", "update", "delete", "batch", "commit",
    "user", "fault", "calm", "restart", "kill", "snapshot", "caption", "wait", "expect", "repeat", "rules", "bundle",
    "load",
    "index", "indexes", "cache", "evict", "clock", "retry", "drop", "aside", "again",
  ]

  func action(_ line: String) throws(TextError) -> ScenarioStep.Action {
    let (verb, rest) = Self.firstWord(line)
    do throws(TextError) { return try action(verb, rest) } catch {
      // An error without a column concerns the whole step.
      throw error.column == nil ? error : error.moved(by: line.unicodeScalars.count - rest.unicodeScalars.count)
    }
  }

  private func action(_ verb: String, _ rest: String) throws(TextError) -> ScenarioStep.Action {
    if let action = Self.words[verb] {
      if rest.isEmpty { return .client(action) }
      throw TextError("Expected nothing after \"\(verb)\".")
    }
    if let typed = try RequestText(in: database).read(verb, rest) {
      if case .request(.undo) = typed { throw TextError("\"undo\" is not a step. Write the earlier values instead.") }
      if case .request(.redo) = typed { throw TextError("\"redo\" is not a step. Repeat the write instead.") }
      return .client(.request(typed))
    }
    switch verb {
    case "client": return .world(.open(try client(rest)))
    case "listen": return .client(try listen(rest))
    case "stop": return .client(.stop(try name(rest, "the listener")))
    case "user": return .client(.changeUser(rest == "none" ? nil : try name(rest, "the user, or none")))
    case "snapshot": return .world(.snapshot(rest.isEmpty ? nil : try name(rest, "a listener")))
    case "caption": return .world(.caption(rest))
    case "wait": return .world(try wait(rest))
    case "expect": return try expectation(rest)
    case "rules": return .world(.rules(try rules(rest)))
    case "bundle": return .world(.bundle(try bundle(rest)))
    case "load": return .client(.load(bundle: try name(rest, "a bundle")))
    case "index": return .client(.setting(try index(rest)))
    case "indexes": return .client(.setting(try indexes(rest)))
    case "cache": return .client(.cacheSize(try cacheSize(rest)))
    case "clock": return .client(.setting(.clock(try clock(rest))))
    default:
      if let meant = NearestName.suggestion(for: verb, among: Self.verbs) {
        throw TextError("\"\(verb)\" is not a step. Did you mean \(meant)?")
      }
      throw TextError("\"\(verb)\" is not a step. Expected \(Self.verbs.joined(separator: ", ")).")
    }
  }

  /// The steps that consist of one word.
  private static let words: [String: ScenarioStep.ClientAction] = [
    "batch": .beginBatch, "commit": .commitBatch, "restart": .restart, "kill": .kill,
  ]

  static func firstWord(_ text: String) -> (String, String) { RequestText.firstWord(text) }

  private func name(_ text: String, _ what: String) throws(TextError) -> String {
    guard !text.isEmpty, !text.contains(where: \.isWhitespace) else {
      throw TextError(column: 1, "Expected only the name of \(what).")
    }
    return text
  }

  private func client(_ text: String) throws(TextError) -> ScenarioStep.ClientOpening {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let name = words.first, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }),
      name != ScenarioStep.server
    else { throw TextError(column: 1, "Expected a client name of letters and digits.") }
    var (user, other) = (String?.none, String?.none)
    for index in stride(from: 1, to: words.count, by: 2) {
      switch (words[index], words.count > index + 1 ? words[index + 1] : nil) {
      case ("user", let uid?) where user == nil: user = uid
      case ("shares", let client?) where other == nil: other = client
      default:
        throw TextError(
          "Expected \"user\" and a uid, \"shares\" and the client that has the cache, or nothing, after the client's name."
        )
      }
    }
    return ScenarioStep.ClientOpening(user: user, owner: other)
  }

  private func listen(_ text: String) throws(TextError) -> ScenarioStep.ClientAction {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    var options = ListenerOptions(includeMetadataChanges: false)
    var name: String?
    while words.count > 2 {
      switch (words[words.count - 2], words[words.count - 1]) {
      case ("with", "metadata"): options.includeMetadataChanges = true
      case ("from", "cache"): options.source = .cache
      case ("as", let word): name = word
      default: return .listen(try QueryLine.parse(words.joined(separator: " "), in: database), name: name, options)
      }
      words.removeLast(2)
    }
    if words.count == 2, words[0] == "named" { return .listenNamed(words[1], name: name, options) }
    // The text as typed, for error positions.
    let isWhole = name == nil && !options.includeMetadataChanges && options.source == .default
    return .listen(
      try QueryLine.parse(isWhole ? text : words.joined(separator: " "), in: database), name: name, options)
  }

  private func wait(_ text: String) throws(TextError) -> ScenarioStep.WorldAction {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.starts(with: ["for", "sync"]) else { return .pause(try duration(text, of: text)) }
    let limit = try limit(&words, of: text)
    if words.count > 2 { throw TextError("Expected nothing more after \"wait for sync\".") }
    return .synchronize(within: limit)
  }

  /// Parses and removes `within TIME` at the end of the words.
  func limit(_ words: inout [String], of text: String) throws(TextError) -> Duration {
    guard let index = words.firstIndex(of: "within") else { return ScenarioStep.patience }
    guard index == words.count - 2 else {
      throw TextError("Expected a time after \"within\", such as 500ms or 5s, and nothing more.")
    }
    defer { words.removeLast(2) }
    return try duration(words[index + 1], of: text)
  }

  private func duration(_ word: String, of text: String) throws(TextError) -> Duration {
    do throws(TextError) { return try DurationText.parse(word) } catch {
      throw error.moved(by: text.unicodeScalars.count - word.unicodeScalars.count)
    }
  }

  func key(_ text: String) throws(TextError) -> DocumentKey { try RequestText.key(text) }
}

// Steps that wait for something.

extension ScenarioParser {
  private static let states =
    " or nothing; pending, results, document, no document, online, offline or same; index, scan, cached, not cached, "
    + "estimate, no estimate, streams or no streams"

  func expectation(_ text: String) throws(TextError) -> ScenarioStep.Action {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let limit = try limit(&words, of: text)
    let (first, expectation) = (words.first, words)
    if first == "document" || words.starts(with: ["no", "document"]) {
      return .client(.expectState(try document(words, first == "document"), within: limit))
    }
    if let state = try stateOfCache(words) { return .client(.expectState(state, within: limit)) }
    let listener = EventPattern.taken("on", &words)
    if let first, let listener, ["same", "online", "offline", "pending"].contains(first) {
      throw TextError("\"\(first)\" does not apply to one listener. Remove \"on \(listener)\".")
    }
    switch first {
    case "nothing" where words.count == 1: return .client(.expectNothing(on: listener, within: limit))
    case "same" where words.count == 1: return .world(.expectSame(within: limit))
    case "online" where words.count == 1: return .client(.expectState(.connection(.online), within: limit))
    case "offline" where words.count == 1: return .client(.expectState(.connection(.offline), within: limit))
    case "pending": return .client(.expectState(.pending(try Self.number(words)), within: limit))
    case "results": return .client(.expectState(.results(try Self.number(words), on: listener), within: limit))
    default: break
    }
    let pattern = try EventPattern.parse(expectation, among: EventPattern.Kind.expected, others: Self.states)
    return .client(.expect(pattern, within: limit))
  }

  private static func number(_ words: [String]) throws(TextError) -> Int {
    guard words.count == 2, let number = Int(words[1]), number >= 0 else {
      throw TextError("Expected one whole number after \(words[0]).")
    }
    return number
  }

  /// Parses `document PATH [where CONDITION] [on LISTENER|at server|in cache]`, or `no document PATH …`.
  private func document(_ words: [String], _ exists: Bool) throws(TextError) -> ScenarioState {
    var words = Array(words.dropFirst(exists ? 1 : 2))
    var place = ScenarioState.Place.listener(nil)
    switch words.suffix(2) {
    case ["at", "server"]: place = .server
    case ["in", "cache"]: place = .cache
    default: break
    }
    if place != .listener(nil) { words.removeLast(2) } else { place = .listener(EventPattern.taken("on", &words)) }
    guard let path = words.first else { throw TextError("Expected the path of a document.") }
    let key = try key(path)
    if words.count == 1 { return .document(key, exists: exists, [], at: place) }
    guard words[1] == "where", words.count > 2, exists else {
      throw TextError("Expected \"where\" and a condition, or nothing, after the document's path.")
    }
    let query = Query(path: key.collection)
    let conditions = try ConditionText.parse(words.dropFirst(2).joined(separator: " "), of: query, database: database)
    return .document(key, exists: true, conditions, at: place)
  }
}
