// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
package import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Creates the draft of a scenario from the requests and events in a recording. Pass them in order.
package struct ScenarioDraftReader {
  package enum Fact: Sendable {
    /// - Parameter name: the name of a new listener; `nil` to use the name of its collection.
    case request(ClientRequest, name: String? = nil)
    case event(ClientEvent)
    case fault(FaultChange)
    /// A one-time fault that was waiting has affected the client's last write or listener.
    case hit(FaultEvent)
    /// A description of something that the recording does not contain.
    case gap(String)
  }

  private struct Client {
    /// The writes that are not yet in a reported queue, with negative numbers.
    var unlisted: [(id: Int, mutations: [Mutation])] = []
    var unlistedCount = 0
    /// The number in the draft for each batch in a reported queue.
    var numbers: [BatchID: Int] = [:]
    /// The position in the draft of the first snapshot that shows a write, for writes that are not yet in a reported
    /// queue.
    var shown: [BatchID: Int] = [:]
    var faults = FaultSettings()
    var isNetworkOn = true
  }

  package var draft: ScenarioDraft
  private var clients: [String: Client] = [:]
  private var time = Timestamp(seconds: 0)
  private var client: String?

  package init(_ draft: ScenarioDraft) { self.draft = draft }

  /// Completes the draft.
  /// - Returns: the draft.
  /// - Throws: `badData` if the draft has no steps. `hint` is appended to the message.
  package func finished(_ name: String, _ hint: String) throws(CommandFailure) -> ScenarioDraft {
    guard draft.moments.contains(where: { if case .gap = $0.event { false } else { true } }) else {
      throw CommandFailure(.badData, "\(name): it has no steps\(hint).")
    }
    return draft
  }

  /// - Parameter client: the name of the client. `nil` for the only client, and for a gap that affects all clients.
  package mutating func read(_ fact: Fact, at time: Timestamp, of client: String? = nil) {
    (self.time, self.client) = (time, client)
    if let client, !draft.clients.contains(where: { $0.name == client }) { draft.clients.append((client, nil)) }
    switch fact {
    case .request(let request, let name): read(request, name)
    case .event(let event): read(event)
    case .fault(let change): add(.fault(change))
    case .hit(let event): hit(event)
    case .gap(let text): add(.gap(text))
    }
  }

  private var state: Client {
    get { clients[client ?? "", default: Client()] }
    set { clients[client ?? ""] = newValue }
  }

  private mutating func add(_ event: ScenarioDraft.Event) { draft.add(event, at: time, of: client) }

  /// Inserts an event of the client before an existing event in the draft. The inserted event gets the time of the
  /// existing event.
  private mutating func insert(_ event: ScenarioDraft.Event, at place: Int) {
    draft.moments.insert(.init(draft.moments[place].time, client, event), at: place)
    clients = clients.mapValues { client in
      var client = client
      client.shown = client.shown.mapValues { $0 >= place ? $0 + 1 : $0 }
      return client
    }
  }

  private mutating func hit(_ event: FaultEvent) {
    let place = draft.moments.lastIndex { moment in
      guard moment.client == client else { return false }
      return switch moment.event {
      case .write, .listen: true
      default: false
      }
    }
    if let place { insert(.fault(.event(event)), at: place) } else { add(.fault(.event(event))) }
  }

  // MARK: Requests

  private mutating func read(_ request: ClientRequest, _ name: String?) {
    switch request {
    case .listen(let tag, let query, let options): listen(tag, name, query, options)
    case .unlisten(let tag): add(.stop(tag: tag.rawValue))
    case .setNetwork(let isOn):
      if state.isNetworkOn == isOn { return }
      state.isNetworkOn = isOn
      add(.network(isOn: isOn))
    case .setFaults(let settings): disturb(settings)
    case .causeFault(let event): add(.fault(.event(event)))
    case .write(let mutations):
      state.unlistedCount += 1
      let id = -state.unlistedCount
      state.unlisted.append((id, mutations))
      add(.write(id, mutations))
    case .cancelWrite, .setWriteAside: add(.gap("a write that was canceled"))
    case .dropRejected: add(.gap("rejected writes that were dropped"))
    case .evict, .applyLifetimes: add(.gap("documents that were removed from the cache"))
    case .transfer: add(.gap("an import or export"))
    default: break
    }
  }

  private mutating func listen(
    _ tag: ListenerTag, _ name: String?, _ query: FirestoreQuery.Query, _ options: ListenerOptions
  ) {
    let name = name ?? query.collectionGroup ?? query.path.last
    add(.listen(tag: tag.rawValue, name: name, query, options))
  }

  private mutating func disturb(_ settings: FaultSettings) {
    for change in settings.changes(from: state.faults) { add(.fault(change)) }
    state.faults = settings
  }

  // MARK: Events

  private mutating func read(_ event: ClientEvent) {
    switch event {
    case .listenerStarted(let listener):
      listen(ListenerTag(listener.id), nil, listener.query, listener.options)
    case .snapshot(let snapshot):
      for case .localWrite(let id) in snapshot.causes where state.numbers[id] == nil && state.shown[id] == nil {
        state.shown[id] = draft.moments.count
      }
      add(.snapshot(snapshot))
    case .listenerFailed(let tag, let status): add(.listenerFailed(tag: tag.rawValue, status.code))
    case .listenerStopped(let tag): add(.stop(tag: tag.rawValue))
    case .snapshotsMissed(let count, _): add(.gap("\(count) snapshots that the recording missed"))
    case .faults(let settings, _): disturb(settings)
    case .pendingWrites(let writes, _): for write in writes { list(write.id, write.mutations) }
    case .writeAcknowledged(let id, _, let documents): answer(id, nil, documents)
    case .writeRejected(let id, let status): answer(id, status.code, nil)
    case .windowLoaded(_, let documents, _, _): for document in documents { see(document) }
    case .detail(_, let remote?, _, _, _): see(remote)
    default: break
    }
  }

  private mutating func see(_ document: Document) {
    if document.pending == .none, let data = document.data { add(.seen(document.key, data.fields)) }
  }

  /// Adds a write from a reported queue, unless it is already in the draft because its request was recorded.
  private mutating func list(_ id: BatchID, _ mutations: [Mutation]) {
    if state.numbers[id] != nil { return }
    if let place = state.unlisted.firstIndex(where: { $0.mutations == mutations }) {
      state.numbers[id] = state.unlisted.remove(at: place).id
    } else {
      let event = ScenarioDraft.Event.write(Int(id.rawValue), mutations)
      state.numbers[id] = Int(id.rawValue)
      // The write preceded the first snapshot that shows it.
      if let place = state.shown[id] { insert(event, at: place) } else { add(event) }
    }
  }

  private mutating func answer(_ id: BatchID, _ code: StatusCode?, _ documents: WrittenDocuments?) {
    if state.numbers[id] == nil {
      let keys = documents?.first.map(\.key)
      let place = state.unlisted.firstIndex { write in
        keys.map { write.mutations.map(\.key).starts(with: $0) || Set($0) == Set(write.mutations.map(\.key)) } ?? true
      }
      guard let place else {
        let paths = keys?.map(\.path.text).joined(separator: ", ") ?? "\(id)"
        return add(.gap("a write of \(paths) that was answered before the recording listed it"))
      }
      state.numbers[id] = state.unlisted.remove(at: place).id
    }
    if let number = state.numbers[id] { add(.answer(number, code)) }
  }
}
