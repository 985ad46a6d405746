// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A record of what clients did and were told, as far as a scenario can say it: the form between recordings and scenarios.
package struct Story: Sendable {
  package enum Event: Sendable {
    /// A listener begins; its tag tells it from others of the client.
    case listen(tag: Int, name: String, FirestoreQuery.Query, ListenerOptions)
    case stop(tag: Int)
    case network(isOn: Bool)
    case fault(FaultChange)
    /// A write is queued under a number that its answer has, too.
    case write(Int, [Mutation])
    /// The answer to a write; `nil` for an acknowledgement.
    case answer(Int, StatusCode?)
    case snapshot(StorySnapshot)
    case listenerFailed(tag: Int, StatusCode)
    /// A document as it was seen at the server, beside listeners.
    case seen(DocumentKey, Fields)
    /// Anything that no step says.
    case untold(String)
  }

  package struct Moment: Sendable {
    package var time: Timestamp
    /// The client; `nil` for the only one.
    package var client: String?
    package var event: Event

    package init(_ time: Timestamp, _ client: String? = nil, _ event: Event) {
      (self.time, self.client, self.event) = (time, client, event)
    }
  }

  /// The sentence about where it comes from, the first remark of the scenario.
  package var summary: String
  package var database: DatabaseID
  /// The clients with the users who are signed in; none for one client without a name and a user.
  package var clients: [(name: String, user: String?)] = []
  package var moments: [Moment] = []

  package init(_ summary: String, in database: DatabaseID) { (self.summary, self.database) = (summary, database) }

  package mutating func add(_ event: Event, at time: Timestamp, of client: String? = nil) {
    moments.append(Moment(time, client, event))
  }
}

/// A snapshot of a listener, as it was told.
package struct StorySnapshot: Sendable {
  package struct Change: Sendable {
    package var kind: DocumentChange.Kind
    package var key: DocumentKey
    /// The content; of a document that left the result the content that it has now, if that is known.
    package var fields: Fields?
    /// Whether a document that left the result is deleted; `nil` where that is not known.
    package var isDeleted: Bool?
    /// Whether a write of the client shows in it that the server has not told.
    package var hasOwnWrite: Bool

    package init(
      _ kind: DocumentChange.Kind, _ key: DocumentKey, _ fields: Fields?, isDeleted: Bool? = nil, hasOwnWrite: Bool
    ) {
      (self.kind, self.key, self.fields) = (kind, key, fields)
      (self.isDeleted, self.hasOwnWrite) = (isDeleted, hasOwnWrite)
    }
  }

  package var tag: Int
  package var changes: [Change]
  package var isFromCache: Bool
  /// Whether the server has told something that is in it.
  package var isOfServer: Bool
  /// The number of changes that the record leaves out.
  package var omitted: Int

  package init(tag: Int, _ changes: [Change], isFromCache: Bool, isOfServer: Bool, omitted: Int = 0) {
    (self.tag, self.changes, self.isFromCache) = (tag, changes, isFromCache)
    (self.isOfServer, self.omitted) = (isOfServer, omitted)
  }
}
