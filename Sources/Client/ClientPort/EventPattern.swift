// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import FirestoreText

/// A pattern for an event. Scenarios, `hearth plain`, every `--until` and HearthTesting use it to wait for events.
///
/// The text is `KIND [PATH] [on LISTENER] [with CODE]`: `added cities/SF on rows`, `rejected with permission-denied`.
package struct EventPattern: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A document of a listener's result was added, modified or removed.
    case added, modified, removed
    /// Only the metadata of a document changed (`metadata`).
    case metadata
    /// A listener's result is now in sync with the server (`synced`) or from the cache (`cached`).
    case synced, cached
    /// The outcome of a write (`acknowledged` or `rejected`).
    case acknowledged, rejected
    /// The end of a listener with an error (`failed`).
    case failed
    /// The types of all other lines that `hearth attach --json` prints.
    case snapshot, cancelled, pending, indexes, retentions, reads, status, faults, storage, traffic
    case listenerStarted = "listener-started"
    case listenerStopped = "listener-stopped"
    case listenerFailed = "listener-failed"
    case snapshotsMissed = "snapshots-missed"
    case outcomesMissed = "outcomes-missed"
    case rejectedWrites = "rejected-writes"
    case rejectedWritesForgotten = "rejected-writes-forgotten"

    /// The kinds that a scenario's expectation accepts.
    package static let expected: [Kind] = watched + [.cached, .acknowledged, .rejected, .failed]
    /// The kinds that `hearth watch` prints.
    package static let watched: [Kind] = [.added, .modified, .removed, .metadata, .synced]
    /// The types of the lines of `hearth attach --json`.
    package static let lines: [Kind] = [
      .listenerStarted, .snapshot, .listenerStopped, .listenerFailed, .snapshotsMissed, .acknowledged, .rejected,
      .cancelled, .outcomesMissed, .pending, .rejectedWrites, .rejectedWritesForgotten, .indexes, .retentions, .reads,
      .status, .faults, .storage, .traffic,
    ]

    package init(_ kind: DocumentChange.Kind) {
      self =
        switch kind {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        case .metadata: .metadata
        }
    }

    fileprivate var hasPath: Bool { Self.expected.contains(self) && ![.synced, .cached, .failed].contains(self) }
    fileprivate var hasCode: Bool { self == .rejected || self == .failed }
  }

  package var kind: Kind
  /// The path of the document; `nil` for any document.
  package var path: ResourcePath?
  /// The name of the listener; `nil` for any listener.
  package var listener: String?
  /// The error code; `nil` for any code.
  package var code: StatusCode?

  package init(_ kind: Kind, path: ResourcePath? = nil, on listener: String? = nil, with code: StatusCode? = nil) {
    (self.kind, self.path, self.listener, self.code) = (kind, path, listener, code)
  }

  package func matches(_ event: ObservedEvent) -> Bool {
    kind == event.kind && (path.map { event.paths.contains($0) } ?? true)
      && (listener == nil || listener == event.listener) && (code == nil || code == event.code)
  }
}

/// One event of a client, reduced to the parts that a pattern can match.
package struct ObservedEvent: Hashable, Sendable {
  package var kind: EventPattern.Kind
  /// The path of the document, or the paths that a write changes. Empty if the paths are unknown or the event has no
  /// document.
  package var paths: [ResourcePath]
  /// The name of the listener; `nil` for writes and unnamed listeners.
  package var listener: String?
  /// The code of a rejection or failure.
  package var code: StatusCode?

  package init(
    _ kind: EventPattern.Kind, _ paths: [ResourcePath] = [], on listener: String? = nil, with code: StatusCode? = nil
  ) {
    (self.kind, self.paths, self.listener, self.code) = (kind, paths, listener, code)
  }

  /// Whether the event reports only that a result is now in sync or from the cache.
  package var isState: Bool { kind == .synced || kind == .cached }

  /// Creates the event for the outcome of a write.
  /// - Parameter rejection: the backend's error; `nil` for an acknowledgement.
  package init(answerTo paths: [ResourcePath], _ rejection: RPCStatus?) {
    self.init(rejection == nil ? .acknowledged : .rejected, paths, with: rejection?.code)
  }

  /// Creates the event for the outcome of a write. The event contains the first documents of the write.
  package init(_ outcome: WriteOutcome) {
    self.init(answerTo: outcome.documents?.first.map(\.key.path) ?? [], outcome.rejection)
  }
}

