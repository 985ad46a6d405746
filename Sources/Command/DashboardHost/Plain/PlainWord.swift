// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A line that a user types to a dashboard without a screen.
package enum PlainWord: Sendable {
  /// Effects that need no further word, such as going offline.
  case perform([ClientEffect])
  case fault(FaultChange)
  case write(Mutation)
  case listen(Query)
  /// End the listener of this name.
  case stop(String)
  /// Cancel a waiting batch, or forget a refused one.
  case drop(BatchID)
  /// Tell a part of what the dashboard shows, in words or as JSON.
  case tell(PlainSubject, asJSON: Bool)
  /// Open a document, and tell what its pane shows.
  case document(DocumentKey, asJSON: Bool)
  /// Tell each further request that the server's rules decide on.
  case followRequests(asJSON: Bool)
  case expect(PlainEvent.Pattern, within: Duration)
  /// No document may change and no write be answered.
  case expectNothing(within: Duration)
  case help
  case quit

  /// Whether a session that may not write refuses it.
  var writes: Bool {
    switch self {
    case .write, .drop: true
    case .perform(let effects):
      effects.contains { effect in
        switch effect {
        case .undo, .redo, .resend, .write, .setWriteAside: true
        default: false
        }
      }
    case .fault, .listen, .stop, .tell, .document, .followRequests, .expect, .expectNothing, .help, .quit: false
    }
  }
}

/// A part of the dashboard that a session without a screen can tell.
package enum PlainSubject: String, CaseIterable, Hashable, Sendable {
  /// The writes that wait, were refused, or were set aside.
  case queue
  case network, listeners
  /// The rows of the feed, as far as they are kept.
  case feed
  /// Targets, streams, the cache, and the times of queries.
  case inside
  /// The collections at the root, with the numbers of their documents.
  case collections
  /// The requests that the server's rules decided on.
  case requests
}

/// An event that a session without a screen can wait for.
package struct PlainEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case added, modified, removed
    /// A listener's result is in sync with the server.
    case synced
    case acknowledged, rejected
  }

  var kind: Kind
  /// The path of the document; `nil` for `synced`, and for a write whose documents are not known.
  var path: ResourcePath?

  package struct Pattern: Hashable, Sendable {
    package var kind: Kind
    /// The path of the document; `nil` for any.
    package var path: ResourcePath?

    package init(kind: Kind, path: ResourcePath? = nil) {
      self.kind = kind
      self.path = path
    }

    func matches(_ event: PlainEvent) -> Bool { kind == event.kind && (path == nil || path == event.path) }

    var words: String { kind.rawValue + (path.map { " \($0.text)" } ?? "") }
  }

  var words: String { kind.rawValue + (path.map { " \($0.text)" } ?? "") }
}

/// The events that were not yet expected, oldest first; of more than `limit` the newest.
struct PlainEvents: Sendable {
  static let limit = 10_000

  private(set) var unread: [PlainEvent] = []

  /// Takes the events of what the client has told.
  /// - Parameter documents: the documents that a batch wrote, as far as they are known.
  mutating func note(_ event: ClientEvent, documents: (BatchID) -> [DocumentKey]?) {
    switch event {
    case .snapshot(let snapshot):
      for change in snapshot.changes {
        let kind: PlainEvent.Kind? =
          switch change.kind {
          case .added: .added
          case .modified: .modified
          case .removed: .removed
          case .metadata: nil
          }
        if let kind { put(PlainEvent(kind: kind, path: change.document.key.path)) }
      }
      if snapshot.syncStateChanged, !snapshot.isFromCache { put(PlainEvent(kind: .synced)) }
    case .writeAcknowledged(let batch, _, let written):
      put(.acknowledged, documents(batch) ?? written?.first.map(\.key))
    case .writeRejected(let batch, _): put(.rejected, documents(batch))
    default: break
    }
  }

  private mutating func put(_ kind: PlainEvent.Kind, _ documents: [DocumentKey]?) {
    guard let documents, !documents.isEmpty else { return put(PlainEvent(kind: kind)) }
    for key in documents { put(PlainEvent(kind: kind, path: key.path)) }
  }

  private mutating func put(_ event: PlainEvent) {
    unread.append(event)
    if unread.count > Self.limit { unread.removeFirst(unread.count - Self.limit) }
  }

  /// Takes the first event that matches, and those before it.
  /// - Returns: whether there is one.
  mutating func take(_ pattern: PlainEvent.Pattern) -> Bool {
    guard let place = unread.firstIndex(where: pattern.matches) else { return false }
    unread.removeFirst(place + 1)
    return true
  }

  /// Takes all events.
  /// - Returns: the first one that is more than a listener in sync.
  mutating func takeSurprise() -> PlainEvent? {
    defer { unread = [] }
    return unread.first { $0.kind != .synced }
  }
}
