// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// The number of whole microseconds; the nearest that 64 bits hold for a duration from another program that is too
  /// long.
  package var wholeMicroseconds: Int64 {
    // The limit keeps the product within 64 bits.
    let longest = Duration.seconds(9_000_000_000_000)
    if self > longest { return .max }
    if self < .zero - longest { return .min }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
