// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dashboard
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// A dashboard on a shop that nobody has: what a client would say, told by a clock that is set by hand, so that the
/// same moment is the same screen everywhere.
struct PlayedShop {
  /// A moment, each a while after the one before.
  enum Scene: String, ExpressibleByArgument, CaseIterable, Comparable {
    /// Three listeners, and a shop that sells.
    case online
    /// The network is switched off, and three writes were made since.
    case offline
    /// One of the documents that were changed here is open, with the server's version beside it.
    case document

    static func < (one: Scene, two: Scene) -> Bool {
      allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: two) ?? 0
    }
  }

  private(set) var state: DashboardState
  private var shop = DemoShop(seed: 7)
  private var now = Timestamp(seconds: 1_772_453_040)
  /// As the backend has them, and as listeners see them.
  private var remote: [DocumentKey: Document] = [:]
  private var local: [DocumentKey: Document] = [:]
  private var overlays: [DocumentKey: Mutation] = [:]
  private var waiting: [PendingWrite] = []
  private var isOnline = true
  private var windows: [WindowTag: Query] = [:]

  init(size: Size, glyphs: Glyphs, themes: [DashboardConfiguration.Theme], theme: String, keymap: Keymap) {
    let configuration = DashboardConfiguration(
      database: DatabaseID(project: "demo-shop"), backend: .init(.embedded, project: "demo-shop"), glyphs: glyphs,
      themes: themes, theme: theme, keymap: keymap)
    state = DashboardState(configuration, size: size, now: now)
  }

  mutating func play(to scene: Scene) {
    open()
    for _ in 0..<16 { happen() }
    if scene >= .offline { unplug() }
    if scene >= .document {
      press(["g", "j", "j"].map { .character($0) } + [Key(.enter)] + Array(repeating: .character("]"), count: 3))
    }
  }

  mutating func press(_ keys: [Key]) {
    for key in keys { apply(.input(.key(key), at: now)) }
  }

  // MARK: What happens

  private mutating func open() {
    commit(shop.openingStock())
    hear(.collections(below: .root, Set(remote.keys.map { String($0.path.segments[0]) }).sorted()))
    hear(.status(status()))
    for path in [DemoShop.orders, DemoShop.users, DemoShop.messages] {
      let query = Query(path: path)
      wait(milliseconds: 4)
      perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
    }
    // The chat folded, the orders open, the cursor on the first of them.
    press(["g", "h", "j", "l", "j"].map { .character($0) })
  }

  /// The next thing that somebody else does.
  private mutating func happen() {
    wait(milliseconds: Int64(shop.pause()) / 2)
    let changes = commit(shop.nextEvent())
    tell(changes, because: .server(SnapshotVersion(now)))
  }

  private mutating func unplug() {
    wait(milliseconds: 900)
    press([.character("o")])
    isOnline = false
    hear(.status(status()))
    for listener in state.listeners { fire(listener, [], because: .networkDisabled, syncs: true) }
    let orders = local.keys.filter { $0.collection == DemoShop.orders }.sorted()
    let fields: [Fields] = [
      ["status": .string("packed")], ["status": .string("paid"), "note": .string("gift")],
      ["status": .string("shipped")],
    ]
    for (number, (key, fields)) in zip(orders, fields).enumerated() {
      wait(milliseconds: 2400)
      let mask = FieldMask(fields.entries.map { FieldPath($0.name) })
      let stamp = FieldTransform(path: FieldPath("updatedAt"), operation: .serverTimestamp)
      write(Mutation(key: key, operation: .patch(fields, mask), transforms: [stamp]), as: BatchID(Int64(number) + 1))
    }
    wait(milliseconds: 1300)
    apply(.tick(now))
  }

  /// A write of the dashboard's own, which waits.
  private mutating func write(_ mutation: Mutation, as batch: BatchID) {
    let before = local[mutation.key]
    var document = before ?? Document(key: mutation.key, version: nil, state: .missing)
    _ = mutation.applyLocally(to: &document, previousMask: .none, at: now)
    local[mutation.key] = document
    overlays[mutation.key] = mutation
    waiting.append(
      PendingWrite(id: batch, mutations: [mutation], localWriteTime: now, byteCount: 96, attempts: 0, state: .held))
    hear(.pendingWrites(waiting))
    tell([ListenerSnapshot.Change(.modified, document, previous: before)], because: .localWrite(batch))
  }

  /// Applies a batch at the backend.
  /// - Returns: what listeners see of it; a deletion is left out.
  @discardableResult
  private mutating func commit(_ batch: [Mutation]) -> [ListenerSnapshot.Change] {
    batch.compactMap { mutation in
      if case .delete = mutation.operation { return nil }
      let before = remote[mutation.key]
      var document = before ?? Document(key: mutation.key, version: nil, state: .missing)
      _ = mutation.applyLocally(to: &document, previousMask: .none, at: now)
      guard var fields = document.data?.fields else { return nil }
      for transform in mutation.transforms where transform.operation == .serverTimestamp {
        fields[transform.path] = .timestamp(now)
      }
      let version = SnapshotVersion(now)
      let after = Document(
        key: mutation.key, version: version, createTime: before?.createTime ?? version,
        state: .found(DocumentData(fields)))
      remote[mutation.key] = after
      local[mutation.key] = after
      return ListenerSnapshot.Change(before == nil ? .added : .modified, after, previous: before)
    }
  }

  private mutating func wait(milliseconds: Int64) {
    now = Timestamp(microseconds: now.seconds * 1_000_000 + Int64(now.nanoseconds) / 1000 + milliseconds * 1000)
  }
}

