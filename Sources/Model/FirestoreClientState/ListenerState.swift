// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// A listener of a client, and the figures of its last snapshot.
package struct ListenerState: Codable, Sendable {
  /// The listener's number; no other listener of the client ever has it.
  package var id: Int
  package var query: Query
  package var options: ListenerOptions
  package var result: Result

  /// The figures of a listener's last snapshot, without the documents.
  package struct Result: Codable, Hashable, Sendable {
    /// The number of documents in the last snapshot; `nil` before the first.
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
