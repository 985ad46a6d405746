// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

import class Hearth.Client

/// The listeners of a client that the dashboard shows but does not control, such as the client of a scenario.
struct ObservedListeners {
  /// The tap that sees the listeners and writes from the client's start.
  let tap: ListenerTap
  /// The database behind the client's network and its faults, which has the versions that a write replaced.
  let server: any Datastore
  fileprivate var shown: Set<ListenerTag> = []

  init(_ tap: ListenerTap, server: any Datastore) { (self.tap, self.server) = (tap, server) }
}

/// A client that the dashboard only shows. The bridge opens no listener and sends nothing over the client's network, so
/// that the screen changes nothing. The results come from the cache; only the versions that a write replaced are read
/// from the database directly.
extension ClientBridge {
  /// Creates a bridge that shows a client.
  convenience init(
    showing client: Client, _ faults: FaultInjector, _ listeners: ObservedListeners, of database: DatabaseID,
    report: @escaping @MainActor (ScreenEvent) -> Void
  ) {
    self.init(
      client, faults: faults, dataNotice: nil, transferPlace: (database, nil), tellsCommits: false,
      showing: listeners, report: report)
    tellsAnswers = true
    request { await $0.followStatus() }
    listCollections(below: .root)
  }

  /// Reports the events of the client's own listeners.
  func reportListeners() {
    takeObserved()
    if observed != nil { subscriptions.readAgain() }
  }

  /// Reports the activity of the client's own listeners, and records the documents that the authors of its writes saw.
  /// A status is published after this, because conflicts are detected with these documents.
  func takeObserved() {
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
      case .wrote(let batch, let mutations, let documents):
        let contents = Set(mutations.map(\.key)).map { ($0, UndoLog.Contents(documents[$0])) }
        noteSeen(Dictionary(uniqueKeysWithValues: contents), by: batch, mutations)
      }
    }
  }

  /// Removes the rows of the client's listeners from the screen when the client has ended.
  func reportEnd() {
    for tag in observed?.shown.sorted() ?? [] { emit(.listenerStopped(tag)) }
    observed?.shown = []
  }
}
