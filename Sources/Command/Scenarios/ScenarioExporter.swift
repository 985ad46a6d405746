// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Writes a draft as a scenario. The clients' requests become steps, and so do the writes that other clients must have
/// made. The clients' events become expectations. Comments describe what the recording does not contain.
package struct ScenarioExporter {
  package struct Written: Sendable {
    /// The text of the scenario.
    package var text: String
    /// Descriptions of what the recording does not contain, in the order of their comments.
    package var gaps: [String]
  }

  private struct Listening {
    var name: String
    /// Whether the listener has received a snapshot.
    var hasBegun = false
    var isFromCache = true
  }

  private struct Client {
    var listeners: [Int: Listening] = [:]
    var names: Set<String> = []
    /// The writes whose outcome has not occurred yet, oldest first.
    var waiting: [(id: Int, mutations: [Mutation])] = []
    var isOnline = true
  }

  private let draft: ScenarioDraft
  private let words: StepText
  private var lines: [String] = []
  private var gaps: [String] = []
  private var clients: [String: Client] = [:]
  /// The documents that clients wrote, as long as no snapshot from the server contains them.
  private var own: Set<DocumentKey> = []
  /// The documents that are known to be on the scenario's server at this point.
  private var server: [DocumentKey: Fields] = [:]
  /// The documents that are known from the recording, although no listener reported them.
  private var seen: [DocumentKey: Fields] = [:]
  /// The time of the previous action.
  private var time: Timestamp?

  private init(_ draft: ScenarioDraft) {
    self.draft = draft
    words = StepText(database: draft.database)
  }

  package static func write(_ draft: ScenarioDraft) -> Written {
    var writer = ScenarioExporter(draft)
    writer.write()
    return Written(text: writer.lines.joined(separator: "\n") + "\n", gaps: writer.gaps)
  }

  private mutating func write() {
    lines.append("# \(Self.oneLine(draft.summary))")
    for client in draft.clients {
      lines.append("client \(client.name)" + (client.user.map { " user \($0)" } ?? ""))
    }
    for (index, moment) in draft.moments.enumerated() { write(moment, index) }
    end()
  }

  private mutating func write(_ moment: ScenarioDraft.Moment, _ index: Int) {
    let name = moment.client ?? ""
    switch moment.event {
    case .listen(let tag, let listener, let query, let options):
      prepare(tag, moment.client, after: index)
      listen(tag, listener, query, options, moment, index)
    case .stop(let tag):
      guard let listener = clients[name]?.listeners.removeValue(forKey: tag) else { return }
      act("stop \(listener.name)", moment)
    case .network(let isOn):
      if clients[name, default: Client()].isOnline == isOn { return }
      clients[name, default: Client()].isOnline = isOn
      act(isOn ? "online" : "offline", moment)
    case .fault(let change):
      if let step = words.step(change) { act(step, moment) } else { remark("a fault: \(FaultText.words(of: change))") }
    case .write(let id, let mutations): write(id, mutations, moment, index)
    case .answer(let id, let code): answer(id, code, moment)
    case .snapshot(let snapshot): tell(snapshot, moment)
    case .listenerFailed(let tag, let code):
      guard let listener = clients[name]?.listeners.removeValue(forKey: tag) else { return }
      expect("failed on \(listener.name) with \(code.name)", moment)
    case .seen(let key, let fields): seen[key] = fields
    case .gap(let text): remark(text)
    }
  }

  // MARK: Lines

  private mutating func remark(_ text: String) {
    let text = Self.oneLine(text)
    lines.append("# not recorded: \(text)")
    gaps.append(text)
  }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// Adds an action. If time has passed since the previous action, a pause precedes it.
  private mutating func act(_ step: String, _ moment: ScenarioDraft.Moment, by owner: String? = nil) {
    if let time, let pause = Self.pause(from: time, to: moment.time) { lines.append("wait \(pause)") }
    time = max(moment.time, time ?? moment.time)
    add(step, owner ?? moment.client)
  }

  private static func pause(from start: Timestamp, to end: Timestamp) -> String? {
    let gap = Duration.microseconds(end.microseconds - start.microseconds)
    return gap < .milliseconds(10) ? nil : StepText.text(of: gap)
  }

  private mutating func expect(_ what: String, _ moment: ScenarioDraft.Moment) { add("expect \(what)", moment.client) }

  private mutating func add(_ step: String, _ owner: String?) { lines.append((owner.map { "\($0): " } ?? "") + step) }

  // MARK: Listeners

  /// Adds steps that write the documents of a listener's first snapshot in sync. The documents are written at the
  /// server before the listener starts.
  private mutating func prepare(_ tag: Int, _ client: String?, after index: Int) {
    for moment in draft.moments[index...] where moment.client == client {
      if case .stop(tag: tag) = moment.event { return }
      guard case .snapshot(let snapshot) = moment.event, snapshot.listener.rawValue == tag else { continue }
      for change in snapshot.changes where change.kind != .removed && !change.hasOwnWrite && !own.contains(change.key) {
        guard let fields = change.fields, !isWrittenBefore(change.key, index) else { continue }
        put(change.key, fields, draft.moments[index])
      }
      if !snapshot.isFromCache { return }
    }
  }

  private func isWrittenBefore(_ key: DocumentKey, _ index: Int) -> Bool {
    draft.moments[..<index].contains { moment in
      guard case .write(_, let mutations) = moment.event else { return false }
      return mutations.contains { $0.key == key }
    }
  }

  /// Adds a step that writes a document at the server, unless the server already has the same document.
  private mutating func put(_ key: DocumentKey, _ fields: Fields, _ moment: ScenarioDraft.Moment) {
    if server[key] == fields { return }
    server[key] = fields
    act(words.replacement(key, fields), moment, by: ScenarioStep.server)
  }

  private mutating func listen(
    _ tag: Int, _ name: String, _ query: FirestoreQuery.Query, _ options: ListenerOptions,
    _ moment: ScenarioDraft.Moment,
    _ index: Int
  ) {
    guard let text = words.text(of: query) else {
      return remark("a listener of \(query.path.text) with a query that no step can express; its events are left out")
    }
    var plain = String(name.map { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : "-" })
    if plain.isEmpty { plain = "listener" }
    let names = clients[moment.client ?? "", default: Client()].names
    var unique = plain
    var number = 2
    while names.contains(unique) {
      unique = "\(plain)-\(number)"
      number += 1
    }
    clients[moment.client ?? "", default: Client()].names.insert(unique)
    clients[moment.client ?? "", default: Client()].listeners[tag] = Listening(name: unique)
    if let code = refusal(of: tag, moment.client, after: index) { act("fault next listen \(code.name)", moment) }
    act(
      "listen \(text) as \(unique)" + (options.includeMetadataChanges ? " with metadata" : "")
        + (options.source == .cache ? " from cache" : ""), moment)
  }

  /// The error code with which a listener failed, if no recorded fault caused the failure; otherwise `nil`.
  private func refusal(of tag: Int, _ client: String?, after index: Int) -> StatusCode? {
    for moment in draft.moments[index...] where moment.client == client {
      switch moment.event {
      case .stop(tag: tag): return nil
      case .listenerFailed(tag: tag, let code): return isFaultWaiting(before: index, .listen(code)) ? nil : code
      case .snapshot(let snapshot) where snapshot.listener.rawValue == tag && !snapshot.isFromCache: return nil
      default: continue
      }
    }
    return nil
  }

  private func isFaultWaiting(before index: Int, _ event: FaultEvent) -> Bool {
    draft.moments[..<index].contains { moment in
      if case .fault(.event(event)) = moment.event { true } else { false }
    }
  }

  private mutating func tell(_ snapshot: ListenerSnapshot, _ moment: ScenarioDraft.Moment) {
    let name = moment.client ?? ""
    guard var listener = clients[name]?.listeners[snapshot.listener.rawValue] else { return }
    let isFirst = !listener.hasBegun
    var expectations: [String] = []
    for change in snapshot.changes {
      let path = change.key.path.text
      let isOwn = change.hasOwnWrite || own.contains(change.key)
      if snapshot.isOfServer, !isFirst, !isOwn { bringAbout(change, moment) }
      // The server's snapshot has the result of the client's own write.
      if isOwn, !change.hasOwnWrite, snapshot.isOfServer, !isWaiting(change.key) {
        own.remove(change.key)
        server[change.key] = change.kind == .removed && change.isDeleted == true ? nil : change.fields
      }
      let word =
        switch change.kind {
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        case .metadata: "metadata"
        }
      expectations.append("\(word) \(path) on \(listener.name)")
    }
    if let omitted = snapshot.omitted, omitted > 0 {
      remark("\(omitted) changes of \(listener.name) that the record does not have")
    }
    for expectation in expectations { expect(expectation, moment) }
    if isFirst || snapshot.isFromCache != listener.isFromCache {
      expect("\(snapshot.isFromCache ? "cached" : "synced") on \(listener.name)", moment)
    }
    (listener.hasBegun, listener.isFromCache) = (true, snapshot.isFromCache)
    clients[name]?.listeners[snapshot.listener.rawValue] = listener
  }

  private func isWaiting(_ key: DocumentKey) -> Bool {
    clients.values.contains { $0.waiting.contains { $0.mutations.contains { $0.key == key } } }
  }

  /// Adds a step at the server that causes the change, because another client must have made it.
  private mutating func bringAbout(_ change: ListenerSnapshot.Change, _ moment: ScenarioDraft.Moment) {
    switch change.kind {
    case .metadata: return
    case .added, .modified: if let fields = change.fields { put(change.key, fields, moment) }
    case .removed:
      if change.isDeleted == true {
        if server.removeValue(forKey: change.key) == nil { return }
        act("delete \(change.key.path.text)", moment, by: ScenarioStep.server)
      } else if let fields = change.fields {
        put(change.key, fields, moment)
      } else {
        remark("why \(change.key.path.text) left the result")
      }
    }
  }

  // MARK: Writes

  private mutating func write(_ id: Int, _ mutations: [Mutation], _ moment: ScenarioDraft.Moment, _ index: Int) {
    let name = moment.client ?? ""
    let steps = mutations.map { words.step($0) }
    for (mutation, step) in zip(mutations, steps) where step == nil {
      remark("a write of \(mutation.key.path.text) that no step can express: it removes fields, or has a condition")
    }
    if steps.allSatisfy({ $0 == nil }) { return }
    let code = outcome(of: id, moment.client, after: index)
    for mutation in mutations { prepare(mutation, isRefused: code == .some(.notFound), moment) }
    if let refused = code ?? nil, !Self.isNatural(refused), !isFaultWaiting(before: index, .write(.reject(refused))) {
      if clients[name]?.waiting.isEmpty ?? true {
        act("fault next write \(refused.name)", moment)
      } else {
        remark("the cause of the next rejection with \(refused.name): other writes are pending before it")
      }
    }
    if mutations.count > 1 { act("batch", moment) }
    for step in steps.compactMap(\.self) { act(step, moment) }
    if mutations.count > 1 { act("commit", moment) }
    clients[name, default: Client()].waiting.append((id, mutations))
    own.formUnion(mutations.map(\.key))
  }

  /// The outcome of a write: `nil` if the recording does not contain it, `.some(nil)` for an acknowledgement.
  private func outcome(of id: Int, _ client: String?, after index: Int) -> StatusCode?? {
    for moment in draft.moments[index...] where moment.client == client {
      if case .answer(id, let code) = moment.event { return .some(code) }
    }
    return nil
  }

  /// Whether a server can return this code because of its data, without a fault.
  private static func isNatural(_ code: StatusCode) -> Bool {
    [.notFound, .alreadyExists, .failedPrecondition, .invalidArgument].contains(code)
  }

  /// Adds a step that creates the document which a patch changes, if the document is not yet on the server.
  private mutating func prepare(_ mutation: Mutation, isRefused: Bool, _ moment: ScenarioDraft.Moment) {
    guard case .patch = mutation.operation, !isRefused, server[mutation.key] == nil, !own.contains(mutation.key)
    else { return }
    if let fields = seen[mutation.key] { return put(mutation.key, fields, moment) }
    guard mutation.precondition == .exists(true) else { return }
    remark("the content of \(mutation.key.path.text) before this write")
    put(mutation.key, Fields(), moment)
  }

  private mutating func answer(_ id: Int, _ code: StatusCode?, _ moment: ScenarioDraft.Moment) {
    let name = moment.client ?? ""
    guard let place = clients[name]?.waiting.firstIndex(where: { $0.id == id }),
      let written = clients[name]?.waiting.remove(at: place), let first = written.mutations.first
    else { return }
    let path = first.key.path.text
    guard let code else { return expect("acknowledged \(path)", moment) }
    own.subtract(written.mutations.map(\.key))
    expect("rejected \(path) with \(code.name)", moment)
  }

  // MARK: The end

  /// Adds steps that complete the writes that are still pending. Otherwise the run would report them as lost.
  private mutating func end() {
    for (name, client) in clients.sorted(by: { $0.key < $1.key }) where !client.waiting.isEmpty {
      let owner = name.isEmpty ? nil : name
      let count = client.waiting.count
      lines.append(
        "# The record ends here, with \(count) pending write\(count == 1 ? "" : "s").")
      add("expect pending \(count)", owner)
      if !client.isOnline { add("online", owner) }
      add("calm", owner)
    }
  }
}

extension ListenerSnapshot {
  /// Whether the snapshot contains changes from the server.
  fileprivate var isOfServer: Bool {
    causes.contains { cause in
      switch cause {
      case .server, .limboResolved, .existenceFilter: true
      default: false
      }
    }
  }
}

extension ListenerSnapshot.Change {
  fileprivate var key: DocumentKey { document.key }
  /// The fields of the document. If the document left the result, these are its current fields if they are known.
  fileprivate var fields: Fields? { (kind == .removed ? now : document)?.data?.fields }
  /// Whether a document that left the result was deleted; `nil` if unknown.
  fileprivate var isDeleted: Bool? { kind == .removed ? now.map { !$0.exists } : nil }
  /// Whether the document contains a pending write of the client.
  fileprivate var hasOwnWrite: Bool { after.hasPendingWrites }
}