extension ClientEvent {
  /// The events that a pattern can match, in the order in which they occurred.
  /// - Parameters:
  ///   - name: returns the name of a listener.
  ///   - documents: returns the documents that a batch wrote, if known.
  package func observed(
    _ name: (ListenerTag) -> String?, documents: (BatchID) -> [DocumentKey]?
  ) -> [ObservedEvent] {
    switch self {
    case .snapshot(let snapshot):
      let listener = name(snapshot.listener)
      return snapshot.changes.map { ObservedEvent(.init($0.kind), [$0.document.key.path], on: listener) }
        + [ObservedEvent(snapshot.isFromCache ? .cached : .synced, on: listener)]
    case .listenerFailed(let tag, let status): return [ObservedEvent(.failed, on: name(tag), with: status.code)]
    case .writeAcknowledged(let batch, _, let written):
      return [ObservedEvent(answerTo: (documents(batch) ?? written?.first.map(\.key) ?? []).map(\.path), nil)]
    case .writeRejected(let batch, let status):
      return [ObservedEvent(answerTo: (documents(batch) ?? []).map(\.path), status)]
    default: return []
    }
  }
}

// Text of patterns.

extension EventPattern {
  /// Parses a pattern.
  /// - Parameters:
  ///   - kinds: the kinds of events that can occur.
  ///   - others: other valid expectations, which the error message lists.
  package static func parse(
    _ words: [String], among kinds: [Kind], others: String = ""
  ) throws(TextError) -> EventPattern {
    var words = words
    let code = try takenCode(&words)
    let listener = taken("on", &words)
    guard let first = words.first, let kind = kinds.first(where: { $0.rawValue == first }) else {
      let wrong = words.first.map { "\"\($0)\" is not an event. " } ?? ""
      throw TextError("\(wrong)Expected \(kinds.map(\.rawValue).joined(separator: ", "))\(others).")
    }
    guard words.count <= (kind.hasPath ? 2 : 1) else {
      throw TextError("Expected \(kind.hasPath ? "one path at most" : "nothing") after \(first).")
    }
    if code != nil, !kind.hasCode { throw TextError("Only \"rejected\" and \"failed\" have a code.") }
    do throws(ModelError) {
      let path = try words.dropFirst().first.map { word throws(ModelError) in try DocumentKey(validating: word).path }
      return EventPattern(kind, path: path, on: listener, with: code)
    } catch { throw TextError(error.message) }
  }

  /// Removes `with CODE` from the end of the words, and returns the code.
  private static func takenCode(_ words: inout [String]) throws(TextError) -> StatusCode? {
    guard let name = taken("with", &words) else { return nil }
    guard let code = StatusCode.allCases.first(where: { $0.name == name }), code != .ok else {
      throw TextError("\"\(name)\" is not an error code. Use an error code such as permission-denied.")
    }
    return code
  }

  /// Removes the keyword `word` and its argument from the end of the words, and returns the argument.
  package static func taken(_ word: String, _ words: inout [String]) -> String? {
    guard let index = words.lastIndex(of: word), index > 0, index == words.count - 2 else { return nil }
    defer { words.removeLast(2) }
    return words[index + 1]
  }
}

extension EventPattern: CustomStringConvertible {
  package var description: String { ObservedEvent(kind, path.map { [$0] } ?? [], on: listener, with: code).description }
}

extension ObservedEvent: CustomStringConvertible {
  package var description: String {
    ([kind.rawValue] + paths.map(\.text)
      + [listener.map { "on \($0)" }, code.map { "with \($0.name)" }].compactMap(\.self))
      .joined(separator: " ")
  }
}

/// The `--until` condition of a command that prints events: when to stop.
package enum EventGoal: Hashable, Sendable {
  /// Stops after a number of printed lines.
  case count(Int)
  /// Stops after the first event that matches the pattern.
  case event(EventPattern)

  /// Parses a number or a pattern.
  package static func parse(_ text: String, among kinds: [EventPattern.Kind]) throws(TextError) -> EventGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let pattern = try EventPattern.parse(words, among: kinds, others: " or a number of at least 1")
    if pattern.listener != nil {
      throw TextError("Remove \"on\" and the name: this condition applies to the events of all listeners.")
    }
    return .event(pattern)
  }

  /// - Parameter number: the number of the line that was printed for the event; `nil` if no line was printed.
  package func isReached(by event: ObservedEvent, number: Int? = nil) -> Bool {
    switch self {
    case .count(let count): number.map { $0 >= count } ?? false
    case .event(let pattern): pattern.matches(event)
    }
  }
}
