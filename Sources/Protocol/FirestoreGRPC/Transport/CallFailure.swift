// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc
import HTTP2Frames
import NIOCore
import NIOHTTP1
import NIOPosix
import TransportSecurity

/// Turns the error that ends a call into a status of one line with the mistake and its remedy.
enum CallFailure {
  static func status(of error: any Error, at endpoint: Endpoint, _ credentials: Credentials) -> RPCStatus {
    switch error {
    case var status as RPCStatus:
      status.message = status.message.split(whereSeparator: \.isNewline).joined(separator: " ")
      if let remedy = remedy(status, credentials) { status.message += " " + remedy }
      return status
    case let failure as TransportFailure: return status(of: failure, at: endpoint)
    default: return unreachable(endpoint, error)
    }
  }

  /// The status of a write that was sent and not answered, without advice to try it again: it might happen twice.
  static func unanswered(_ status: RPCStatus, at endpoint: Endpoint) -> RPCStatus {
    RPCStatus(
      status.code,
      "\(endpoint.text) took the write and has not answered: the connection ended or fell silent. The write may have been "
        + "applied all the same; look before you write it again.")
  }

  private static func status(of failure: TransportFailure, at endpoint: Endpoint) -> RPCStatus {
    let name = endpoint.text
    return switch failure {
    case .unconnected, .cut, .broken, .violated, .silent, .notTaken: unreachable(endpoint, failure)
    case .httpAnswer(let code):
      RPCStatus(
        .unavailable,
        "\(name) answers in HTTP\(code == 0 ? "" : " (\(HTTPResponseStatus(statusCode: code)))") and not in gRPC. Check "
          + "the port, and for a proxy in between.",
        // A gateway that finds its server gone says so in HTTP.
        isForeign: (502...504).contains(code) ? nil : true)
    case .reset(let code): RPCStatus(statusCode(of: code), "\(name) broke the call off (\(code)).")
    case .withoutHead: RPCStatus(.internal, "The answer of \(name) begins without headers.")
    case .withoutStatus: RPCStatus(.internal, "The answer of \(name) ends without a status.")
    case .compressed: RPCStatus(.internal, "The answer of \(name) is compressed, which was not asked for.")
    case .tooLarge(let bytes): RPCStatus(.resourceExhausted, "The answer of \(name) has \(bytes) bytes: too many.")
    case .malformed:
      RPCStatus(
        .internal, "\(name) sent an invalid response. Check the port, and for a proxy in between.", isForeign: true)
    case .withinMessage: RPCStatus(.internal, "The response of \(name) ends within a message.")
    case .overdue: RPCStatus(.deadlineExceeded, "\(name) has not answered in time.")
    case .withoutMessages: RPCStatus(.deadlineExceeded, "\(name) has sent no message for 60 seconds.")
    }
  }

  /// The status of an HTTP/2 error (gRPC over HTTP/2, "Errors").
  private static func statusCode(of code: HTTP2Code) -> StatusCode {
    switch code {
    case .refusedStream: .unavailable
    case .cancel: .cancelled
    case .enhanceYourCalm: .resourceExhausted
    case .inadequateSecurity: .permissionDenied
    default: .internal
    }
  }

  /// The user's remedy for a refusal that comes from the choice of the backend, not from the request; `nil` if there is
  /// none.
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
    let cause = root(of: error)
    return RPCStatus(
      .unavailable, "\(endpoint.text) \(complaint(about: cause, at: endpoint))",
      isForeign: isForeign(cause) ? true : nil)
  }

  /// Whether an error says that the other end does not speak HTTP/2, or not as it should.
  private static func isForeign(_ error: any Error) -> Bool {
    if case TransportFailure.violated = error { true } else { false }
  }

  /// The meaning of the innermost cause for the user who chose the address. The beginning must suffice: screens cut
  /// lines.
  private static func complaint(about error: any Error, at endpoint: Endpoint) -> String {
    switch error {
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      return "refuses the connection. Check the port, and that a backend runs there."
    case let error as IOError where [ENETUNREACH, EHOSTUNREACH, ETIMEDOUT].contains(error.errnoCode):
      return "cannot be reached: \(reason(error)). Check the network of this machine."
    case let failure as TLSFailure: return complaint(about: failure)
    case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): return cut(endpoint)
    case ChannelError.connectTimeout:
      return "does not answer. Check host and port, the network, and what may drop connections on the way."
    case is ChannelError: return cut(endpoint)
    case TransportFailure.cut(let hasGreeted): return endpoint.isTLS && !hasGreeted ? endedHandshake : cut(endpoint)
    case TransportFailure.silent: return "gives no sign of life. Check the network, and that the server answers."
    case TransportFailure.notTaken: return "takes no calls at the moment. Try again."
    case TransportFailure.violated(_, hasGreeted: false): return notGRPC(endpoint)
    case TransportFailure.violated(let violation, hasGreeted: true):
      return "\(ConnectionFailure.violation(violation).words). Check for a proxy in between."
    default:
      let text = "\(error)"
      let isName = text.contains("resolve") || text.contains("DNS") || text.contains("Name or service")
      if isName { return "is no host that is known. Check its spelling, and the network." }
      return "cannot be reached: \(reason(error))."
    }
  }

  /// The complaint about a closed connection; the other end or a part of the way there may have closed it.
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

  private static func complaint(about failure: TLSFailure) -> String {
    switch failure {
    case .wrongHost: "has a TLS certificate for another host name. Use a name that the certificate has."
    case .untrusted(let reason):
      "has a TLS certificate that is not accepted (\(reason)). Check the host name, this machine's clock, and --trust."
    case .notTLS:
      "does not speak TLS. An emulator, or \"hearth serve\" without a certificate, is reached in plain text."
    case .cut: endedHandshake
    case .failed(let reason): "failed the TLS handshake (\(reason)). Check that the port speaks TLS."
    case .unreadableCertificate, .unreadableKey, .mismatch: "cannot be spoken to over TLS: \(failure)."
    }
  }

  // MARK: Causes

  private static func root(of error: any Error) -> any Error {
    switch error {
    case TransportFailure.unconnected(let cause), TransportFailure.broken(let cause): root(of: cause)
    case let error as NIOConnectionError: error.connectionErrors.first.map { root(of: $0.error) } ?? error
    default: error
    }
  }

  /// The innermost cause in few words.
  static func reason(_ error: any Error) -> String {
    switch root(of: error) {
    case let error as NIOConnectionError: "\(error.host) has no address"
    // The system call and the error number are left out.
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as RPCStatus: error.message
    case let error: "\(error)"
    }
  }
}

/// The failure that ended a call or a connection without an answer of the backend.
enum TransportFailure: Error {
  /// There is no connection, with the error of the system or of TLS.
  case unconnected(any Error)
  /// The connection ended without a reason.
  case cut(hasGreeted: Bool)
  /// The connection ended with this error.
  case broken(any Error)
  /// The peer sent what HTTP/2 does not allow; before its greeting it may speak something else.
  case violated(HTTP2Violation, hasGreeted: Bool)
  /// The peer gave no sign of life in time.
  case silent
  /// The peer has not looked at the call, which may be made again.
  case notTaken
  /// The peer ended the call alone.
  case reset(HTTP2Code)
  /// The answer is not of gRPC but of HTTP, with this status.
  case httpAnswer(Int)
  case withoutHead
  case withoutStatus
  case compressed
  case tooLarge(Int)
  /// The headers of the response are invalid, or it never gets to its first message.
  case malformed
  /// The response ended within a message.
  case withinMessage
  /// The call's timeout is over.
  case overdue
  /// No message arrived for a minute.
  case withoutMessages
}
