// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreSQLite

package struct SyncConfiguration: Sendable {
  package var store: LocalStoreConfiguration
  /// Whose queue of pending writes is used; `nil` when nobody is signed in.
  package var user: String?
  package var isNetworkEnabled = true

  package init(store: LocalStoreConfiguration, user: String? = nil) {
    self.store = store
    self.user = user
  }
}

/// Why the durable cache that was asked for is not in use, or is a new one.
package struct CacheProblem: Hashable, Sendable {
  package let error: StoreError
  /// Whether memory takes the place of the cache; otherwise a new cache does, and the damaged one was moved aside.
  package let isInMemory: Bool

  /// For people. The beginning says what matters.
  package var notice: String { isInMemory ? "In memory only. \(error.message)" : error.message }
}
