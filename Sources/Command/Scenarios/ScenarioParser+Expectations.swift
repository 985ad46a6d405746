// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

// Steps that wait for something.

extension ScenarioParser {
  private static let events =
    "added, modified, removed, metadata, synced, cached, acknowledged, rejected, failed or nothing; pending, results, "
    + "document, no document, online, offline or same; index, scan, cached, not cached, estimate, no estimate, streams or "
    + "no streams"

  func expectation(_ text: String) throws(TextError) -> ScenarioStep.Action {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let limit = try limit(&words, of: text)
    guard let first = words.first else { throw TextError("Expected what is expected: \(Self.events).") }
    if first == "document" || words.starts(with: ["no", "document"]) {
      return .expectState(try document(words, first == "document"), within: limit)
    }
    if let state = try stateOfCache(words) { return .expectState(state, within: limit) }
    let code = try Self.code(&words)
    let listener = Self.taken("on", &words)
    switch first {
    case "nothing" where words.count == 1: return .expectNothing(on: listener, within: limit)
    case "same" where words.count == 1: return .expectState(.same, within: limit)
    case "online" where words.count == 1: return .expectState(.connection(.online), within: limit)
    case "offline" where words.count == 1: return .expectState(.connection(.offline), within: limit)
    case "pending": return .expectState(.pending(try Self.number(words)), within: limit)
    case "results": return .expectState(.results(try Self.number(words), on: listener), within: limit)
    default: break
    }
    guard let kind = ScenarioEvent.Kind(rawValue: first) else {
      throw TextError("\"\(first)\" is not an event. Expected \(Self.events).")
    }
    guard words.count <= 2, words.count == 1 || ![.synced, .cached, .failed].contains(kind) else {
      throw TextError("Expected one path at most after \(first).")
    }
    if code != nil, kind != .rejected, kind != .failed {
      throw TextError("Only what is rejected or failed has a code.")
    }
    let path = try words.dropFirst().first.map { word throws(TextError) in try key(word).path }
    return .expect(ScenarioEvent.Pattern(kind: kind, path: path, listener: listener, code: code), within: limit)
  }

  /// Takes `with CODE` from the end of words.
  private static func code(_ words: inout [String]) throws(TextError) -> StatusCode? {
    guard let name = taken("with", &words) else { return nil }
    guard let code = StatusCode.allCases.first(where: { $0.name == name }), code != .ok else {
      throw TextError("\"\(name)\" is no code of an error, such as permission-denied.")
    }
    return code
  }

  /// Takes a word and the one behind it out of words.
  private static func taken(_ word: String, _ words: inout [String]) -> String? {
    guard let index = words.lastIndex(of: word), index > 0, index == words.count - 2 else { return nil }
    defer { words.removeLast(2) }
    return words[index + 1]
  }

  private static func number(_ words: [String]) throws(TextError) -> Int {
    guard words.count == 2, let number = Int(words[1]), number >= 0 else {
      throw TextError("Expected one whole number after \(words[0]).")
    }
    return number
  }

  /// Reads `document PATH [where CONDITION] [on LISTENER|at server|in cache]`, or `no document PATH …`.
  private func document(_ words: [String], _ exists: Bool) throws(TextError) -> ScenarioState {
    var words = Array(words.dropFirst(exists ? 1 : 2))
    var place = ScenarioState.Place.listener(nil)
    switch words.suffix(2) {
    case ["at", "server"]: place = .server
    case ["in", "cache"]: place = .cache
    default: break
    }
    if place != .listener(nil) { words.removeLast(2) } else { place = .listener(Self.taken("on", &words)) }
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
