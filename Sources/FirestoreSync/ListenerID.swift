// SPDX-License-Identifier: Apache-2.0

/// Names a listener for as long as the engine lives.
package struct ListenerID: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerID, right: ListenerID) -> Bool { left.rawValue < right.rawValue }
}
