// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal

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
