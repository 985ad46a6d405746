// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// A listener of a client, and what its last snapshot came to.
package struct ListenerState: Codable, Sendable {
  /// No other listener of the client has, or will have, the number.
  package var id: Int
  package var query: Query
  package var options: ListenerOptions
  package var result: Result

  /// What a listener has, without the documents.
  package struct Result: Codable, Hashable, Sendable {
    /// Documents in the last snapshot; `nil` before the first.
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
