// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreModel

extension SyncCore {
  /// Stores a bundle and shows its documents to the listeners.
  /// - Returns: false for a bundle that was loaded before, or whose newer version was; then nothing happened.
  package mutating func load(_ bundle: Bundle, _ effects: inout [SyncEffect]) throws(LocalStoreError) -> Bool {
    guard let changes = try store.load(bundle) else { return false }
    emit(changes, causes: [.bundleLoaded(bundle.id)], &effects)
    return true
  }
}
