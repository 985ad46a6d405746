// SPDX-License-Identifier: Apache-2.0

/// One visible character that is safe to send to a terminal: a base scalar and at most two combining marks.
///
/// Packed into eight bytes, because a screen is redrawn from scratch for every frame: 21 bits per scalar and one for
/// the width. Only `SafeText` makes clusters from user data.
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

  /// Columns: 0 for the right half of a wide cluster, else 1 or 2.
  package var width: Int { bits == 0 ? 0 : bits >> 63 == 1 ? 2 : 1 }

  var isContinuation: Bool { bits == 0 }

  /// The cluster with one more mark; marks beyond the limit are dropped.
  func adding(mark: Unicode.Scalar) -> Cluster {
    if bits >> 21 & 0x1F_FFFF == 0 { return Cluster(bits: bits | UInt64(mark.value) << 21) }
    if bits >> 42 & 0x1F_FFFF == 0 { return Cluster(bits: bits | UInt64(mark.value) << 42) }
    return self
  }

  /// The base scalar; `nil` for the right half of a wide cluster.
  package var base: Unicode.Scalar? { isContinuation ? nil : Unicode.Scalar(UInt32(bits & 0x1F_FFFF)) }

  /// The ASCII code if the cluster is plain ASCII.
  package var ascii: UInt8? { bits < 0x80 && bits != 0 ? UInt8(bits) : nil }

  /// The values of base and marks, 0 for none: what a screen writer needs, without an allocation per cell.
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
