// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The queries with listeners: their views, the listeners of each view, and the lookups of documents in limbo. A view
/// keeps its listeners and lookups until it is closed.
struct Listens: Sendable {
  private(set) var views = ViewTable()
  private(set) var listeners = ListenerTable()
  private(set) var limbo: LimboResolver

  init(maximumLimboResolutions: Int) { limbo = LimboResolver(maximum: maximumLimboResolutions) }

  // MARK: Targets

  /// The strongest interest that any of the target's listeners has; `nil` if there are no listeners.
  func interest(in target: TargetID) -> TargetInterest? {
    let ids = views.ids(of: target)
    if ids.contains(where: { listeners.needsBackend($0) }) { return .backend }
    return ids.contains { listeners.listens(to: $0) } ? .cache : nil
  }

  /// Whether any of the target's listeners needs the backend's result.
  func needsBackend(_ target: TargetID) -> Bool { views.ids(of: target).contains { listeners.needsBackend($0) } }

  /// The targets with listeners that need the backend's result.
  var targetsNeedingBackend: Set<TargetID> {
    Set(views.ids.filter { listeners.needsBackend($0) }.compactMap { views.target(of: $0) })
  }

  /// Describes a target for the `WatchChangeAggregator`, with the keys that the backend has confirmed (S2).
  func watched(_ data: TargetData) -> WatchedTarget {
    if let keys = limbo.syncedKeys(of: data.id) { return WatchedTarget(data.target, data.purpose, keys) }
    let ids = views.ids(of: data.id)
    let keys = ids.first.flatMap { views.read($0, \.syncedKeys) } ?? []
    let others = ids.count < 2 ? [] : ids.dropFirst().compactMap { views.read($0, \.syncedKeys) }
    return WatchedTarget(data.target, data.purpose, keys, others)
  }

  // MARK: Views

  mutating func open(_ view: View, target: TargetID) -> ViewID { views.insert(view, target: target) }

  /// Changes a view in place.
  mutating func update<Result>(_ id: ViewID, _ body: (inout View) -> Result) -> Result? { views.update(id, body) }

  /// Removes a view together with its listeners.
  /// - Returns: the removed listeners, and the lookups that no view needs any more.
  mutating func close(_ id: ViewID) -> (listeners: [ListenerID], lookups: [TargetID]) {
    views.remove(id)
    return (listeners.removeAll(of: id), limbo.removeAll(for: id))
  }

  // MARK: Listeners

  /// - Returns: the first snapshot, if the listener must receive it now.
  mutating func add(
    _ id: ListenerID, to view: ViewID, _ options: ListenerOptions, showing snapshot: ViewSnapshot, _ state: OnlineState
  ) -> [SnapshotDelivery] {
    listeners.add(id, to: view, options, showing: snapshot, state)
  }

  mutating func remove(_ id: ListenerID) -> ListenerTable.Removal? { listeners.remove(id) }

  /// - Parameter raised: receives the snapshots for the view's listeners.
  mutating func show(
    _ snapshot: ViewSnapshot, of view: ViewID, _ state: OnlineState, _ raised: inout [SnapshotDelivery]
  ) {
    listeners.show(snapshot, of: view, state, &raised)
  }

  /// Marks views as unwatched. From now on, they show the documents in the cache.
  /// - Returns: the snapshots for the listeners.
  mutating func becomeUnwatched(_ ids: [ViewID], _ state: OnlineState) -> [SnapshotDelivery] {
    var raised: [SnapshotDelivery] = []
    for id in ids {
      guard let snapshot = views.update(id, { $0.becomeUnwatched() }) ?? nil else { continue }
      listeners.show(snapshot, of: id, state, &raised)
    }
    return raised
  }

  /// Applies a new online state to all views and listeners (S7).
  /// - Returns: the snapshots for the listeners.
  mutating func onlineStateChanged(to state: OnlineState, causes: [SnapshotCause]) -> [SnapshotDelivery] {
    var raised: [SnapshotDelivery] = []
    var snapshots: [(ViewID, ViewSnapshot)] = []
    for id in views.ids {
      if state == .offline, let snapshot = views.update(id, { $0.wentOffline(causes: causes) }) ?? nil {
        snapshots.append((id, snapshot))
      }
      guard let entry = views[id] else { continue }
      raised += listeners.onlineStateChanged(
        to: state, of: id, showing: entry.view.snapshot(causes: state == .offline ? causes : []))
    }
    for (id, snapshot) in snapshots { listeners.show(snapshot, of: id, state, &raised) }
    return raised
  }

  // MARK: Limbo

  /// Makes all views determine their own documents in limbo.
  mutating func trackLimbo() {
    for id in views.ids { _ = views.update(id) { $0.tracksLimbo = true } }
  }

  mutating func stopTrackingLimbo() {
    for id in views.ids { _ = views.update(id) { $0.stopTrackingLimbo() } }
  }

  /// Records which documents are newly in limbo in a view, and which are no longer in limbo.
  /// - Returns: the lookups that no view needs any more.
  mutating func track(_ outcome: View.Outcome, of view: ViewID) -> [TargetID] {
    let lookups = outcome.noLongerInLimbo.compactMap { limbo.remove($0, for: view) }
    for key in outcome.newlyInLimbo { limbo.add(key, for: view) }
    return lookups
  }

  /// Stops a view's lookups.
  /// - Returns: the lookups that no view needs any more.
  mutating func stopLookups(of view: ViewID) -> [TargetID] { limbo.removeAll(for: view) }

  /// Starts waiting lookups until the maximum is reached.
  mutating func startLookups() -> [(id: TargetID, key: DocumentKey)] { limbo.start() }

