// SPDX-License-Identifier: Apache-2.0

/// The customers of a demo: what they do, and how fast.
package struct DemoSettings: Hashable, Sendable {
  /// The seed of what customers do, and of the faults in the client's network.
  package static let standardSeed: UInt64 = 7

  package var seed: UInt64
  /// The factor by which they are faster than people.
  package var speed: Double

  package init(seed: UInt64, speed: Double) { (self.seed, self.speed) = (seed, speed) }
}
