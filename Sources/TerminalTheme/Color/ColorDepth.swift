// SPDX-License-Identifier: Apache-2.0

/// How many colours a terminal can show.
package enum ColorDepth: Int, CaseIterable, Comparable, Hashable, Sendable {
  case mono, eight, sixteen, c256, trueColor

  package static func < (one: ColorDepth, two: ColorDepth) -> Bool { one.rawValue < two.rawValue }
}
