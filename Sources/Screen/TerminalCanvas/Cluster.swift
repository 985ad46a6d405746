// SPDX-License-Identifier: Apache-2.0

/// One visible character that is safe to send to a terminal: a base scalar and at most two combining marks.
///
/// A cluster is packed into eight bytes: 21 bits per scalar and one bit for the width. This saves time, because every
/// frame draws all cells. Only `SafeText` makes clusters from user data.
package struct Cluster: Hashable, Sendable {
  private let bits: UInt64

  static let maximumMarks = 2

  init(base: Unicode.Scalar, isWide: Bool) {
    bits = UInt64(base.value) | (isWide ? 1 << 63 : 0)
  }

  private init(bits: UInt64) { self.bits = bits }

  package static let space = Cluster(bits: 0x20)

  /// The right half of a wide cluster.
  static let continuation = Cluster(bits: 0)

  init(ascii: UInt8) { bits = UInt64(ascii) }

  /// The width in columns: 0 for the right half of a wide cluster, else 1 or 2.
  package var width: Int { bits == 0 ? 0 : bits >> 63 == 1 ? 2 : 1 }

  var isContinuation: Bool { bits == 0 }

  /// A copy of the cluster with an additional combining mark. Returns the cluster unchanged if it already has two
  /// marks.
  func adding(mark: Unicode.Scalar) -> Cluster {
    if bits >> 21 & 0x1F_FFFF == 0 { return Cluster(bits: bits | UInt64(mark.value) << 21) }
    if bits >> 42 & 0x1F_FFFF == 0 { return Cluster(bits: bits | UInt64(mark.value) << 42) }
    return self
  }

  /// The base scalar; `nil` for the right half of a wide cluster.
  package var base: Unicode.Scalar? { isContinuation ? nil : Unicode.Scalar(UInt32(bits & 0x1F_FFFF)) }

  /// The ASCII code if the cluster is plain ASCII.
  package var ascii: UInt8? { bits < 0x80 && bits != 0 ? UInt8(bits) : nil }

  /// The code points of the base and of the marks; 0 for none. Code that draws screens uses them to avoid an allocation
  /// per cell.
  package var codes: (base: UInt32, mark1: UInt32, mark2: UInt32) {
    (UInt32(bits & 0x1F_FFFF), UInt32(bits >> 21 & 0x1F_FFFF), UInt32(bits >> 42 & 0x1F_FFFF))
  }

  /// Base and marks in order; empty for the right half of a wide cluster.
  package var scalars: [Unicode.Scalar] {
    guard let base else { return [] }
    let marks = [bits >> 21 & 0x1F_FFFF, bits >> 42 & 0x1F_FFFF]
    return [base] + marks.filter { $0 != 0 }.compactMap { Unicode.Scalar(UInt32($0)) }
  }

  package var text: String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}

/// The width of one scalar in columns, and whether it can be shown at all.
///
/// The C library's table of widths is not used, because it differs between machines and screens must not.
enum CharacterWidth: Hashable, Sendable {
  /// A letter, digit, symbol or space of one column.
  case narrow
  /// Two columns: East Asian wide and fullwidth characters and emoji.
  case wide
  /// A mark drawn over the character before it.
  case combining
  /// A scalar that has no glyph or must not be sent to a terminal: controls, format characters, invisible fillers,
  /// separators.
  case unsafe
  /// Unassigned or private use. Terminals use different widths for these scalars.
  case unknown

  init(_ scalar: Unicode.Scalar) {
    let value = scalar.value
    if value < 0x7F {
      self = value < 0x20 ? .unsafe : .narrow
      return
    }
    if value < 0xA0 {
      self = .unsafe
      return
    }
    if value < 0x0300 {
      self = value == 0xAD ? .unsafe : .narrow
      return
    }
    if Self.isInvisible(value) {
      self = .unsafe
      return
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: self = .combining
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: self = .unsafe
    case .privateUse, .unassigned: self = .unknown
    default: self = Self.isConjoining(value) ? .combining : Self.isWide(value) ? .wide : .narrow
    }
  }

  /// Scalars in a letter or mark category that draw nothing. They could hide text.
  private static func isInvisible(_ value: UInt32) -> Bool {
    switch value {
    case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x3164, 0xFFA0: true
    case 0xFE00...0xFE0D, 0xE0000...0xE0FFF: true
    default: false
    }
  }

  /// Hangul vowels and final consonants, which combine with the previous character into a syllable.
  private static func isConjoining(_ value: UInt32) -> Bool {
    (0x1161...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value)
  }

  static func isWide(_ value: UInt32) -> Bool {
    guard value >= 0x1100 else { return false }
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wideRanges.count && wideRanges[low].contains(value)
  }

  /// East_Asian_Width W and F of Unicode 14, with the emoji of Unicode 15 and 16 and the hexagrams. The ranges include
  /// some unassigned scalars and combining marks, because those are classified before this table is used.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
    0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
    0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
    0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
    0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE6B,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E,
    0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA,
    0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC,
    0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4,
    0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC,
    0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF8,
    0x20000...0x3FFFD,
  ]
}
