// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A plain HTTP/1 request without a body, as far as it matters here.
struct PlainRequest {
  enum Wish: Equatable {
    case status
    /// Everything below a path: the whole database, a collection or a document with what lies below it.
    case delete(below: ResourcePath, DatabaseID)
    case unknown
  }

  let method: String
  /// As it came, with what follows `?`.
  let target: String
  let wish: Wish
  let host: String?
  let origin: String?
  /// The connection is to go on.
  let isPersistent: Bool

  /// The most bytes of a head.
  static let maximumBytes = 16 << 10

  /// - Parameter head: up to the empty line that ends it.
  /// - Returns: `nil` for what is no request.
  init?(head: some Collection<UInt8>) {
    let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let line = lines.first?.split(separator: " ", omittingEmptySubsequences: false), line.count == 3,
      line[2].hasPrefix("HTTP/1."), !line[0].isEmpty, !line[1].isEmpty
    else { return nil }
    (method, target) = (String(line[0]), String(line[1]))
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers[line[..<colon].lowercased()] = String(value)
    }
    (host, origin) = (headers["host"], headers["origin"])
    let hasBody = headers["transfer-encoding"] != nil || headers["content-length", default: "0"] != "0"
    let connection = headers["connection"]?.lowercased()
    // What a body says is of no interest; without reading it the next request could not be found.
    isPersistent = !hasBody && connection != "close" && (line[2] != "HTTP/1.0" || connection == "keep-alive")
    wish = Self.wish(method, path: target.prefix { $0 != "?" && $0 != "#" })
  }

  private static func wish(_ method: String, path: Substring) -> Wish {
    if path == "/", method == "GET" || method == "HEAD" { return .status }
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(decoded)
    if parts.last == "" { parts.removeLast() }
    guard method == "DELETE", parts.count >= 7, parts[0] == "emulator", parts[1] == "v1", parts[2] == "projects",
      parts[4] == "databases", parts[6] == "documents", !parts[3].isEmpty, !parts[5].isEmpty,
      parts.dropFirst(7).allSatisfy({ !$0.isEmpty && !$0.contains("/") })
    else { return .unknown }
    return .delete(
      below: ResourcePath(parts.dropFirst(7).joined(separator: "/")),
      DatabaseID(project: parts[3], database: parts[5]))
  }

  /// Percent-encoding undone; what is no encoding stays.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Who may ask for something that changes data over plain HTTP. A browser sends what any page wants; a page that has
/// its name resolve to this machine (DNS rebinding) even counts as the same origin. It cannot hide the name, though.
struct ControlOrigins: Sendable {
  /// Only this machine reaches the port, and so has no other names for it than its own.
  let isLoopback: Bool

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
    return "The page \(origin) may not change data here."
  }

  /// `localhost:8080`, `[::1]:8080`
  private static func name(ofAuthority text: Substring) -> String {
    let name = text.hasPrefix("[") ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
    return name.lowercased()
  }

  private static func isLocal(_ name: String) -> Bool {
    if name == "localhost" || name == "localhost." || name.hasSuffix(".localhost") || name == "::1" { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
