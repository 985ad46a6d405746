// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Another program, or a scenario that is being played. The dashboard shows its client.
package struct AttachedProgram: Hashable, Sendable {
  package var process: Int32
  /// The number of the client in its process, starting at 2; `nil` for the first client.
  package var client: Int?
  package var name: String
  /// Whether the dashboard may control the program's client.
  package var allowsControl: Bool
  /// Whether this is a scenario of this process; `nil` for another program.
  package internal(set) var isScenario: Bool?

  package init(process: Int32, client: Int = 1, name: String, allowsControl: Bool) {
    self.process = process
    self.client = client > 1 ? client : nil
    self.name = SafeText.truncated(SafeText.sanitized(name), to: 24, ellipsis: "~")
    self.allowsControl = allowsControl
  }

  /// The name with the process number: `shop 4711`.
  package var title: String { isOfScenario ? name : "\(name) \(number)" }

  /// The number for `hearth attach`: `4711`, or `4711-2` for the second client of the process.
  package var number: String { client.map { "\(process)-\($0)" } ?? "\(process)" }

  // MARK: Refusals with another program's client

  var documentsReason: String { reason("only \(owner) writes its documents") }
  var listenersReason: String { reason("the listeners belong to \(owner)") }
  var indexesReason: String { reason("the indexes belong to \(owner)") }
  var cacheReason: String { reason("the cache belongs to \(owner)") }
  var asideReason: String { reason("\(owner) manages its own writes; x cancels one") }
  var transferReason: String { reason("only \(owner) can use the backend") }
  var controlReason: String {
    isOfScenario
      ? reason("only the steps of the scenario change network and faults")
      : "attached read-only: use hearth attach --control to change it"
  }
  var recordingReason: String { reason("a scenario is a file, so it needs no recording; cast FILE records the screen") }

  /// The text that names the program in rejections and in the feed's remarks.
  var owner: String { isOfScenario ? "the scenario" : name }
  private func reason(_ text: String) -> String { (isOfScenario ? "scenario: " : "attached: ") + text }
}

extension AttachedProgram {
  /// The names of commands for listeners, indexes and files.
  private static let listenerCommands: Set = [
    "listen", "query", "new", "open-listeners", "duplicate", "stop", "open-file",
  ]
  private static let transferCommands: Set = ["export", "export-all", "bundle", "freeze", "transfer"]
  private static let controls: Set = [
    "toggle-network", "restart-stream", "offline", "latency", "faults", "fault", "calm", "retry", "cancel-write",
    "drop-rejected",
  ]

  /// The reason why a command is unavailable here; `nil` if it is available.
  func reason(against command: Command, _ state: DashboardState) -> String? {
    if Self.controls.contains(command.name) {
      if !allowsControl { return controlReason }
      return state.attachment.end.map { "nothing can be changed anymore: \($0)" }
    }
    let editsListener =
      command.name == "accept" && command.context == .overlay(.listener) || command.name == "edit-listener"
    if editsListener || Self.listenerCommands.contains(command.name) { return listenersReason }
    if command.name == "make-index" { return indexesReason }
    if ["pin", "evict", "purge", "lifetime", "end-retention"].contains(command.name) { return cacheReason }
    if command.name == "set-aside" { return asideReason }
    if isOfScenario, command.name == "record" { return recordingReason }
    if Self.transferCommands.contains(command.name) { return transferReason }
    return command.writes ? documentsReason : nil
  }
}

extension DashboardState {
  /// Returns the effects that are allowed on another program's client. A message reports the dropped effects. Usually
  /// the command itself is already rejected, with the same reason. This function catches the effects of commands that
  /// do not check this.
  mutating func permitted(_ effects: [Effect], by program: AttachedProgram) -> [Effect] {
    var refusal: String?
    let allowed = effects.filter { effect in
      guard let reason = effect.reason(attachedTo: program) else { return true }
      refusal = reason
      return false
    }
    if let refusal { toast(.info, refusal) }
    return allowed
  }
}

extension Effect {
  fileprivate func reason(attachedTo program: AttachedProgram) -> String? {
    switch self {
    case .client(let effect): effect.reason(attachedTo: program)
    case .terminal(.edit): program.documentsReason
    case .terminal(.openListeners): program.listenersReason
    case .recording(let effect): program.isOfScenario && effect.keepsSession ? program.recordingReason : nil
    case .terminal, .timeline, .clientSet: nil
    }
  }
}

extension RecordingEffect {
  /// Whether the effect saves a recording of the client's session, not of the screen.
  fileprivate var keepsSession: Bool {
    switch self {
    case .start, .shot(_, without: .some): true
    case .shot(let file, without: nil): file.lowercased().hasSuffix(".cast")
    case .stop, .startCast, .stopCast, .mark: false
    }
  }
}

extension ClientRequest {
  fileprivate func reason(attachedTo program: AttachedProgram) -> String? {
    switch subject {
    case .view: nil
    case .listeners: program.listenersReason
    case .connection: program.allowsControl ? nil : program.controlReason
    case .documents: program.documentsReason
    case .indexes: program.indexesReason
    case .transfers: program.transferReason
    case .cache: program.cacheReason
    case .rejectedWrites: program.asideReason
    }
  }
}

/// The events of the program whose client is shown.
extension DashboardState {
  /// Whether the attached program's client has a listener that keeps the documents of a collection window current. The
  /// dashboard reads these documents from that client's cache.
  func isHeard(_ tag: WindowTag) -> Bool {
    guard configuration.attached != nil, !network.isOffline, let path = browser.path(of: tag) else { return false }
    return listeners.contains { $0.count != nil && $0.isExact(whileOffline: false) && $0.query.path == path }
  }

  /// Adds a listener of the program with its current result.
  mutating func receive(started listener: ListenerState) {
    let tag = ListenerTag(listener.id)
    let name = [listener.client, ListenerRecord.defaultName(for: listener.query)].compactMap(\.self)
    listening.adopt(
      ListenerDefinition(
        name: name.joined(separator: " "), query: listener.query, options: listener.options), as: tag)
    if listener.result.count != nil { listening.note(listener.result, of: tag) }
  }

  /// Removes a listener that the program has stopped. The listener's rows remain in the feed.
  mutating func receive(stopped tag: ListenerTag) {
    guard let removed = listening.remove(tag) else { return }
    if feed.onlyListener == tag { feed.onlyListener = nil }
    wall.forget(tag)
    noteReconnection { $0.forget(tag) }
    let who = configuration.attached?.owner ?? "the program"
    var row = FeedRow(time: now, kind: .synced, listener: tag, listenerName: removed.name, summary: "")
    row.summary = "\(who) stopped listening"
    row.isLocal = true
    feed.append(row)
  }

  /// Replaces the results of listeners after some snapshots were not reported.
  mutating func receive(missed count: Int, _ results: [ListenerTag: ListenerState.Result]) {
    for (tag, result) in results { listening.note(result, of: tag) }
    guard count > 0 else { return }
    attachment.miss(count)
    let what = "\(grouped(count)) snapshot\(count == 1 ? "" : "s")"
    feed.append(
      FeedRow(time: now, kind: .divider, summary: "missed \(what): \(configuration.attached?.name ?? "it") was busy"))
    feed.countEvents(count, at: now)
  }

  /// Ends the attachment. The screen can still be viewed.
  mutating func endAttachment(_ reason: String) {
    guard attachment.end(because: reason) else { return }
    feed.append(FeedRow(time: now, kind: .divider, summary: reason))
    toast(.error, "\(reason). The screen shows the last known state; q quits.")
  }
}
