// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
package import CommandOutput
import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
import FirestoreText
import Scenarios

/// A line that a user types to a dashboard without a screen.
package enum PlainWord: Sendable {
  case request(TypedRequest)
  case listen(Query)
  /// End the listener of this name.
  case stop(String)
  /// Tell a part of what the dashboard shows, in words or as JSON.
  case tell(PlainSubject, asJSON: Bool)
  /// Open a document, and tell what its pane shows.
  case document(DocumentKey, asJSON: Bool)
  /// Tell each further request that the server's rules decide on.
  case followRequests(asJSON: Bool)
  case expect(EventPattern, within: Duration)
  /// No document may change and no write be answered.
  case expectNothing(within: Duration)
  case help
  case quit

  /// Whether a session that may not write refuses it.
  var writes: Bool { if case .request(let typed) = self { typed.writes } else { false } }
}

/// A part of the dashboard that a session without a screen can tell.
package enum PlainSubject: String, CaseIterable, Hashable, Sendable {
  /// The writes that wait, were refused, or were set aside.
  case queue
  case network, listeners
  /// The rows of the feed, as far as they are kept.
  case feed
  /// Targets, streams, the cache, and the times of queries.
  case inside
  /// The collections at the root, with the numbers of their documents.
  case collections
  /// The requests that the server's rules decided on.
  case requests
}

/// The events that were not yet expected, oldest first; of more than `limit` the newest.
struct PlainEvents: Sendable {
  static let limit = 10_000

  private(set) var unread: [ObservedEvent] = []

  mutating func note(_ events: [ObservedEvent]) {
    unread += events
    if unread.count > Self.limit { unread.removeFirst(unread.count - Self.limit) }
  }

  /// Takes the first event that matches, and those before it.
  /// - Returns: whether there is one.
  mutating func take(_ pattern: EventPattern) -> Bool {
    guard let place = unread.firstIndex(where: pattern.matches) else { return false }
    unread.removeFirst(place + 1)
    return true
  }

  /// Takes all events.
  /// - Returns: the first one that changes a document or answers a write, or is the end of a listener.
  mutating func takeSurprise() -> ObservedEvent? {
    defer { unread = [] }
    return unread.first { !$0.isState && $0.kind != .metadata }
  }
}

/// Reads a line that is typed to `hearth plain`: a step of a scenario, or a word of its own.
package struct PlainWordParser: Sendable {
  private let database: DatabaseID

  package init(database: DatabaseID) { self.database = database }

  /// - Returns: `nil` for an empty line and a comment.
  /// - Throws: the reason why the line is neither, in one sentence.
  package func word(_ line: String) throws(CommandFailure) -> PlainWord? {
    let line = String(line.trimming())
    if line.isEmpty || line.hasPrefix("#") { return nil }
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    if words.count == 1, let own = Self.own(words[0]) { return own }
    if let subject = PlainSubject(rawValue: words[0]), words.dropFirst() == [] || words.dropFirst() == ["--json"] {
      return .tell(subject, asJSON: words.count == 2)
    }
    switch (words[0], words.count) {
    case ("follow", 2) where words[1] == "requests": return .followRequests(asJSON: false)
    case ("follow", 3) where words[1...] == ["requests", "--json"]: return .followRequests(asJSON: true)
    case ("document", _): return try Self.document(line)
    case ("stop", 2...): return .stop(words.dropFirst().joined(separator: " "))
    default: break
    }
    let (verb, rest) = RequestText.firstWord(line)
    do throws(TextError) {
      if let typed = try RequestText(in: database).read(verb, rest) { return .request(typed) }
    } catch {
      let place = error.column == nil ? error : error.moved(by: line.unicodeScalars.count - rest.unicodeScalars.count)
      throw CommandFailure(.usage, "\(place)")
    }
    guard let step = try steps(line).first else { return nil }
    guard step.client == nil, case .client(let action) = step.action, let word = Self.word(action) else {
      throw CommandFailure(
        .usage, "\(words[0]) … is a step of scenarios ('hearth play') in this form, and no word here.")
    }
    return word
  }

  /// The word that does what a step does; `nil` for steps that scenarios alone have.
  private static func word(_ action: ScenarioStep.ClientAction) -> PlainWord? {
    switch action {
    case .request(let typed): .request(typed)
    case .listen(let query, nil, ListenerOptions()): .listen(query)
    case .expect(let pattern, let limit): .expect(pattern, within: limit)
    case .expectNothing(nil, let limit): .expectNothing(within: limit)
    default: nil
    }
  }

  private static func own(_ word: String) -> PlainWord? {
    switch word {
    case "help": .help
    case "quit": .quit
    default: nil
    }
  }

  /// Reads `document PATH`, and `--json` behind it; an id may have blanks.
  private static func document(_ line: String) throws(CommandFailure) -> PlainWord {
    var path = line.dropFirst("document".count).trimming()
    let asJSON = path == "--json" || path.hasSuffix(" --json")
    if asJSON { path = path.dropLast("--json".count).trimming() }
    if path.isEmpty { throw CommandFailure(.usage, "document needs the path of one, as in document cities/SF.") }
    return .document(try DataPath.document(String(path)), asJSON: asJSON)
  }

  private func steps(_ line: String) throws(CommandFailure) -> [ScenarioStep] {
    do throws(CommandFailure) {
      return try ScenarioParser(database: database).steps(line, of: "words")
    } catch {
      let reason = error.message.replacing("words, line 1, ", with: "").replacing("words, line 1: ", with: "")
      let isUnknown = reason.contains("is not a step")
      throw CommandFailure(
        .usage, isUnknown ? "\(line.split(separator: " ").first ?? "") is no word here; help tells them." : reason)
    }
  }
}
