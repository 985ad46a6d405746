// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSync

import class Hearth.Client

/// The listeners of a client that the dashboard only shows, such as one of a scenario.
struct ObservedListeners {
  /// Sees the listeners from the client's first moment on.
  let tap: ListenerTap
  fileprivate var shown: Set<ListenerTag> = []

  init(_ tap: ListenerTap) { self.tap = tap }
}

/// A client that the dashboard only shows: the bridge opens no listener and asks the server for nothing, so that the same
/// happens as without a screen. The results come from the cache.
extension ClientBridge {
  /// Begins to show a client.
  convenience init(
    showing client: Client, _ faults: FaultInjector, _ listeners: ObservedListeners, of database: DatabaseID,
    report: @escaping @MainActor (ScreenEvent) -> Void
  ) {
    self.init(
      client, faults: faults, dataNotice: nil, transferPlace: (database, nil), tellsCommits: false,
      showing: listeners, report: report)
    request { await $0.followStatus() }
    listCollections(below: .root)
  }

  /// Reports what the client's own listeners have done.
  func reportListeners() {
    guard let observed else { return }
    let (news, missed) = observed.tap.take()
    if missed > 0 { emit(.snapshotsMissed(missed, [:])) }
    for item in news {
      switch item {
      // Listeners without metadata have one with it beside them, which shows all that they do.
      case .opened(let listener) where listener.options.includeMetadataChanges:
        self.observed?.shown.insert(ListenerTag(listener.id))
        emit(.listenerStarted(listener))
      case .opened: break
      case .snapshot(let id, let snapshot, _):
        let tag = ListenerTag(id.rawValue)
        if self.observed?.shown.contains(tag) == true { emit(snapshot, of: tag) }
      case .ended(let id, let status):
        guard let tag = self.observed?.shown.remove(ListenerTag(id.rawValue)) else { continue }
        emit(status.map { .listenerFailed(tag, $0) } ?? .listenerStopped(tag))
      }
    }
    subscriptions.readAgain()
  }

  /// Takes the rows of the client's listeners from the screen, as the client has ended.
  func reportEnd() {
    for tag in observed?.shown.sorted() ?? [] { emit(.listenerStopped(tag)) }
    observed?.shown = []
  }
}
