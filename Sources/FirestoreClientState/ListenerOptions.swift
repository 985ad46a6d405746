// SPDX-License-Identifier: Apache-2.0

/// What one listener wants to hear (SEMANTICS §3, initial and later events).
package struct ListenerOptions: Codable, Hashable, Sendable {
  package enum Source: Codable, Hashable, Sendable { case `default`, cache }

  /// Raise snapshots in which only metadata changed.
  package var includeMetadataChanges: Bool
  /// A cache-only listener never makes the client ask the backend.
  package var source: Source
  /// get(): hold the first snapshot back until in sync or offline.
  package var waitForSyncWhenOnline: Bool

  package init(
    includeMetadataChanges: Bool = false, source: Source = .default, waitForSyncWhenOnline: Bool = false
  ) {
    self.includeMetadataChanges = includeMetadataChanges
    self.source = source
    self.waitForSyncWhenOnline = waitForSyncWhenOnline
  }
}
