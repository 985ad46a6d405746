// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// The keys that were pressed last, for an audience: each with how often it was pressed in a row. Keys that follow each
/// other closely stand together, and go together some seconds after the last of them.
package struct PressedKeys: Hashable, Sendable {
  package struct Press: Hashable, Sendable {
    package var key: Key
    package var count = 1
  }

  /// The time in milliseconds for which keys stay after the last one.
  private static let span: Int64 = 3_000
  private static let most = 6

  /// Oldest first.
  package private(set) var presses: [Press] = []
  /// The moment at which the keys go.
  package private(set) var expiry: Timestamp?

  package init() {}

  package mutating func note(_ key: Key, at now: Timestamp) {
    age(to: now)
    if presses.last?.key == key {
      presses[presses.count - 1].count += 1
    } else {
      presses = (presses + [Press(key: key)]).suffix(Self.most)
    }
    expiry = Timestamp(microseconds: now.microseconds &+ Self.span * 1_000)
  }

  package mutating func age(to now: Timestamp) {
    guard let expiry, expiry <= now else { return }
    self = PressedKeys()
  }
}
