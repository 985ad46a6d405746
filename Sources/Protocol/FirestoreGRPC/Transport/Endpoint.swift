// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TransportSecurity

/// The address of a backend, and how the connection to it is secured.
package struct Endpoint: Hashable, Sendable {
  package enum Security: Hashable, Sendable {
    case plaintext
    /// A connection over TLS.
    /// - Parameter trustRoots: the path of a PEM file with the certificates to trust in place of the system's; `nil`
    ///   for the system's.
    case tls(trustRoots: String?)
  }

  package var host: String
  package var port: Int
  package var security: Security
  /// The path of a local socket, which is used in place of the host and port; `nil` for a network endpoint.
  package private(set) var socket: String?

  package init(host: String, port: Int, security: Security) {
    self.host = host
    self.port = port
    self.security = security
  }

  /// Creates the endpoint of a local socket. The socket's permissions determine who may use it.
  /// - Parameters:
  ///   - path: the socket's path, which has at most 107 bytes.
  ///   - name: the name of the endpoint in messages.
  package init(socket path: String, called name: String) {
    self.init(host: name, port: 0, security: .plaintext)
    socket = path
  }

  /// The endpoint of Google's Cloud Firestore.
  package static let cloudFirestore = Endpoint(
    host: "firestore.googleapis.com", port: 443, security: .tls(trustRoots: nil))

  /// Parses an address.
  /// - Parameters:
  ///   - text: `HOST:PORT`, `HOST` or `[IPv6]:PORT`, optionally after `http://` or `https://`.
  ///   - defaultPort: the port to use if the text contains none; `nil` if the text must contain a port.
  ///   - name: the name of the option or variable that contains the text, for error messages.
  /// - Throws: `invalid-argument`, with the text and the expected format.
  package init(
    _ text: String, defaultPort: Int? = nil, security: Security, from name: String
  ) throws(ModelError) {
    func fail(_ reason: String) -> ModelError {
      ModelError("\(name) \"\(text)\" is not an address: \(reason). Write HOST:PORT, such as 127.0.0.1:8080.")
    }
    var rest = text[...]
    for (scheme, wantsTLS) in [("http://", false), ("https://", true)] where rest.lowercased().hasPrefix(scheme) {
      guard wantsTLS == (security != .plaintext) else {
        throw ModelError(
          wantsTLS
            ? "\(name) \"\(text)\" asks for TLS, but emulators use plain text. Leave out https://, add --trust with "
              + "the trusted certificates, or use --host instead (in a program: FirestoreSettings.host)."
            : "\(name) \"\(text)\" asks for plain text, but the server uses TLS. Leave out http://, or use "
              + "--emulator instead (in a program: useEmulator).")
      }
      rest = rest.dropFirst(scheme.count)
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var port: Substring?
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { throw fail("a bracket is not closed") }
      let after = rest[rest.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else { throw fail("a colon must follow the bracket") }
      if !after.isEmpty { port = after.dropFirst() }
      rest = rest[rest.index(after: rest.startIndex)..<end]
    } else if let colon = rest.lastIndex(of: ":") {
      guard rest.firstIndex(of: ":") == colon else { throw fail("an IPv6 address needs brackets") }
      port = rest[rest.index(after: colon)...]
      rest = rest[..<colon]
    }
    guard !rest.isEmpty else { throw fail("the host is missing") }
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
      throw fail("the host contains an invalid character")
    }
    guard let number = port.map({ Int($0) }) ?? defaultPort else {
      throw fail(port == nil ? "the port is missing" : "the port is not a number")
    }
    guard (1...65535).contains(number) else { throw fail("a port must be between 1 and 65535") }
    self.init(host: String(rest), port: number, security: security)
  }

  /// Whether the host belongs to Google's APIs, which accept access tokens of Google accounts.
  package var isGoogle: Bool {
    let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    return name == "googleapis.com" || name.hasSuffix(".googleapis.com")
  }

  /// Whether bytes sent to the endpoint never leave this machine.
  package var isLoopback: Bool {
    socket != nil || LoopbackName.covers(host.lowercased())
  }

  package var isTLS: Bool { security != .plaintext }

  /// The endpoint as shown in messages: `HOST:PORT`, or the name of the socket.
  package var text: String {
    if socket != nil { return host }
    return (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
  }
}
