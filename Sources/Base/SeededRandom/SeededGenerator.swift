// SPDX-License-Identifier: Apache-2.0

/// SplitMix64 (Steele, Lea, Flood 2014), a small and fast random number generator. The same seed produces the same
/// numbers on every machine.
///
/// The state is a counter, so two generators with nearby states produce shifted copies of one sequence. For independent
/// sequences, pass the seeds through `mixed`.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  package static let step: UInt64 = 0x9e37_79b9_7f4a_7c15
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  package mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &self)] }

  /// The finalizer of SplitMix64: each bit of the result depends on each bit of the word.
  package static func mixed(_ word: UInt64) -> UInt64 {
    var mixed = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
