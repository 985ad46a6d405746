// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreSQLite

package struct SyncConfiguration: Sendable {
  package var store: LocalStoreConfiguration
  /// The user whose queue of pending writes is used; `nil` if no user is signed in.
  package var user: String?
  package var isNetworkEnabled = true

  package init(store: LocalStoreConfiguration, user: String? = nil) {
    self.store = store
    self.user = user
  }
}

/// The reason why the durable cache that was asked for is not in use, or is a new one.
package struct CacheProblem: Hashable, Sendable {
  package let error: StoreError
  /// Whether memory takes the place of the cache; otherwise a new cache does, and the damaged one was moved aside.
  package let isInMemory: Bool

  /// The problem in words for the user, the most important ones first.
  package var notice: String { isInMemory ? "In memory only. \(error.message)" : error.message }
}
