// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState

/// The indexes of the cache, and whether it makes new ones where a query would gain by them.
package struct CacheIndexes: Sendable {
  package private(set) var states: [IndexState] = []
  package private(set) var areMadeWhenNeeded = false

  package init() {}

  /// - Returns: whether other indexes are in use than before.
  package mutating func replace(with states: [IndexState]) -> Bool {
    let ready = { (states: [IndexState]) in states.filter { $0.backfill == nil } }
    defer { self.states = states }
    return ready(states) != ready(self.states)
  }

  package mutating func toggleCreation() { areMadeWhenNeeded.toggle() }
}
