// SPDX-License-Identifier: Apache-2.0

/// What one listener wants to hear (SEMANTICS §3, initial and later events).
package struct ListenerOptions: Hashable, Sendable {
  package enum Source: Hashable, Sendable { case `default`, cache }

  /// Raise snapshots in which only metadata changed.
  package var includeMetadataChanges = false
  /// A cache-only listener never makes the client ask the backend.
  package var source = Source.default
  /// get(): hold the first snapshot back until in sync or offline.
  package var waitForSyncWhenOnline = false

  package init() {}
}

/// Names a listener for as long as the engine lives.
package struct ListenerID: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerID, right: ListenerID) -> Bool { left.rawValue < right.rawValue }
}
