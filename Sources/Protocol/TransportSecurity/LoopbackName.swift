// SPDX-License-Identifier: Apache-2.0

/// The host names that always refer to this machine.
package enum LoopbackName {
  /// - Parameter host: a host name in lowercase, or an address without brackets.
  package static func covers(_ host: some StringProtocol) -> Bool {
    if host == "localhost" || host == "localhost." || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
