// SPDX-License-Identifier: Apache-2.0

/// The connection to another program, whose client the dashboard shows. The program itself is named by the
/// configuration.
package struct AttachmentState: Sendable {
  /// The reason why nothing more is told of the program; `nil` while it tells.
  package private(set) var end: String?
  /// Snapshots that the program did not tell.
  package private(set) var missedSnapshots = 0

  package init() {}

  package var isOver: Bool { end != nil }

  /// Ends it once: the first reason is the one that counts.
  /// - Returns: whether it was not over before.
  package mutating func end(because reason: String) -> Bool {
    guard end == nil else { return false }
    end = reason
    return true
  }

  package mutating func miss(_ count: Int) { missedSnapshots += max(0, count) }
}
