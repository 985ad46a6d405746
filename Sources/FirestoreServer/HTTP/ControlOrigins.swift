// SPDX-License-Identifier: Apache-2.0
import TransportSecurity

/// Who may read and change data over plain HTTP. A browser sends what any page wants; one that has its name resolve to
/// this machine (DNS rebinding) even counts as the same origin. It cannot hide the name, though.
struct ControlOrigins: Sendable {
  /// Only this machine reaches the port, and so has no other names for it than its own.
  let isLoopback: Bool
  /// Ends the server; `nil` where who asks for that over HTTP does not decide it.
  var stop: (@Sendable () -> Void)?

  init(isLoopback: Bool, stop: (@Sendable () -> Void)? = nil) { (self.isLoopback, self.stop) = (isLoopback, stop) }

  /// Why a request is refused; `nil` if it is not.
  /// - Parameters:
  ///   - host: the header `Host`: the name and port that the caller connected to.
  ///   - origin: the header `Origin`: the page that asks, as browsers say.
  func objection(host: String?, origin: String?) -> String? {
    let name = host.map { Self.name(ofAuthority: $0[...]) }
    if isLoopback, let name, !Self.isLocal(name) {
      return "The request is for \(name), but this server is for this machine alone. Use localhost or 127.0.0.1."
    }
    guard let origin else { return nil }
    let page = origin.firstRange(of: "://").map { Self.name(ofAuthority: origin[$0.upperBound...]) }
    if let page, page == name || (isLoopback && Self.isLocal(page)) { return nil }
    return "The page \(origin) may not use the data here."
  }

  /// `localhost:8080`, `[::1]:8080`
  private static func name(ofAuthority text: Substring) -> String {
    let name = text.hasPrefix("[") ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
    return name.lowercased()
  }

  private static func isLocal(_ name: String) -> Bool {
    // Browsers take those below it for this machine as well.
    LoopbackName.covers(name) || name.hasSuffix(".localhost")
  }
}
