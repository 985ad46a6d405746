// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas

@testable import Dashboard
@testable import DashboardModel

/// A dashboard and a pretended client: times, keys and events in, a state to draw out. Windows of the browser are
/// answered from `store`.
struct Scene {
  private(set) var state: DashboardState
  private var now: Timestamp
  var store: [String: [Document]] = [:]
  var totals: [String: Int] = [:]
  private var queue: [PendingWrite] = []

  /// 2026-03-02 12:00:00 UTC.
  private static let noon: Int64 = 1_772_452_800

  init(
    size: Size, glyphs: Glyphs = .unicode,
    backend: ConnectedBackend = .init(
      .emulator, project: "demo-shop", host: "127.0.0.1:8080", user: "ada")
  ) {
    let configuration = DashboardConfiguration(
      database: DatabaseID(project: backend.project), backend: backend, glyphs: glyphs,
      themes: [
        .init(slug: "ember", name: "Ember"), .init(slug: "paper", name: "Paper"),
        .init(slug: "monochrome", name: "Monochrome"),
      ], theme: "ember")
    now = Self.time("12:01:40")
    state = DashboardState(configuration, size: size, now: now)
  }

  /// `12:04:16.880` on the day of the scene.
  static func time(_ text: String) -> Timestamp {
    let parts = text.split(separator: ":").map { Double($0) ?? 0 }
    let seconds = (parts[0] - 12) * 3600 + parts[1] * 60 + parts[2]
    return Timestamp(microseconds: noon * 1_000_000 + Int64((seconds * 1_000_000).rounded()))
  }

  mutating func at(_ text: String) { now = Self.time(text) }

  mutating func resize(to size: Size) { apply(.input(.resize(size), at: now)) }

  mutating func hear(_ event: ClientEvent) { apply(.client(event, at: now)) }
  mutating func tell(_ event: HostEvent) { apply(.host(event, at: now)) }

  mutating func tick(_ text: String) {
    at(text)
    apply(.tick(now))
  }

  /// Keys as in the keymap, parted by spaces.
  mutating func press(_ keys: String) {
    for name in keys.split(separator: " ") {
      if let key = Key(String(name)) { apply(.input(.key(key), at: now)) }
    }
  }

  mutating func type(_ text: String) {
    for character in text { apply(.input(.key(.character(character)), at: now)) }
  }

  mutating func click(_ x: Int, _ y: Int) {
    apply(.input(.mouse(MouseEvent(kind: .press, x: x, y: y)), at: now))
  }

  mutating func effects(ofClick x: Int, _ y: Int) -> [Effect] {
    update(&state, .input(.mouse(MouseEvent(kind: .press, x: x, y: y)), at: now))
  }

  mutating func change(_ change: (inout DashboardState) -> Void) { change(&state) }

  private mutating func apply(_ action: Action) {
    var effects = update(&state, action)
    while let effect = effects.first {
      effects.removeFirst()
      for event in answers(to: effect) { effects += update(&state, .client(event, at: now)) }
    }
  }

  private func answers(to effect: Effect) -> [ClientEvent] {
    switch effect {
    case .client(.openWindow(let tag, let query)):
      var documents = store[query.path.text] ?? []
      if case .reference(_, let key)? = query.start?.values.first { documents.removeAll { $0.key < key } }
      if case .reference(_, let key)? = query.end?.values.first { documents.removeAll { key < $0.key } }
      documents = documents.filter { Query(path: query.path, filters: query.filters).matches($0) }
      if let limit = query.limit {
        documents = query.limitType == .last ? documents.suffix(limit) : Array(documents.prefix(limit))
      }
      let isOffline = state.network.isOffline
      return [.windowLoaded(tag, documents, isFromCache: isOffline, total: totals[query.path.text])]
    case .client(.count(let path)):
      return totals[path.text].map { [.counted(path, $0)] } ?? []
    default: return []
    }
  }

  // MARK: What the client says

  mutating func collections(_ names: String...) { hear(.collections(below: .root, names)) }

