// SPDX-License-Identifier: Apache-2.0
import FirestoreSync

/// Makes and drops indexes of the persistent cache. As in the SDK none of this reports errors: without an index a query
/// gives the same answer, only later.
public final class PersistentCacheIndexManager: Sendable {
  private let firestore: Firestore

  init(firestore: Firestore) { self.firestore = firestore }

  /// From now on, a query that reads many documents of the cache for few results makes an index for the next time. Off
  /// until it is called; not remembered across starts, while the indexes are.
  public func enableIndexAutoCreation() { setAutoCreation(true) }

  /// Makes no more indexes; those that were made stay and are used.
  public func disableIndexAutoCreation() { setAutoCreation(false) }

  /// Drops all indexes, those that were configured included.
  public func deleteAllIndexes() { try? firestore.client().engine.deleteAllIndexes() }

  private func setAutoCreation(_ isEnabled: Bool) { try? firestore.client().engine.setIndexAutoCreation(isEnabled) }
}
