// SPDX-License-Identifier: Apache-2.0

package enum StreamKind: Hashable, Sendable, CaseIterable { case watch, write }

/// Numbers the attempts to keep one stream open. A message that carries another epoch than the current one comes
/// from a stream that was given up and is dropped (S8).
package struct StreamEpoch: Hashable, Comparable, Sendable, CustomStringConvertible {
  package private(set) var rawValue: Int

  package init(_ rawValue: Int = 0) { self.rawValue = rawValue }

  package mutating func advance() { rawValue += 1 }
  package static func < (left: StreamEpoch, right: StreamEpoch) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "epoch \(rawValue)" }
}
