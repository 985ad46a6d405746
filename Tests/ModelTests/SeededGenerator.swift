// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same numbers everywhere.
///
/// The state is a counter, so two generators whose states are near each other give shifted copies of one sequence. Seed
/// and purpose are therefore mixed before they become a state.
struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// What numbers are drawn for. Each purpose has a sequence of its own.
  enum Purpose: Hashable, Sendable {
    case setups, operations
    /// A client draws anew each time it starts.
    case client(Int, start: Int)

    fileprivate var words: [UInt64] {
      switch self {
      case .setups: [1]
      case .operations: [2]
      case .client(let index, let start): [3, UInt64(index), UInt64(start)]
      }
    }
  }

  private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var state: UInt64

  init(seed: UInt64, for purpose: Purpose) {
    state = purpose.words.reduce(Self.mixed(seed &+ Self.step)) { state, word in
      Self.mixed((state ^ word) &+ Self.step)
    }
  }

  mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mixed(state)
  }

  /// The finalizer of SplitMix64: each bit of the result depends on each bit of the word.
  private static func mixed(_ word: UInt64) -> UInt64 {
    var mixed = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
