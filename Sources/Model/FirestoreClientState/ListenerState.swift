// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// A listener of a client, and a summary of its last snapshot.
package struct ListenerState: Sendable {
  /// The listener's number. The client never reuses it.
  package var id: Int
  package var query: Query
  package var options: ListenerOptions
  package var result: Result
  /// The name of the listener's client if several clients are shown together; otherwise `nil`.
  package var client: String?

  /// A summary of a listener's last snapshot, without the documents.
  package struct Result: Hashable, Sendable {
    /// The number of documents in the last snapshot; `nil` before the first snapshot.
    package var count: Int?
    package var isFromCache: Bool
    package var hasPendingWrites: Bool

    package init(count: Int? = nil, isFromCache: Bool = true, hasPendingWrites: Bool = false) {
      self.count = count
      self.isFromCache = isFromCache
      self.hasPendingWrites = hasPendingWrites
    }
  }

  package init(id: Int, query: Query, options: ListenerOptions, result: Result = Result()) {
    self.id = id
    self.query = query
    self.options = options
    self.result = result
  }
}

/// The options of a listener, which determine the events that the listener receives (SEMANTICS §3, initial and later
/// events).
package struct ListenerOptions: Hashable, Sendable {
  package enum Source: String, Hashable, Sendable { case `default`, cache }

  /// Whether the listener receives snapshots in which only metadata changed.
  package var includeMetadataChanges: Bool
  /// The source of the listener's data. With `cache`, the client does not contact the backend for this listener.
  package var source: Source
  /// Whether the first snapshot waits until the listener is in sync or the client is offline, as for a one-time read.
  package var waitForSyncWhenOnline: Bool

  package init(
    includeMetadataChanges: Bool = false, source: Source = .default, waitForSyncWhenOnline: Bool = false
  ) {
    self.includeMetadataChanges = includeMetadataChanges
    self.source = source
    self.waitForSyncWhenOnline = waitForSyncWhenOnline
  }
}
