// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// The engine's listeners that a dashboard has open, each by its use.
@MainActor
struct Subscriptions {
  enum ID: Hashable {
    case listener(ListenerTag)
    case window(WindowTag)
    case detail(DocumentKey)
  }

  private struct Subscription {
    let listener: ListenerID
    let mailbox: SnapshotMailbox
    let reading: Task<Void, Never>
  }

  private let engine: SyncEngine
  private var open: [ID: Subscription] = [:]

  init(_ engine: SyncEngine) { self.engine = engine }

  func isOpen(_ id: ID) -> Bool { open[id] != nil }

  mutating func open(
    _ id: ID, _ query: Query, _ options: ListenerOptions = ListenerOptions(includeMetadataChanges: true),
    _ handle: @escaping @MainActor (SnapshotMailbox.Element) -> Void
  ) {
    let mailbox = SnapshotMailbox()
    let listener = engine.listen(to: query, options: options, into: mailbox)
    let reading = Task { while let element = await mailbox.next() { handle(element) } }
    open[id] = Subscription(listener: listener, mailbox: mailbox, reading: reading)
  }

  /// Forgets a listener that the engine has ended.
  mutating func forget(_ id: ID) { open[id] = nil }

  mutating func close(_ id: ID) {
    guard let subscription = open.removeValue(forKey: id) else { return }
    engine.stopListening(subscription.listener)
    subscription.mailbox.finish()
    subscription.reading.cancel()
  }

  mutating func closeAll() { for id in Array(open.keys) { close(id) } }
}
