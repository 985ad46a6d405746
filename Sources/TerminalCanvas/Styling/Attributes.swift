// SPDX-License-Identifier: Apache-2.0

/// Character attributes that every terminal may or may not honour; nothing may depend on one alone.
package struct Attributes: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let bold = Attributes(rawValue: 1)
  package static let dim = Attributes(rawValue: 2)
  package static let underline = Attributes(rawValue: 4)
  package static let reverse = Attributes(rawValue: 8)
  package static let italic = Attributes(rawValue: 16)
}
