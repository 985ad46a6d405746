// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import Scenarios
import TerminalCanvas

/// A dashboard with a simulated shop. Its clock is set explicitly and determines the client's events, so the same time
/// shows the same screen on every machine.
package struct PlayedShop {
  /// A stage of the shop's story. Each case is later than the previous case.
  package enum Scene: String, ExpressibleByArgument, CaseIterable, Comparable {
    /// The shop is selling, and three listeners are running.
    case online
    /// The network is switched off, and three writes are pending.
    case offline
    /// One of the locally changed documents is open next to the server's version.
    case document
    /// The wall shows a minute of the shop with an outage.
    case wall

    package static func < (one: Scene, two: Scene) -> Bool {
      allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: two) ?? 0
    }
  }

  package static let database = DatabaseID(project: "demo-shop")

  @Boxed var state: DashboardState
  private var shop = DemoShop(seed: 7)
  var now = Timestamp(seconds: 1_772_453_040)
  /// The documents of the backend, and the documents as the listeners see them.
  var remote: [DocumentKey: Document] = [:]
  var local: [DocumentKey: Document] = [:]
  var overlays: [DocumentKey: Mutation] = [:]
  var waiting: [PendingWrite] = []
  var isOnline = true
  /// Whether the network switch and writes have an effect. This is so if the keys come from a script instead of a
  /// scene.
  var answersKeys = false
  private var lastBatch: Int64 = 100
  /// The time when the state of the connection last changed.
  private var since = Timestamp(seconds: 1_772_453_040)
  private var lastSnapshot: Timestamp?
  private var windows: [WindowTag: Query] = [:]

  init(size: Size, glyphs: Glyphs, themes: [DashboardConfiguration.Theme], theme: String, keymap: Keymap) {
    let configuration = DashboardConfiguration(
      database: Self.database, backend: .init(.embedded, project: "demo-shop"), glyphs: glyphs,
      themes: themes, theme: theme, keymap: keymap)
    state = DashboardState(configuration, size: size, now: now)
  }

  mutating func play(to scene: Scene) {
    open()
    if scene == .wall { return playMinute() }
    for _ in 0..<16 { happen() }
    if scene >= .offline { unplug() }
    if scene >= .document {
      press(["g", "j", "j"].map { .character($0) } + [Key(.enter)] + Array(repeating: .character("]"), count: 3))
    }
  }

  mutating func press(_ keys: [Key]) {
    for key in keys { apply(.input(.key(key), at: now)) }
  }

  // MARK: Events

  private mutating func open() {
    commit(shop.openingStock())
    hear(.collections(below: .root, Set(remote.keys.map { String($0.path.segments[0]) }).sorted()))
    hear(.status(status()))
    hear(.committed(.everything))
    for path in [DemoShop.orders, DemoShop.users, DemoShop.messages] {
      let query = Query(path: path)
      wait(milliseconds: 4)
      perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
    }
    // The chat is folded and the orders are open, with the cursor on the first order.
    press(["g", "h", "j", "l", "j"].map { .character($0) })
  }

  /// Simulates the next event of another client.
  mutating func happen() {
    wait(milliseconds: Int64(shop.pause()) / 2)
    let changes = commit(shop.nextEvent())
    tell(changes, because: .server(SnapshotVersion(now)))
  }

  mutating func unplug() {
    goOffline()
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

  mutating func goOffline() {
    wait(milliseconds: 900)
    press([.character("o")])
    loseNetwork()
  }

  private mutating func loseNetwork() {
    setOnline(false)
    hear(.commitsUnheard("offline"))
    hear(.status(status()))
    for listener in state.listeners { fire(listener, [], because: .networkDisabled, syncs: true) }
  }

  mutating func setOnline(_ isOnline: Bool) { (self.isOnline, since) = (isOnline, now) }

  /// Adds a pending write that the dashboard makes.
  mutating func write(_ mutation: Mutation, as batch: BatchID) {
    let before = local[mutation.key]
    var document = before ?? Document(key: mutation.key, version: nil, state: .missing)
    _ = mutation.applyLocally(to: &document, previousMask: .none, at: now)
    local[mutation.key] = document
    overlays[mutation.key] = mutation
    waiting.append(
      PendingWrite(
        id: batch, mutations: [mutation], localWriteTime: now, byteCount: 96, attempts: 0,
        state: isOnline ? .inFlight : .held))
    hear(.pendingWrites(waiting))
    tell([Self.change(from: before, to: document)], because: .localWrite(batch))
  }

  static func change(from before: Document?, to after: Document) -> ListenerSnapshot.Change {
    let kind: DocumentChange.Kind = !after.exists ? .removed : before?.exists == true ? .modified : .added
    return ListenerSnapshot.Change(kind, after, previous: before)
  }

  /// Applies a batch to the backend's documents.
  /// - Returns: the changes for listeners.
  @discardableResult
  mutating func commit(_ batch: [Mutation]) -> [ListenerSnapshot.Change] {
    batch.map { mutation in
      let before = remote[mutation.key]
      let seen = local[mutation.key]
      var document = before ?? Document(key: mutation.key, version: nil, state: .missing)
      _ = mutation.applyLocally(to: &document, previousMask: .none, at: now)
      let version = SnapshotVersion(now)
      guard var fields = document.data?.fields else {
        let after = Document(key: mutation.key, version: version, state: .missing)
        (remote[mutation.key], local[mutation.key]) = (after, after)
        return Self.change(from: seen, to: after)
      }
      for transform in mutation.transforms where transform.operation == .serverTimestamp {
        fields[transform.path] = .timestamp(now)
      }
      let after = Document(
        key: mutation.key, version: version, createTime: before?.createTime ?? version,
        state: .found(DocumentData(fields)))
      (remote[mutation.key], local[mutation.key]) = (after, after)
      return Self.change(from: seen, to: after)
    }
  }

  mutating func wait(milliseconds: Int64) {
    now = Timestamp(microseconds: now.seconds * 1_000_000 + Int64(now.nanoseconds) / 1000 + milliseconds * 1000)
  }
}