  /// Ends a lookup that the backend rejected. The document remains in limbo in the views.
  mutating func lookupRefused(_ id: TargetID) { limbo.refused(id) }

  /// Records which of the looked-up documents exist on the backend.
  mutating func lookupsReceived(_ event: RemoteEvent) {
    for (id, change) in event.targetChanges { limbo.receive(change, for: id) }
  }
}

/// The listeners of each view. Determines which snapshots each listener receives (SEMANTICS §3).
struct ListenerTable: Sendable {
  private struct Listener: Sendable {
    let id: ListenerID
    let options: ListenerOptions
    var hasRaisedInitialEvent = false
    var hadPendingWrites = false
  }

  struct Removal: Sendable {
    var view: ViewID
    /// Whether the removed listener was the last one of its view.
    var wasLast: Bool
  }

  private var listeners: [ViewID: [Listener]] = [:]
  private var viewOf: [ListenerID: ViewID] = [:]

  /// Whether a listener of the view needs the backend's result.
  func needsBackend(_ view: ViewID) -> Bool {
    listeners[view]?.contains { $0.options.source == .default } ?? false
  }

  /// Whether the view has a listener.
  func listens(to view: ViewID) -> Bool { listeners[view] != nil }

  func contains(_ id: ListenerID) -> Bool { viewOf[id] != nil }

  /// All listeners, in ascending order of their ids.
  var all: [(id: ListenerID, view: ViewID, options: ListenerOptions, hasRaisedInitialEvent: Bool)] {
    listeners.flatMap { view, listeners in
      listeners.map { (id: $0.id, view: view, options: $0.options, hasRaisedInitialEvent: $0.hasRaisedInitialEvent) }
    }.sorted { $0.id < $1.id }
  }

  /// - Parameter snapshot: the current state of the view.
  /// - Returns: the first snapshot, if the listener must receive it now.
  mutating func add(
    _ id: ListenerID, to view: ViewID, _ options: ListenerOptions, showing snapshot: ViewSnapshot, _ state: OnlineState
  ) -> [SnapshotDelivery] {
    viewOf[id] = view
    var listener = Listener(id: id, options: options)
    var raised: [SnapshotDelivery] = []
    Self.show(snapshot, to: &listener, state, &raised)
    listeners[view, default: []].append(listener)
    return raised
  }

  mutating func remove(_ id: ListenerID) -> Removal? {
    guard let view = viewOf.removeValue(forKey: id) else { return nil }
    listeners[view]?.removeAll { $0.id == id }
    guard listeners[view]?.isEmpty ?? true else { return Removal(view: view, wasLast: false) }
    listeners[view] = nil
    return Removal(view: view, wasLast: true)
  }

  /// Removes all listeners of a closed view.
  /// - Returns: the removed listeners.
  mutating func removeAll(of view: ViewID) -> [ListenerID] {
    let ids = (listeners.removeValue(forKey: view) ?? []).map(\.id)
    for id in ids { viewOf[id] = nil }
    return ids
  }

  /// - Parameter raised: receives the snapshots for the view's listeners.
  mutating func show(
    _ snapshot: ViewSnapshot, of view: ViewID, _ state: OnlineState, _ raised: inout [SnapshotDelivery]
  ) {
    listeners[view]?.modifyEach { Self.show(snapshot, to: &$0, state, &raised) }
  }

  /// Delivers the first snapshot to each listener for which the new online state requires this and the old state did
  /// not.
  mutating func onlineStateChanged(
    to state: OnlineState, of view: ViewID, showing snapshot: @autoclosure () -> ViewSnapshot
  ) -> [SnapshotDelivery] {
    var raised: [SnapshotDelivery] = []
    listeners[view]?.modifyEach { listener in
      if !listener.hasRaisedInitialEvent { Self.show(snapshot(), to: &listener, state, &raised) }
    }
    return raised
  }

  private static func show(
    _ snapshot: ViewSnapshot, to listener: inout Listener, _ state: OnlineState, _ raised: inout [SnapshotDelivery]
  ) {
    let pendingWritesChanged = listener.hadPendingWrites != snapshot.hasPendingWrites
    listener.hadPendingWrites = snapshot.hasPendingWrites
    if !listener.hasRaisedInitialEvent {
      guard raisesInitialEvent(snapshot, listener.options, state) else { return }
      listener.hasRaisedInitialEvent = true
      var initial = snapshot.asInitial()
      initial.causes = SnapshotCause.merging([.listenerAdded], snapshot.causes)
      raised.append(SnapshotDelivery(listener: listener.id, snapshot: initial))
    } else if listener.options.includeMetadataChanges {
      guard snapshot.changeCount > 0 || snapshot.syncStateChanged || pendingWritesChanged else { return }
      raised.append(SnapshotDelivery(listener: listener.id, snapshot: snapshot))
    } else {
      let shown = snapshot.excludingMetadataChanges()
      if shown.changeCount > 0 { raised.append(SnapshotDelivery(listener: listener.id, snapshot: shown)) }
    }
  }

  /// Whether to deliver the first snapshot now (SDK query_listener: ShouldRaiseInitialEvent).
  private static func raisesInitialEvent(
    _ snapshot: ViewSnapshot, _ options: ListenerOptions, _ state: OnlineState
  ) -> Bool {
    if !snapshot.isFromCache || options.source == .cache { return true }
    if options.waitForSyncWhenOnline, state != .offline { return false }
    return !snapshot.documents.isEmpty || snapshot.hasCachedResults || state == .offline
  }
}

extension Array {
  /// Changes each element in place.
  fileprivate mutating func modifyEach(_ change: (inout Element) -> Void) {
    for index in indices { change(&self[index]) }
  }
}
