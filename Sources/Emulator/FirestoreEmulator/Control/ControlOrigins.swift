// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TransportSecurity

/// The pages that may read and change data over plain HTTP. A browser sends the requests of any page; a page that has
/// its name resolve to this machine (DNS rebinding) even counts as the same origin. It cannot hide its name, though.
struct ControlOrigins: Sendable {
  /// Whether only this machine reaches the port, which then has no other names than the machine's own.
  let isLoopback: Bool
  /// Ends the server; `nil` if a request over HTTP may not do that.
  var stop: (@Sendable () -> Void)?
  /// Pages of any host that may use the data, as `Origin` names them.
  private let allowed: Set<String>
  private let refused: RefusedOrigins

  /// - Parameter report: takes the news of each page that is refused, once.
  init(
    isLoopback: Bool, allowed: Set<String> = [], stop: (@Sendable () -> Void)? = nil,
    report: (@Sendable (String) -> Void)? = nil
  ) {
    (self.isLoopback, self.allowed, self.stop) = (isLoopback, allowed, stop)
    refused = RefusedOrigins(report)
  }

  /// The reason why a request is refused; `nil` if it is not.
  /// - Parameters:
  ///   - host: the header `Host`: the name and port that the caller connected to.
  ///   - origin: the header `Origin`: the page that asks, named by the browser.
  ///   - isControl: whether the request is about the server, not about data.
  func objection(host: String?, origin: String?, isControl: Bool = false) -> String? {
    let name = host.map { Self.name(ofAuthority: $0[...]) }
    if isLoopback, let name, !Self.isLocal(name) {
      return "The request is for \(name), but this server is for this machine alone. Use localhost or 127.0.0.1."
    }
    guard let origin else { return nil }
    let page = origin.firstRange(of: "://").map { Self.name(ofAuthority: origin[$0.upperBound...]) }
    if let page, page == name || (isLoopback && Self.isLocal(page)) { return nil }
    if !isControl, allowed.contains(origin) { return nil }
    refused.tell(origin, isControl: isControl)
    return "The page \(origin) may not use the data here."
  }

  /// The reason why a control request of a page is refused; `nil` if it is not.
  ///
  /// - Pages of other sites: browsers leave `Origin` out of simple GETs and name the site's relation instead.
  /// - Pages of another port of this machine: only requests that need permission (CORS), which forms cannot send.
  func controlObjection(_ request: PlainRequest) -> String? {
    if request.isCrossSite, request.origin == nil { return "Pages of other sites cannot control the server." }
    guard let origin = request.origin, request.method == "POST", !request.isPreflighted else { return nil }
    let authority = origin.firstRange(of: "://").map { origin[$0.upperBound...] }
    if let authority, let host = request.host, authority == host { return nil }
    return "A page of another origin needs the header 'Content-Type: application/json' to control the server."
  }

  /// The name in an authority like `localhost:8080` or `[::1]:8080`.
  private static func name(ofAuthority text: Substring) -> String {
    let name = text.hasPrefix("[") ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
    return name.lowercased()
  }

  private static func isLocal(_ name: String) -> Bool {
    // Browsers take names below `localhost` for this machine as well.
    LoopbackName.covers(name) || name.hasSuffix(".localhost")
  }
}

/// Pages that were refused. The user who serves the data learns of each once, since a page shows no more than that its
/// client is offline.
private final class RefusedOrigins: Sendable {
  /// The bound of reported pages: more are made up by a client.
  private static let most = 100

  private let report: (@Sendable (String) -> Void)?
  private let told = Mutex(Set<String>())

  init(_ report: (@Sendable (String) -> Void)?) { self.report = report }

  func tell(_ origin: String, isControl: Bool) {
    guard let report else { return }
    let isNew = told.withLock { told in told.count < Self.most && told.insert(origin).inserted }
    guard isNew else { return }
    let way =
      isControl ? "Pages of others never control the server." : "To let it, serve with --allow-origin \(origin)."
    report("the page \(origin.prefix(200)) asked for what is served here and was refused. \(way)")
  }
}
