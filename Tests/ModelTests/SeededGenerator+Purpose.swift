// SPDX-License-Identifier: Apache-2.0
import SeededRandom

extension SeededGenerator {
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

  init(seed: UInt64, for purpose: Purpose) {
    self.init(
      seed: purpose.words.reduce(Self.mixed(seed &+ Self.step)) { state, word in
        Self.mixed((state ^ word) &+ Self.step)
      })
  }
}
