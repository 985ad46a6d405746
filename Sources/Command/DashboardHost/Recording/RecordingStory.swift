// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText
package import Scenarios

extension Recording {
  /// The session as a story of its client.
  /// - Throws: `bad-data` for a recording without anything that a client did or was told, or with lines in disorder.
  package func story() throws(CommandFailure) -> Story {
    if let outOfOrder {
      throw CommandFailure(
        .badData,
        "\(name):\(outOfOrder.line): The time of this line is \(DurationText.text(outOfOrder.by)) before that of an "
          + "earlier line. Restore the order in which the lines were recorded.")
    }
    var reader = RecordingStory(self)
    return try reader.read()
  }
}

/// Reads the story of a client from the actions of a recorded session: they are played on the dashboard's state, whose
/// effects are what its user did, and whose news are what the client was told.
private struct RecordingStory {
  private let recording: Recording
  private var story: Story
  private var faults = FaultSettings()
  /// The numbers of writes that the story has.
  private var known: Set<Int> = []
  /// The writes of the dashboard that the client has not listed yet, under numbers below zero.
  private var unlisted: [(id: Int, mutations: [Mutation])] = []
  /// The number that the story has for a write that the client has listed.
  private var numbers: [BatchID: Int] = [:]
  private var isNetworkOn = true
  /// The places in the story of snapshots that show a write before the client has listed it.
  private var shown: [BatchID: Int] = [:]
  /// Whether the client is another program's, whose calls are told by its status alone.
  private var isAttached: Bool { recording.header.configuration.attached != nil }

  init(_ recording: Recording) {
    self.recording = recording
    let header = recording.header
    story = Story(
      "What \(recording.name) shows, recorded \(header.start.rfc3339Text).", in: header.configuration.database)
    if let user = header.configuration.backend.user { story.clients = [("app", user)] }
  }

  private var client: String? { story.clients.first?.name }

  mutating func read() throws(CommandFailure) -> Story {
    if let names = recording.header.redacted, !names.isEmpty {
      add(
        .untold("values that were taken out of the recording: \(names.joined(separator: ", "))"), recording.header.start
      )
    }
    var state = recording.header.initialState
    for action in recording.actions {
      let effects = update(&state, action)
      if case .adopt(let listeners, let time) = action {
        for listener in listeners {
          add(.listen(tag: listener.tag.rawValue, name: listener.name, listener.query, listener.options), time)
        }
      }
      if case .client(let event, let time) = action { told(event, time, state) }
      for case .client(let effect) in effects { did(effect, action.time, state) }
    }
    guard story.moments.contains(where: { if case .untold = $0.event { false } else { true } }) else {
      throw CommandFailure(
        .badData, "\(recording.name): nothing in it is a step: no listener was open, and nothing was written.")
    }
    return story
  }

  private mutating func add(_ event: Story.Event, _ time: Timestamp) { story.add(event, at: time, of: client) }

  // MARK: What the user did

  private mutating func did(_ effect: ClientRequest, _ time: Timestamp, _ state: DashboardState) {
    switch effect {
    case .listen(let tag, let query, let options):
      let name = state.listening[tag]?.name ?? query.path.last
      add(.listen(tag: tag.rawValue, name: name, query, options), time)
    case .unlisten(let tag): add(.stop(tag: tag.rawValue), time)
    case .setNetwork(let isOn): if !isAttached { network(isOn, time) }
    case .setFaults(let settings): disturb(settings, time)
    case .causeFault(let event): add(.fault(.event(event)), time)
    case .write(let mutations): write(mutations, time)
    case .edit(let edit):
      guard case .document(let key) = edit.subject, let mutation = edit.mutation(of: key) else { return }
      write([mutation], time)
    case .cancelWrite, .setWriteAside: add(.untold("a write that was taken back"), time)
    case .dropRejected: add(.untold("refused writes that were dropped"), time)
    case .evict, .applyLifetimes: add(.untold("documents that were removed from the cache"), time)
    case .transfer: add(.untold("an import or export"), time)
    default: break
    }
  }

  private mutating func network(_ isOn: Bool, _ time: Timestamp) {
    if isOn == isNetworkOn { return }
    isNetworkOn = isOn
    add(.network(isOn: isOn), time)
  }

