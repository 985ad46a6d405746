// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// How many whole microseconds this is; the nearest number for one that another program told and that is too long.
  package var wholeMicroseconds: Int64 {
    // Not more than 64 bits have room for.
    let longest = Duration.seconds(9_000_000_000_000)
    if self > longest { return .max }
    if self < .zero - longest { return .min }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
