// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Where the embedded backend keeps its data and which clock it follows.
package struct BackendConfiguration: Sendable {
  package enum Location: Hashable, Sendable {
    case memory
    /// A directory that one process may hold at a time (0700, made if absent).
    case directory(String)
  }

  package var location: Location
  /// Commit times follow this clock but never repeat and never go back, whatever it does.
  package var now: @Sendable () -> Timestamp

  package init(location: Location, now: @escaping @Sendable () -> Timestamp) {
    self.location = location
    self.now = now
  }
}
