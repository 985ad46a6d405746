// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreModel

extension SyncCore {
  /// Stores a bundle at once and shows its documents to the listeners.
  /// - Returns: false for a bundle that was loaded before, or whose newer version was; then nothing happened.
  package mutating func load(_ bundle: Bundle, _ effects: inout [SyncEffect]) throws(LocalStoreError) -> Bool {
    if try store.hasLoaded(bundle) { return false }
    try load(bundle.entries[...], of: bundle, &effects)
    try store.finish(bundle)
    return true
  }

  /// Stores some of a bundle's documents and shows them to the listeners.
  mutating func load(
    _ slice: ArraySlice<Bundle.Entry>, of bundle: Bundle, _ effects: inout [SyncEffect]
  ) throws(LocalStoreError) {
    let changes = try store.store(slice, of: bundle, isFirst: slice.startIndex == bundle.entries.startIndex)
    emit(changes, causes: [.bundleLoaded(bundle.id)], &effects)
  }
}
