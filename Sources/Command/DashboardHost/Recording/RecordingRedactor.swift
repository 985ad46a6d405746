// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
package import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
package import Foundation
import Spelling
import Synchronization
import TerminalCanvas

/// Removes values from the actions of one recording. Pass the actions in order.
///
/// Recorded keys can be part of a typed value, so each typed character is replaced by `x`. If the original text had an
/// effect, such as a new listener, additional actions cause the same effect. So the redacted recording still shows the
/// same panes.
package final class RecordingRedactor: Sendable {
  private struct States {
    /// The state after the original actions.
    @Boxed var original: DashboardState
    /// The state after the redacted actions.
    @Boxed var redacted: DashboardState
  }

  package let header: RecordingHeader
  fileprivate let redaction: Redaction
  private let states: Mutex<States>

  package init(_ redaction: Redaction, _ header: RecordingHeader) {
    self.redaction = redaction
    var redacted = header
    redacted.redacted = Array(Set(redaction.names + (header.redacted ?? []))).sorted()
    if redaction.isAll, let user = header.configuration.backend.user {
      redacted.configuration.backend.user = redaction.hidden(user, "user")
    }
    self.header = redacted
    states = Mutex(States(original: header.initialState, redacted: redacted.initialState))
  }

  /// The actions that replace an action. If no valid replacement exists, the action is dropped.
  package func redacted(_ action: Action) -> [Action] {
    states.withLock { states in
      let replacement = try? replacement(of: action, states)
      _ = update(&states.original, action)
      if let replacement { _ = update(&states.redacted, replacement) }
      return (replacement.map { [$0] } ?? []) + corrections(at: action.time, &states)
    }
  }

  private func replacement(of action: Action, _ states: States) throws(JSONError) -> Action {
    switch action {
    case .input(let event, let time): .input(input(event, states.original), at: time)
    case .client(let event, let time): .client(try client(event, states), at: time)
    case .caption(let text, let time): .caption(redaction.isAll && !text.isEmpty ? "x" : text, at: time)
    // The text after a command's name may be a value.
    case .run(let text, let time): .run(text.contains(" ") ? "" : text, at: time)
    case .tick, .link, .sent, .listen, .open, .adopt, .configured, .overwrote, .clientSet, .host:
      try redaction.redacted(action)
    }
  }

  private func input(_ event: InputEvent, _ state: DashboardState) -> InputEvent {
    guard let typed = state.typedText, typed == .content || redaction.isAll || redaction.hidesIDs else { return event }
    switch event {
    case .key(let key) where key.typedCharacter != nil: return .key(.character("x"))
    case .paste(let text): return .paste(String(repeating: "x", count: text.count))
    case .key, .mouse, .focus, .resize, .reply: return event
    }
  }

  private func client(_ event: ClientEvent, _ states: States) throws(JSONError) -> ClientEvent {
    let redacted = try redaction.redacted(event)
    // The redacted text may have opened windows with different tags.
    func window(_ tag: WindowTag) -> WindowTag {
      guard let path = states.original.path(of: tag) else { return tag }
      return states.redacted.window(of: redaction.path(path)) ?? tag
    }
    switch redacted {
    case .windowLoaded(let tag, let documents, let isFromCache, let total):
      return .windowLoaded(window(tag), documents, isFromCache: isFromCache, total: total)
    case .windowFailed(let tag, let status): return .windowFailed(window(tag), status)
    case .located(let tag, let key, let count): return .located(window(tag), key, cachedCount: count)
    default: return redacted
    }
  }

  /// The actions that cause those effects of the original text that the redacted text does not cause.
  private func corrections(at time: Timestamp, _ states: inout States) -> [Action] {
    var corrections: [Action] = []
    func correct(_ action: Action) {
      corrections.append(action)
      _ = update(&states.redacted, action)
    }
    for _ in 0..<3 where states.redacted.hasOverlay && !states.original.hasOverlay {
      correct(.input(.key(Key(.escape)), at: time))
    }
    guard let wanted = try? redaction.redacted(states.original.listeners) else { return corrections }
    let there = states.redacted.listeners
    if wanted.map(\.tag) != there.map(\.tag) || wanted.map(\.query) != there.map(\.query) {
      correct(.adopt(wanted, at: time))
    }
    return corrections
  }
}

extension RecordingRedactor {
  /// The recorded line for a message, without the removed values and including the line break.
  package func line(of event: ProtocolEvent) -> Data {
    RecordingLine.data(RecordedMessage(event: event), redaction: redaction)
  }
}

extension RedactionSummary {
  /// Describes which values are removed.
  package var text: String {
    let hidden = found.hidden.sorted()
    if hidden.isEmpty { return "no field values had to be removed." }
    let more = hidden.count > 12 ? " and \(hidden.count - 12) more" : ""
    return "the values of \(hidden.prefix(12).joined(separator: ", "))\(more) were removed."
  }

  /// - Parameter wanted: the fields whose values were to be removed.
  /// - Throws: if the recording does not contain a field. Its name may be mistyped, and the value would remain in the
  ///   recording.
  package func check(_ wanted: [String]) throws(CommandFailure) {
    let met = found.met
    for name in wanted where name != "*" && !met.contains(name) {
      let hint = NearestName.suggestion(for: name, among: met).map { " Did you mean \($0)?" } ?? ""
      throw CommandFailure(.badData, "the recording has no field \(name). Nothing was written.\(hint)")
    }
  }
}
