// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
import FirestoreSQLite

/// Why the durable cache that was asked for is not in use, or is a new one.
package struct CacheProblem: Hashable, Sendable {
  package let error: LocalStoreError
  /// Whether memory takes the place of the cache; otherwise a new cache does, and the damaged one was moved aside.
  package let isInMemory: Bool

  /// For people. The beginning says what matters.
  package var notice: String { isInMemory ? "In memory only. \(error.message)" : error.message }
}
