// SPDX-License-Identifier: Apache-2.0

/// The events that one listener wants (SEMANTICS §3, initial and later events).
package struct ListenerOptions: Codable, Hashable, Sendable {
  package enum Source: Codable, Hashable, Sendable { case `default`, cache }

  /// Whether the listener gets snapshots in which only metadata changed.
  package var includeMetadataChanges: Bool
  /// The source of the listener's data; for the cache alone the client does not ask the backend.
  package var source: Source
  /// Whether the first snapshot is held back until in sync or offline, as for get().
  package var waitForSyncWhenOnline: Bool

  package init(
    includeMetadataChanges: Bool = false, source: Source = .default, waitForSyncWhenOnline: Bool = false
  ) {
    self.includeMetadataChanges = includeMetadataChanges
    self.source = source
    self.waitForSyncWhenOnline = waitForSyncWhenOnline
  }
}
