// SPDX-License-Identifier: Apache-2.0

/// Text of a canvas that leads somewhere, on terminals that have links (OSC 8).
package struct CanvasLink: Hashable, Sendable {
  package let columns: Range<Int>
  package let y: Int
  package let address: String

  private static let longest = 2_000

  /// Whether an address is of the web, and of nothing but the characters of addresses: no other can end the sequence that
  /// it stands in.
  static func isSafe(_ address: String) -> Bool {
    address.utf8.count <= longest && (address.hasPrefix("https://") || address.hasPrefix("http://"))
      && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
