// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import GRPCCore
import Glibc
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Turns what ends a call into a status of one line that says what is wrong and how to mend it.
enum CallFailure {
  static func status(of error: any Error, at endpoint: Endpoint, _ credentials: Credentials) -> RPCStatus {
    switch error {
    case let error as RPCStatus: return error
    case let error as RPCError: return status(of: error, at: endpoint, credentials)
    default: return unreachable(endpoint, error)
    }
  }

  private static func status(of error: RPCError, at endpoint: Endpoint, _ credentials: Credentials) -> RPCStatus {
    if error.code == .unavailable, error.cause != nil || error.isAboutConnecting { return unreachable(endpoint, error) }
    if error.message.hasPrefix("Unexpected non-200 HTTP Status Code") {
      let code = error.message.firstMatch(of: /\(([^)]*)\)/).map { " (\($0.output.1))" } ?? ""
      return RPCStatus(
        .unavailable,
        "\(endpoint.text) answers in HTTP\(code) and not in gRPC. Check the port, and for a proxy in between."
      )
    }
    let message = error.message.split(whereSeparator: \.isNewline).joined(separator: " ")
    var status = RPCStatus(StatusCode(error.code), message)
    if let remedy = remedy(status, credentials) { status.message += " " + remedy }
    return status
  }

  /// What the user can do about a refusal that comes from how the backend was chosen, not from the request.
  private static func remedy(_ status: RPCStatus, _ credentials: Credentials) -> String? {
    switch status.code {
    case .unauthenticated: credentials.remedy
    case .notFound where status.message.contains("does not exist for project"): "Check --project and --database."
    case .permissionDenied
    where status.message.contains("CONSUMER_INVALID")
      || status.message.contains("on resource project"):
      "Check that the project of --project exists, and who may use it."
    default: nil
    }
  }

  private static func unreachable(_ endpoint: Endpoint, _ error: any Error) -> RPCStatus {
    RPCStatus(.unavailable, "\(endpoint.text) \(complaint(about: root(of: error), at: endpoint))")
  }

  /// What the innermost cause means for the user who chose the address. The beginning says it all: screens cut lines.
  private static func complaint(about error: any Error, at endpoint: Endpoint) -> String {
    switch error {
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      return "refuses the connection. Check the port, and that a backend runs there."
    case let error as IOError where [ENETUNREACH, EHOSTUNREACH, ETIMEDOUT].contains(error.errnoCode):
      return "cannot be reached: \(reason(error)). Check the network of this machine."
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      return "has a TLS certificate for another host name. Use a name that the certificate has."
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: return tlsComplaint("\(error)", endpoint)
    case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): return cut(endpoint)
    case let error as RPCError where error.message.contains("closed the connection before completing the HTTP/2"):
      return endpoint.isTLS ? endedHandshake : cut(endpoint)
    case let error as RPCError where error.isAboutCutting: return cut(endpoint)
    case let error as RPCError where error.isAboutConnecting && !endpoint.isTLS: return notGRPC(endpoint)
    case is any NIOHTTP2Error: return notGRPC(endpoint)
    default:
      let text = "\(error)"
      if text.contains("UnableToParseFrame") || text.contains("BadPreface") { return notGRPC(endpoint) }
      let isName = text.contains("resolve") || text.contains("DNS") || text.contains("Name or service")
      if isName { return "is no host that is known. Check its spelling, and the network." }
      return "cannot be reached: \(reason(error))."
    }
  }

  /// Whether the other end did it, or something on the way there, is not known.
  private static func cut(_ endpoint: Endpoint) -> String {
    "closed the connection before it answered. Try again; if that stays so, check the port"
      + (endpoint.isTLS ? "." : ", and whether it expects TLS.")
  }

  private static let endedHandshake =
    "closed the connection while TLS was set up. Its certificate may not be one that is accepted here: check the host "
    + "name, this machine's clock, and --trust."

  private static func notGRPC(_ endpoint: Endpoint) -> String {
    endpoint.isTLS
      ? "does not speak gRPC. Check the port." : "does not speak gRPC in plain text. Check the port; or it expects TLS."
  }

  private static func tlsComplaint(_ text: String, _ endpoint: Endpoint) -> String {
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("UNKNOWN_PROTOCOL") {
      return "does not speak TLS. An emulator, or \"hearth serve\" without a certificate, is reached in plain text."
    }
    if text.uppercased().contains("CERTIFICATE") {
      return "has a TLS certificate that is not accepted. Check the host name, this machine's clock, and --trust."
    }
    return "failed the TLS handshake (\(text)). Check that the port speaks TLS."
  }

  // MARK: Causes

  private static func root(of error: any Error) -> any Error {
    switch error {
    case let error as RPCError: error.cause.map(root) ?? error
    case let error as RuntimeError: error.cause.map(root) ?? error
    case let error as NIOConnectionError: error.connectionErrors.first.map { root(of: $0.error) } ?? error
    default: error
    }
  }

  /// The innermost cause in few words.
  static func reason(_ error: any Error) -> String {
    switch root(of: error) {
    case let error as RPCError: error.message
    case let error as RuntimeError: error.message
    case let error as NIOConnectionError: "\(error.host) has no address"
    // Without what the system call was, and without the number.
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as RPCStatus: error.message
    case let error: "\(error)"
    }
  }
}

extension RPCError {
  /// Whether it was made here, about a connection that did not come about, and is no answer of the backend.
  fileprivate var isAboutConnecting: Bool {
    message.contains("HTTP/2 connection preface") || message.hasPrefix("Channel isn't ready") || isAboutCutting
  }

  /// Whether the connection ended without a reason.
  fileprivate var isAboutCutting: Bool { message.hasPrefix("The TCP connection was dropped") }
}