// MARK: - Client events

extension PlayedShop {
  mutating func hear(_ event: ClientEvent) { apply(.client(event, at: now)) }

  mutating func apply(_ action: Action) { perform(update(&state, action)) }

  mutating func perform(_ effects: [Effect]) {
    for case .client(let effect) in effects { answer(effect) }
  }

  private mutating func answer(_ effect: ClientRequest) {
    switch effect {
    case .listen(let tag, let query, _):
      guard let listener = state.listeners.first(where: { $0.tag == tag }) else { return }
      let changes = documents(of: query).map { ListenerSnapshot.Change(.added, $0) }
      hear(.status(status()))
      fire(listener, changes, because: .listenerAdded, syncs: true)
    case .closeWindow(let tag):
      windows[tag] = nil
      hear(.status(status()))
    case .openWindow(let tag, let query):
      if windows.updateValue(query, forKey: tag) == nil { hear(.status(status())) }
      var found = documents(of: query)
      if let limit = query.limit { found = query.limitType == .last ? found.suffix(limit) : Array(found.prefix(limit)) }
      let total = documents(of: Query(path: query.path)).count
      hear(.windowLoaded(tag, found, isFromCache: !isOnline, total: total))
    case .ask(let tag, let query):
      let found = documents(of: query)
      let limited = query.limitType == .last ? found.suffix(query.limit ?? .max) : found.prefix(query.limit ?? .max)
      hear(.windowLoaded(tag, Array(limited), isFromCache: !isOnline, total: nil))
    case .count(let path):
      hear(.counted(path, documents(of: Query(path: path)).count, isFromCache: !isOnline))
    case .setNetwork(let isEnabled) where answersKeys && isEnabled != isOnline: isEnabled ? goOnline() : loseNetwork()
    case .write(let mutations) where answersKeys:
      for mutation in mutations {
        lastBatch += 1
        write(mutation, as: BatchID(lastBatch))
      }
      if isOnline { acknowledgeAll() }
    case .listMissing(let path): hear(.missingDocuments(in: path, []))
    case .openDetail(let key):
      hear(.detail(key, remote: remote[key], overlay: overlays[key], local: local[key]))
    default: break
    }
  }

  private func documents(of query: Query) -> [Document] {
    local.values.filter { query.matches($0) }.sorted { query.compare($0, $1) == .ascending }
  }

  /// Sends the changes to every listener and every collection window whose documents have changed.
  mutating func tell(_ changes: [ListenerSnapshot.Change], because cause: SnapshotCause) {
    for listener in state.listeners {
      let own = changes.compactMap { change -> ListenerSnapshot.Change? in
        let (was, isNow) = (
          change.previous.map { listener.query.matches($0) } ?? false, listener.query.matches(change.document)
        )
        var change = change
        guard was || isNow else { return nil }
        change.kind = !isNow ? .removed : was ? .modified : .added
        return change
      }
      if !own.isEmpty { fire(listener, own, because: cause) }
    }
    refreshWindows()
  }

