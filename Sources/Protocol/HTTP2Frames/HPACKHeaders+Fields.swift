// SPDX-License-Identifier: Apache-2.0
package import NIOHPACK

// The form of fields (RFC 9113, 8.2 and 8.3).

extension HPACKHeaders {
  private static let ofConnections: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
  ]

  /// Whether the names and values have the form that HTTP/2 requires.
  /// - Parameters:
  ///   - pseudoHeaders: the allowed pseudo-headers, each at most once and before all other fields.
  ///   - allowsBlanks: whether values may begin and end with blanks.
  package func areFields(pseudoHeaders: Set<String>, allowsBlanks: Bool = false) -> Bool {
    var missing = pseudoHeaders
    var isPastPseudoHeaders = false
    for (name, value, _) in self {
      guard Self.isValue(value), allowsBlanks || !Self.hasBlanks(value) else { return false }
      if name.utf8.first == UInt8(ascii: ":") {
        guard !isPastPseudoHeaders, missing.remove(name) != nil else { return false }
      } else {
        isPastPseudoHeaders = true
        guard Self.isName(name), name != "te" || value == "trailers" else { return false }
      }
    }
    return true
  }

  /// The size of the list as SETTINGS_MAX_HEADER_LIST_SIZE counts it.
  package var listSize: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 } }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) && $0 != UInt8(ascii: ":") }
      && !ofConnections.contains(name)
  }

  private static func isValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 != 0 && $0 != 0x0a && $0 != 0x0d }
  }

  private static func hasBlanks(_ value: String) -> Bool {
    guard let first = value.utf8.first, let last = value.utf8.last else { return false }
    return isBlank(first) || isBlank(last)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
