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

/// A command that is typed in a dashboard without a screen.
package enum PlainWord: Sendable {
  case request(TypedRequest)
  case listen(Query)
  /// Stop the listener with this name.
  case stop(String)
  /// Report a part of the dashboard's contents, as text or JSON.
  case tell(PlainSubject, asJSON: Bool)
  /// Open a document, and report the contents of its pane.
  case document(DocumentKey, asJSON: Bool)
  /// Report each later request on which the security rules decide.
  case followRequests(asJSON: Bool)
  case expect(EventPattern, within: Duration)
  /// Expect that no document changes and that no write is acknowledged or rejected.
  case expectNothing(within: Duration)
  case help
  case quit

  /// Whether a read-only session rejects the command.
  var writes: Bool { if case .request(let typed) = self { typed.writes } else { false } }
}

/// A part of the dashboard that a session without a screen can report.
package enum PlainSubject: String, CaseIterable, Hashable, Sendable {
  /// The pending writes, the rejected writes, and the writes that the user set aside.
  case queue
  case network, listeners
  /// The stored rows of the feed.
  case feed
  /// Targets, streams, the cache, and query durations.
  case inside
  /// The root collections, with their document counts.
  case collections
  /// The requests on which the server's security rules decided.
  case requests
}

/// The events that no command has consumed, oldest first. If there are more than `limit`, only the newest are stored.
struct PlainEvents: Sendable {
  static let limit = 10_000

  private(set) var unread: [ObservedEvent] = []

  mutating func note(_ events: [ObservedEvent]) {
    unread += events
    if unread.count > Self.limit { unread.removeFirst(unread.count - Self.limit) }
  }

  /// Consumes the first matching event and all events before it.
  /// - Returns: whether an event matches.
  mutating func take(_ pattern: EventPattern) -> Bool {
    guard let place = unread.firstIndex(where: pattern.matches) else { return false }
    unread.removeFirst(place + 1)
    return true
  }

  /// Consumes all events.
  /// - Returns: the first event that changes a document, acknowledges or rejects a write, or ends a listener.
  mutating func takeSurprise() -> ObservedEvent? {
    defer { unread = [] }
    return unread.first { !$0.isState && $0.kind != .metadata }
  }
}

/// Parses a line that is typed in `hearth plain`: a step of a scenario, or a command that only `hearth plain` has.
package struct PlainWordParser: Sendable {
  private let database: DatabaseID

  package init(database: DatabaseID) { self.database = database }

  /// - Returns: `nil` for an empty line or a comment.
  /// - Throws: the reason why the line is invalid, in one sentence.
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
        .usage, "'\(words[0])' with these words works only in scenarios ('hearth play').")
    }
    return word
  }

  /// The command that is equivalent to a scenario step; `nil` for steps that only scenarios have.
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

  /// Parses `document PATH`, which may end with `--json`. A document id may contain blanks.
  private static func document(_ line: String) throws(CommandFailure) -> PlainWord {
    var path = line.dropFirst("document".count).trimming()
    let asJSON = path == "--json" || path.hasSuffix(" --json")
    if asJSON { path = path.dropLast("--json".count).trimming() }
    if path.isEmpty { throw CommandFailure(.usage, "document needs a path, as in document cities/SF.") }
    return .document(try DataPath.document(String(path)), asJSON: asJSON)
  }

  private func steps(_ line: String) throws(CommandFailure) -> [ScenarioStep] {
    do throws(CommandFailure) {
      return try ScenarioParser(database: database).steps(line, of: "words")
    } catch {
      let reason = error.message.replacing("words, line 1, ", with: "").replacing("words, line 1: ", with: "")
      let isUnknown = reason.contains("is not a step")
      throw CommandFailure(
        .usage, isUnknown ? "\(line.split(separator: " ").first ?? "") is not a command; help lists them." : reason)
    }
  }
}
