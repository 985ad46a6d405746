// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import NIOHTTP1

/// The purpose of an HTTP request, according to its head.
struct PlainRequest {
  enum Wish: Equatable {
    case status
    case control(ControlRequest)
    case rest
    /// A WebChannel request.
    case channel
    /// A WebSocket for the rules' decisions.
    case monitor
    /// A preflight request for a page that uses the served data (CORS).
    case preflight
    case unknown
  }

  let method: String
  /// The target as received, including the query.
  let target: String
  let wish: Wish
  let host: String?
  let origin: String?
  /// Whether the browser reports that a page of another site caused the request (Fetch Metadata).
  let isCrossSite: Bool
  /// Whether browsers send a CORS preflight before such a request from another origin. Forms cannot send such requests.
  let isPreflighted: Bool
  /// The header `authorization`, which identifies the caller.
  let authorization: String?
  /// Whether the connection remains open.
  let isPersistent: Bool

  init(_ head: HTTPRequestHead) {
    (method, target) = (head.method.rawValue, head.uri)
    host = head.headers.first(name: "host")
    origin = head.headers.first(name: "origin")
    isCrossSite = head.headers.first(name: "sec-fetch-site") == "cross-site"
    let type = head.headers.first(name: "content-type") ?? ""
    isPreflighted =
      ![.GET, .HEAD, .POST].contains(head.method) || type.hasPrefix("application/json")
      || head.headers.contains { $0.name.lowercased().hasPrefix("x-") || $0.name.lowercased() == "authorization" }
    authorization = head.headers.first(name: "authorization")
    wish = Self.wish(method, target)
    // The connection ends after an upgrade, and with HTTP/1.0 after a response of unknown length.
    let isOneOne = head.version == .http1_1
    isPersistent =
      head.isKeepAlive && !head.headers.contains(name: "upgrade") && head.method != .CONNECT
      && (isOneOne || (wish != .rest && wish != .channel))
  }

  /// Whether the request controls the server, or is the preflight of such a request.
  var isControl: Bool {
    switch wish {
    case .control, .monitor: true
    case .preflight: target.hasPrefix(ControlRequest.root)
    case .status, .rest, .channel, .unknown: false
    }
  }

  /// Whether a path belongs to REST or WebChannel.
  static func isData(_ path: String) -> Bool { RESTCall.root(of: path) != nil || WebChannelRequest.isOne(path) }

  private static func wish(_ method: String, _ target: String) -> Wish {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    if let control = ControlRequest(rulesOf: target, method) { return .control(control) }
    if RESTCall.root(of: target) != nil { return method == "OPTIONS" ? .preflight : .rest }
    if WebChannelRequest.isOne(target) { return method == "OPTIONS" ? .preflight : .channel }
    if target.hasPrefix(ControlRequest.root), method == "OPTIONS" { return .preflight }
    if path == RequestMonitor.path, method == "GET" { return .monitor }
    if path == "/" || path == "/health", method == "GET" || method == "HEAD" { return .status }
    return ControlRequest(method, target).map { .control($0) } ?? .unknown
  }
}

extension HTTPRequestHead {
  /// The request with a target that begins with the path. If the target has a host, it replaces the Host field (RFC
  /// 9112 §3.2.2).
  var inOriginForm: HTTPRequestHead {
    guard let scheme = ["http://", "https://"].first(where: { uri.lowercased().hasPrefix($0) }),
      headers["host"].count == 1
    else { return self }
    let rest = uri.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let target = rest.dropFirst(authority.count)
    var head = self
    head.uri = target.first == "/" ? String(target) : "/" + target
    head.headers.replaceOrAdd(name: "host", value: String(authority))
    return head
  }
}
