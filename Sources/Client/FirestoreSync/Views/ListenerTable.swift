// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The listeners of each view, and the snapshots that each of them is shown (SEMANTICS §3).
struct ListenerTable: Sendable {
  private struct Listener: Sendable {
    let id: ListenerID
    let options: ListenerOptions
    var hasRaisedInitialEvent = false
    var hadPendingWrites = false
  }

  struct Removal: Sendable {
    var view: ViewID
    /// Whether no listener of the view is left.
    var wasLast: Bool
  }

  private var listeners: [ViewID: [Listener]] = [:]
  private var viewOf: [ListenerID: ViewID] = [:]

  /// Whether a listener of the view wants the backend's answer to its query.
  func needsBackend(_ view: ViewID) -> Bool {
    listeners[view]?.contains { $0.options.source == .default } ?? false
  }

  /// Whether the view has a listener.
  func listens(to view: ViewID) -> Bool { listeners[view] != nil }

  func contains(_ id: ListenerID) -> Bool { viewOf[id] != nil }

  /// All listeners, ascending by id.
  var all: [(id: ListenerID, view: ViewID, options: ListenerOptions, hasRaisedInitialEvent: Bool)] {
    listeners.flatMap { view, listeners in
      listeners.map { (id: $0.id, view: view, options: $0.options, hasRaisedInitialEvent: $0.hasRaisedInitialEvent) }
    }.sorted { $0.id < $1.id }
  }

  /// - Parameter snapshot: the present state of the view.
  /// - Returns: the first snapshot, if it is due at once.
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

  /// Removes all listeners of a view that is over.
  /// - Returns: the listeners that were removed.
  mutating func removeAll(of view: ViewID) -> [ListenerID] {
    let ids = (listeners.removeValue(forKey: view) ?? []).map(\.id)
    for id in ids { viewOf[id] = nil }
    return ids
  }

  /// - Parameter raised: receives what the view's listeners are shown.
  mutating func show(
    _ snapshot: ViewSnapshot, of view: ViewID, _ state: OnlineState, _ raised: inout [SnapshotDelivery]
  ) {
    listeners[view]?.modifyEach { Self.show(snapshot, to: &$0, state, &raised) }
  }

  /// Raises first snapshots that the old state held back.
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

  /// Decides whether the first snapshot is due (SDK query_listener: ShouldRaiseInitialEvent).
  private static func raisesInitialEvent(
    _ snapshot: ViewSnapshot, _ options: ListenerOptions, _ state: OnlineState
  ) -> Bool {
    if !snapshot.isFromCache || options.source == .cache { return true }
    if options.waitForSyncWhenOnline, state != .offline { return false }
    return !snapshot.documents.isEmpty || snapshot.hasCachedResults || state == .offline
  }
}

extension Array {
  /// Changes each element where it is.
  fileprivate mutating func modifyEach(_ change: (inout Element) -> Void) {
    for index in indices { change(&self[index]) }
  }
}
