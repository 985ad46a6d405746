// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSync

import class Hearth.Client

/// The listeners of a client that the dashboard shows but does not control, such as the client of a scenario.
struct ObservedListeners {
  /// Observes the listeners from the start of the client.
  let tap: ListenerTap
  fileprivate var shown: Set<ListenerTag> = []

  init(_ tap: ListenerTap) { self.tap = tap }
}

/// Shows a client that the dashboard does not control. The dashboard opens no listeners and sends no requests to the
/// server, so that it does not affect the client. The results are read from the client's cache.
extension ClientBridge {
  /// Creates a bridge that shows a client.
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

  /// Reports the events of the client's own listeners.
  func reportListeners() {
    guard let observed else { return }
    let (news, missed) = observed.tap.take()
    if missed > 0 { emit(.snapshotsMissed(missed, [:])) }
    for item in news {
      switch item {
      // Each listener without metadata changes has a second listener with them, which shows all its activity.
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

  /// Removes the rows of the client's listeners from the screen when the client has ended.
  func reportEnd() {
    for tag in observed?.shown.sorted() ?? [] { emit(.listenerStopped(tag)) }
    observed?.shown = []
  }
}