  private mutating func disturb(_ settings: FaultSettings, _ time: Timestamp) {
    for change in settings.changes(from: faults) { add(.fault(change), time) }
    faults = settings
  }

  private mutating func write(_ mutations: [Mutation], _ time: Timestamp) {
    let id = -1 - known.count
    known.insert(id)
    unlisted.append((id, mutations))
    add(.write(id, mutations), time)
  }

  // MARK: What the client was told

  private mutating func told(_ event: ClientEvent, _ time: Timestamp, _ state: DashboardState) {
    switch event {
    case .listenerStarted(let listener):
      let name = state.listening[ListenerTag(listener.id)]?.name ?? listener.query.path.last
      add(.listen(tag: listener.id, name: name, listener.query, listener.options), time)
    case .snapshot(let snapshot):
      for case .localWrite(let id) in snapshot.causes where numbers[id] == nil && shown[id] == nil {
        shown[id] = story.moments.count
      }
      add(.snapshot(StorySnapshot(snapshot)), time)
    case .listenerFailed(let tag, let status): add(.listenerFailed(tag: tag.rawValue, status.code), time)
    case .listenerStopped(let tag): add(.stop(tag: tag.rawValue), time)
    case .snapshotsMissed(let count, _): add(.untold("\(count) snapshots that the recording missed"), time)
    case .faults(let settings): disturb(settings, time)
    case .status(let status): if isAttached { network(status.isNetworkEnabled, time) }
    case .pendingWrites(let writes, _): for write in writes { list(write.id, write.mutations, time) }
    case .writeAcknowledged(let id, _, let documents): answer(id, nil, documents, time)
    case .writeRejected(let id, let status): answer(id, status.code, nil, time)
    case .windowLoaded(_, let documents, _, _): for document in documents { see(document, time) }
    case .detail(_, let remote?, _, _, _): see(remote, time)
    default: break
    }
  }

  private mutating func see(_ document: Document, _ time: Timestamp) {
    if document.pending == .none, let data = document.data { add(.seen(document.key, data.fields), time) }
  }

  /// Notes a write that the client has listed. One that the dashboard made itself is in the story already.
  private mutating func list(_ id: BatchID, _ mutations: [Mutation], _ time: Timestamp) {
    if numbers[id] != nil { return }
    if let place = unlisted.firstIndex(where: { $0.mutations == mutations }) {
      numbers[id] = unlisted.remove(at: place).id
    } else {
      let event = Story.Event.write(Int(id.rawValue), mutations)
      numbers[id] = Int(id.rawValue)
      // The write came before the first snapshot that shows it.
      guard let place = shown[id] else { return add(event, time) }
      story.moments.insert(Story.Moment(story.moments[place].time, client, event), at: place)
      shown = shown.mapValues { $0 >= place ? $0 + 1 : $0 }
    }
  }

  private mutating func answer(_ id: BatchID, _ code: StatusCode?, _ documents: WrittenDocuments?, _ time: Timestamp) {
    if numbers[id] == nil {
      let keys = documents?.first.map(\.key)
      let place = unlisted.firstIndex { write in
        keys.map { write.mutations.map(\.key).starts(with: $0) || Set($0) == Set(write.mutations.map(\.key)) } ?? true
      }
      if let place {
        numbers[id] = unlisted.remove(at: place).id
      } else {
        let paths = keys?.map(\.path.text).joined(separator: ", ") ?? "\(id)"
        return add(.untold("a write of \(paths) that was answered before it was listed"), time)
      }
    }
    if let number = numbers[id] { add(.answer(number, code), time) }
  }
}

extension StorySnapshot {
  fileprivate init(_ snapshot: ListenerSnapshot) {
    let changes = snapshot.changes.map { change in
      let isDeleted: Bool? = change.kind == .removed ? change.now.map { !$0.exists } : nil
      let content = change.kind == .removed ? change.now : change.document
      return Change(
        change.kind, change.document.key, content?.data?.fields, isDeleted: isDeleted,
        hasOwnWrite: change.after.hasPendingWrites)
    }
    let isOfServer = snapshot.causes.contains { cause in
      switch cause {
      case .server, .limboResolved, .existenceFilter: true
      default: false
      }
    }
    self.init(
      tag: snapshot.listener.rawValue, changes, isFromCache: snapshot.isFromCache, isOfServer: isOfServer,
      omitted: snapshot.omitted ?? 0)
  }
}