  mutating func fire(
    _ listener: ListenerRecord, _ changes: [ListenerSnapshot.Change], because cause: SnapshotCause, syncs: Bool = false
  ) {
    let documents = documents(of: listener.query)
    lastSnapshot = now
    hear(
      .snapshot(
        ListenerSnapshot(
          listener: listener.tag, changes: changes, isFromCache: !isOnline, syncStateChanged: syncs,
          hasPendingWrites: documents.contains(where: \.hasPendingWrites), count: documents.count, causes: [cause])))
  }

  private mutating func refreshWindows() {
    for (tag, query) in windows.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { answer(.openWindow(tag, query)) }
  }

  /// The client's status. It lacks the values that only a real client has: round-trip time and cache size.
  func status() -> ClientStatus {
    let stream = StreamStatus(isOnline ? .open : .closed)
    return ClientStatus(
      onlineState: isOnline ? .online : .offline, isNetworkEnabled: isOnline,
      reason: isOnline ? nil : .networkDisabled, since: since, watch: stream, write: stream,
      activeTargets: isOnline ? state.listeners.count + windows.count : 0, lastSnapshotAt: lastSnapshot)
  }
}

/// A minute of the shop for the wall. In this minute, the dashboard's client also writes and is offline for some time.
extension PlayedShop {
  mutating func playMinute() {
    let start = now.seconds
    var batch: Int64 = 10
    var isUnplugged = false
    while now.seconds < start + 66 {
      happen()
      apply(.tick(now))
      if !isUnplugged, now.seconds >= start + 24 {
        isUnplugged = true
        unplug()
        goOnline()
      } else if now.seconds.isMultiple(of: 3) {
        batch += 1
        pay(as: BatchID(batch))
      }
    }
    wait(milliseconds: 1000)
    apply(.tick(now))
    press([.character("M")])
  }

  /// Marks one of the new orders as paid, with a write of this client.
  private mutating func pay(as batch: BatchID) {
    let status = FieldPath("status")
    let isNew = { (document: Document) in document.data?.fields[status] == .string("new") }
    guard let order = local.values.filter(isNew).map(\.key).min() else { return }
    write(
      Mutation(key: order, operation: .patch(["status": .string("paid")], FieldMask([status]))), as: batch)
    acknowledgeAll(after: 2 + batch.rawValue * 7 % 23)
  }
}

/// A scenario of `hearth play` as a screen. It starts with an empty database and pauses between steps. Expectations are
/// not checked. Faults are shown but have no effect, because there is no server.
extension PlayedShop {
  mutating func play(_ steps: [ScenarioStep]) {
    hear(.collections(below: .root, []))
    hear(.status(status()))
    hear(.committed(.everything))
    var batch: Int64 = 0
    var known: Set<String> = []
    for step in steps {
      wait(milliseconds: 700)
      switch step.action {
      case .client(.listen(let query, _, _)):
        perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
      case .client(.request(.request(.setNetwork(let isOn)))):
        if isOn != isOnline { isOn ? goOnline() : goOffline() }
      case .client(.request(.request(.write(let mutations)))), .world(.write(let mutations)):
        for mutation in mutations {
          batch += 1
          write(mutation, as: BatchID(batch))
        }
        if isOnline { acknowledgeAll() }
      case .client(.request(.fault(let change))): perform(state.cause(change))
      // The screen shows one client. Steps of other clients, and steps that need a real run, have no effect here.
      default: break
      }
      let roots = Set(local.values.filter(\.exists).map { String($0.key.path.segments[0]) })
      if roots != known {
        known = roots
        hear(.collections(below: .root, roots.sorted()))
      }
    }
    wait(milliseconds: 700)
    apply(.tick(now))
  }

  mutating func goOnline() {
    setOnline(true)
    hear(.status(status()))
    hear(.committed(.everything))
    for listener in state.listeners { fire(listener, [], because: .server(SnapshotVersion(now)), syncs: true) }
    acknowledgeAll()
  }

  /// Simulates that the backend acknowledges all pending batches, one after the other.
  /// - Parameter milliseconds: the round-trip time of each acknowledgement.
  mutating func acknowledgeAll(after milliseconds: Int64 = 31) {
    for write in waiting {
      wait(milliseconds: milliseconds)
      waiting.removeFirst()
      hear(.writeAcknowledged(write.id, after: .milliseconds(milliseconds)))
      hear(.pendingWrites(waiting))
      for mutation in write.mutations { overlays[mutation.key] = nil }
      tell(commit(write.mutations), because: .acknowledged(write.id))
    }
  }
}
