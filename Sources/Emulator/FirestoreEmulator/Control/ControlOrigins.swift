// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TransportSecurity

/// Decides which web pages may read and change data over plain HTTP. A browser sends requests for any page. With DNS
/// rebinding, a page whose host name resolves to this machine even counts as the same origin, but the request still
/// contains that name.
struct ControlOrigins: Sendable {
  /// Whether the port is reachable only from this machine. If so, only loopback host names are valid.
  let isLoopback: Bool
  /// Whether requests must not clear the data, because the data is used for more than tests.
  let protectsData: Bool
  /// Ends the server; `nil` if requests over HTTP may not do so.
  var stop: (@Sendable () -> Void)?
  /// The origins, on any host, whose pages may use the data. In the format of the header `Origin`.
  private let allowed: Set<String>
  private let refused: RefusedOrigins

  /// - Parameter report: receives one message for each rejected page.
  init(
    isLoopback: Bool, allowed: Set<String> = [], protectsData: Bool = false, stop: (@Sendable () -> Void)? = nil,
    report: (@Sendable (String) -> Void)? = nil
  ) {
    (self.isLoopback, self.allowed, self.protectsData, self.stop) = (isLoopback, allowed, protectsData, stop)
    refused = RefusedOrigins(report)
  }

  /// The reason why a request is rejected; `nil` if it is accepted.
  /// - Parameters:
  ///   - host: the header `Host`: the name and port that the caller connected to.
  ///   - origin: the header `Origin`: the page that sends the request, as the browser reports it.
  ///   - isControl: whether the request concerns the server rather than data.
  func objection(host: String?, origin: String?, isControl: Bool = false) -> String? {
    let name = host.map { Self.name(ofAuthority: $0[...]) }
    if isLoopback, let name, !Self.isLocal(name) {
      return "The request is for \(name), but this server only serves this machine. Use localhost or 127.0.0.1."
    }
    guard let origin else { return nil }
    let page = origin.firstRange(of: "://").map { Self.name(ofAuthority: origin[$0.upperBound...]) }
    if let page, page == name || (isLoopback && Self.isLocal(page)) { return nil }
    if !isControl, allowed.contains(origin) { return nil }
    refused.tell(origin, isControl: isControl)
    return "The page \(origin) may not use the data of this server."
  }

  /// The reason why a control request of a page is rejected; `nil` if it is accepted.
  ///
  /// - Pages of other sites are rejected. Browsers omit `Origin` from simple GETs, but `Sec-Fetch-Site` shows whether
  ///   the page is from another site.
  /// - Pages on another port of this machine may only send requests that need a CORS preflight, which forms cannot
  ///   send.
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
    // Browsers also treat names below `localhost` as this machine.
    LoopbackName.covers(name) || name.hasSuffix(".localhost")
  }
}

/// The rejected pages. The user who serves the data gets one message about each page, since the page itself only shows
/// that its client is offline.
private final class RefusedOrigins: Sendable {
  /// The maximum number of reported pages, because a client can invent any number of pages.
  private static let most = 100

  private let report: (@Sendable (String) -> Void)?
  private let told = Mutex(Set<String>())

  init(_ report: (@Sendable (String) -> Void)?) { self.report = report }

  func tell(_ origin: String, isControl: Bool) {
    guard let report else { return }
    let isNew = told.withLock { told in told.count < Self.most && told.insert(origin).inserted }
    guard isNew else { return }
    let way =
      isControl
      ? "Pages of other sites can never control the server."
      : "To allow it, start the server with --allow-origin \(origin)."
    report("the page \(origin.prefix(200)) requested the served data and was rejected. \(way)")
  }
}