  mutating func online(_ roundTrips: [Int] = [160, 184, 172, 240, 180, 176, 184]) {
    hear(.status(status(.online, isEnabled: true, roundTrips)))
    // Google's servers tell of no commits.
    if state.configuration.backend.kind != .cloud { hear(.committed(.everything)) }
  }

  mutating func offline(byUser: Bool = true) {
    hear(.commitsUnheard("offline"))
    hear(.status(status(.offline, isEnabled: !byUser, [160, 184, 172, 240, 180, 176, 184])))
  }

  private func status(_ online: OnlineState, isEnabled: Bool, _ roundTrips: [Int]) -> ClientStatus {
    let isOpen = online == .online
    let stream = StreamStatus(isOpen ? .open : .closed)
    return ClientStatus(
      onlineState: online, isNetworkEnabled: isEnabled, since: now, watch: stream, write: stream,
      activeTargets: isOpen ? 1 : 0, lastSnapshotAt: isOpen ? now : nil,
      roundTrips: roundTrips.map { .milliseconds($0) }, cacheByteCount: 12_900_000, cacheLimit: 104_857_600)
  }

  /// Starts a listener as the dashboard would, under a name.
  mutating func listen(_ name: String, _ query: Query) {
    _ = state.listening.start(ListenerDefinition(name: name, query: query))
  }

  mutating func snapshot(
    _ time: String, _ listener: Int, _ changes: [ListenerSnapshot.Change] = [],
    because cause: SnapshotCause = .fromServer,
    isFromCache: Bool = false, syncs: Bool = false, count: Int? = nil
  ) {
    at(time)
    hear(
      .snapshot(
        ListenerSnapshot(
          listener: ListenerTag(listener), changes: changes, isFromCache: isFromCache, syncStateChanged: syncs,
          hasPendingWrites: changes.contains { $0.document.hasPendingWrites },
          count: count ?? Shop.counts[listener] ?? 17,
          causes: [cause])))
  }

  /// What the engine says of its queue when the network goes off.
  mutating func holdAll() {
    for index in queue.indices { queue[index].state = .held }
    hear(.pendingWrites(queue))
  }

  /// Fires the browser's windows again, now from the cache.
  mutating func serveFromCache() {
    for window in state.browser.windows.values {
      guard let shown = window.shown else { continue }
      hear(.windowLoaded(shown.tag, window.documents, isFromCache: true, total: window.total))
    }
  }

  /// Fires the browser's window with a document in a new version.
  mutating func browse(_ document: Document) {
    guard let window = state.browser.windows[document.key.collection], let shown = window.shown else { return }
    let documents = window.documents.map { $0.key == document.key ? document : $0 }
    hear(.windowLoaded(shown.tag, documents, isFromCache: window.isFromCache, total: window.total))
  }

  mutating func queue(_ writes: PendingWrite...) {
    queue += writes
    hear(.pendingWrites(queue))
  }
}

// MARK: Builders

func stored(_ path: String, pending: Document.PendingWrites = .none, at seconds: Int64 = 240, _ fields: Fields)
  -> Document
{
  let version = SnapshotVersion(microseconds: (1_772_452_800 + seconds) * 1_000_000)
  return Document(
    key: DocumentKey(unchecked: ResourcePath(path)), version: version, createTime: version,
    state: .found(DocumentData(fields)),
    pending: pending)
}

func change(
  _ kind: DocumentChange.Kind, _ document: Document, from previous: Document? = nil, now: Document? = nil
) -> ListenerSnapshot.Change {
  ListenerSnapshot.Change(kind, document, previous: previous, now: now)
}

/// A document that was deleted.
func missing(_ path: String, pending: Document.PendingWrites = .none) -> Document {
  Document(key: key(path), version: nil, state: .missing, pending: pending)
}

func row(
  _ batch: Int64, _ operation: QueueRow.Operation, _ path: String, _ state: PendingWrite.State, at time: String,
  tries: Int = 0, transforms: Int = 0, error: RPCStatus? = nil
) -> PendingWrite {
  pendingWrite(
    batch, operation, path, at: Scene.time(time), state, tries: tries, transforms: transforms, byteCount: 214,
    error: error)
}