// MARK: - What the client says

extension PlayedShop {
  private mutating func hear(_ event: ClientEvent) { apply(.client(event, at: now)) }

  private mutating func apply(_ action: Action) { perform(update(&state, action)) }

  private mutating func perform(_ effects: [Effect]) {
    for case .client(let effect) in effects { answer(effect) }
  }

  private mutating func answer(_ effect: ClientEffect) {
    switch effect {
    case .listen(let tag, let query, _):
      guard let listener = state.listeners.first(where: { $0.tag == tag }) else { return }
      let changes = documents(of: query).map { ListenerSnapshot.Change(.added, $0) }
      fire(listener, changes, because: .listenerAdded, syncs: true)
    case .closeWindow(let tag): windows[tag] = nil
    case .openWindow(let tag, let query):
      windows[tag] = query
      var found = documents(of: query)
      if let limit = query.limit { found = query.limitType == .last ? found.suffix(limit) : Array(found.prefix(limit)) }
      let total = documents(of: Query(path: query.path)).count
      hear(.windowLoaded(tag, found, isFromCache: !isOnline, total: total))
    case .count(let path): hear(.counted(path, documents(of: Query(path: path)).count))
    case .listMissing(let path): hear(.missingDocuments(in: path, []))
    case .openDetail(let key):
      hear(.detail(key, remote: remote[key], overlay: overlays[key], local: local[key]))
    default: break
    }
  }

  private func documents(of query: Query) -> [Document] {
    local.values.filter { query.matches($0) }.sorted { $0.key < $1.key }
  }

  /// Tells every listener and every window what it has of some changes.
  private mutating func tell(_ changes: [ListenerSnapshot.Change], because cause: SnapshotCause) {
    for listener in state.listeners {
      let own = changes.filter { listener.query.matches($0.document) }
      if !own.isEmpty { fire(listener, own, because: cause) }
    }
    refreshWindows()
  }

  private mutating func fire(
    _ listener: ListenerRecord, _ changes: [ListenerSnapshot.Change], because cause: SnapshotCause, syncs: Bool = false
  ) {
    let documents = documents(of: listener.query)
    hear(
      .snapshot(
        ListenerSnapshot(
          listener: listener.tag, changes: changes, isFromCache: !isOnline, syncStateChanged: syncs,
          hasPendingWrites: documents.contains(where: \.hasPendingWrites), count: documents.count, causes: [cause])))
  }

  private mutating func refreshWindows() {
    for (tag, query) in windows.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { answer(.openWindow(tag, query)) }
  }

  private func status() -> ClientStatus {
    let stream = StreamStatus(isOnline ? .open : .closed)
    return ClientStatus(
      onlineState: isOnline ? .online : .offline, isNetworkEnabled: isOnline,
      reason: isOnline ? nil : .networkDisabled, since: now, watch: stream, write: stream,
      activeTargets: isOnline ? 4 : 0, lastSnapshotAt: now, roundTrips: [3, 4, 3, 6, 3].map { .milliseconds($0) },
      cacheByteCount: 1_290_000, cacheLimit: 104_857_600)
  }
}
