// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc
import HTTP2Frames
import NIOCore
import NIOHTTP1
import NIOPosix
import TransportSecurity

/// Converts the error that ends a call to a status. The status's text is a single line that says what is wrong and what
/// to do.
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

  /// The status for a write that was sent but not answered. Its text does not advise a retry, because a retry might
  /// apply the write twice.
  static func unanswered(_ status: RPCStatus, at endpoint: Endpoint) -> RPCStatus {
    RPCStatus(
      status.code,
      "\(endpoint.text) did not acknowledge the write before the connection failed. The write may have been applied. "
        + "Check the document before you write again.")
  }

  private static func status(of failure: TransportFailure, at endpoint: Endpoint) -> RPCStatus {
    let name = endpoint.text
    return switch failure {
    case .unconnected, .cut, .broken, .violated, .silent, .notTaken: unreachable(endpoint, failure)
    case .httpAnswer(let code):
      RPCStatus(
        .unavailable,
        "\(name) responds with HTTP\(code == 0 ? "" : " (\(HTTPResponseStatus(statusCode: code)))"), not gRPC. Check "
          + "the port, and for a proxy in between.",
        // A gateway reports an unreachable server with one of these HTTP statuses.
        isForeign: (502...504).contains(code) ? nil : true)
    case .reset(let code): RPCStatus(statusCode(of: code), "\(name) canceled the call (\(code)).")
    case .withoutHead: RPCStatus(.internal, "The response of \(name) begins without headers.")
    case .withoutStatus: RPCStatus(.internal, "The response of \(name) ends without a status.")
    case .compressed: RPCStatus(.internal, "The response of \(name) is compressed, which was not requested.")
    case .tooLarge(let bytes): RPCStatus(.resourceExhausted, "The response of \(name) is too large: \(bytes) bytes.")
    case .malformed:
      RPCStatus(
        .internal, "\(name) sent an invalid response. Check the port, and whether a proxy is in between.",
        isForeign: true)
    case .withinMessage: RPCStatus(.internal, "The response of \(name) ends within a message.")
    case .overdue: RPCStatus(.deadlineExceeded, "\(name) has not answered in time.")
    case .withoutMessages: RPCStatus(.deadlineExceeded, "\(name) has sent no message for 60 seconds.")
    }
  }

  /// The status code for an HTTP/2 error (gRPC over HTTP/2, "Errors").
  private static func statusCode(of code: HTTP2Code) -> StatusCode {
    switch code {
    case .refusedStream: .unavailable
    case .cancel: .cancelled
    case .enhanceYourCalm: .resourceExhausted
    case .inadequateSecurity: .permissionDenied
    default: .internal
    }
  }

  /// The advice for a rejection that is caused by the choice of backend or credentials; `nil` for other rejections.
  private static func remedy(_ status: RPCStatus, _ credentials: Credentials) -> String? {
    switch status.code {
    case .unauthenticated: credentials.remedy
    case .notFound where status.message.contains("does not exist for project"): "Check --project and --database."
    case .permissionDenied
    where status.message.contains("CONSUMER_INVALID")
      || status.message.contains("on resource project"):
      "Check that the project in --project exists, and that you may use it."
    default: nil
    }
  }

  private static func unreachable(_ endpoint: Endpoint, _ error: any Error) -> RPCStatus {
    let cause = root(of: error)
    return RPCStatus(
      .unavailable, "\(endpoint.text) \(complaint(about: cause, at: endpoint))",
      isForeign: isForeign(cause) ? true : nil)
  }

  /// Whether an error shows that the peer does not speak HTTP/2 correctly.
  private static func isForeign(_ error: any Error) -> Bool {
    if case TransportFailure.violated = error { true } else { false }
  }

  /// The innermost cause, for the user who chose the address. The beginning of the text must be understandable without
  /// the rest, because screens truncate lines.
  private static func complaint(about error: any Error, at endpoint: Endpoint) -> String {
    switch error {
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      return "refuses the connection. Check the port, and that a backend runs there."
    case let error as IOError where [ENETUNREACH, EHOSTUNREACH, ETIMEDOUT].contains(error.errnoCode):
      return "cannot be reached: \(reason(error)). Check the network of this machine."
    case let failure as TLSFailure: return complaint(about: failure)
    case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): return cut(endpoint)
    case ChannelError.connectTimeout:
      return "does not answer. Check the host, the port, the network, and firewalls."
    case is ChannelError: return cut(endpoint)
    case TransportFailure.cut(let hasGreeted): return endpoint.isTLS && !hasGreeted ? endedHandshake : cut(endpoint)
    case TransportFailure.silent: return "does not respond. Check the network and the server."
    case TransportFailure.notTaken: return "accepts no calls at the moment. Try again."
    case TransportFailure.violated(_, hasGreeted: false): return notGRPC(endpoint)
    case TransportFailure.violated(let violation, hasGreeted: true):
      return "\(ConnectionFailure.violation(violation).words). Check whether a proxy is in between."
    default:
      let text = "\(error)"
      let isName = text.contains("resolve") || text.contains("DNS") || text.contains("Name or service")
      if isName { return "is an unknown host. Check its spelling and the network." }
      return "cannot be reached: \(reason(error))."
    }
  }

  /// The text for a connection that the peer or an intermediary closed.
  private static func cut(_ endpoint: Endpoint) -> String {
    "closed the connection before it answered. Try again. If the error repeats, check the port"
      + (endpoint.isTLS ? "." : ", and whether it expects TLS.")
  }

  private static let endedHandshake =
    "closed the connection during the TLS handshake. Its certificate may not be trusted here. Check the host "
    + "name, this machine's clock, and --trust."

  private static func notGRPC(_ endpoint: Endpoint) -> String {
    endpoint.isTLS
      ? "does not speak gRPC. Check the port."
      : "does not speak gRPC in plain text. Check the port, and whether it expects TLS."
  }

  private static func complaint(about failure: TLSFailure) -> String {
    switch failure {
    case .wrongHost: "has a TLS certificate for another host name. Use a name in the certificate."
    case .untrusted(let reason):
      "has a TLS certificate that is not accepted (\(reason)). Check the host name, this machine's clock, and --trust."
    case .notTLS:
      "does not speak TLS. Use plain text for an emulator, or for \"hearth serve\" without a certificate."
    case .cut: endedHandshake
    case .failed(let reason): "failed the TLS handshake (\(reason)). Check that the port speaks TLS."
    case .unreadableCertificate, .unreadableKey, .mismatch: "cannot be reached over TLS: \(failure)."
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

  /// The innermost cause in a few words.
  static func reason(_ error: any Error) -> String {
    switch root(of: error) {
    case let error as NIOConnectionError: "\(error.host) has no address"
    // The text omits the system call and the error number.
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as RPCStatus: error.message
    case let error: "\(error)"
    }
  }
}

/// The failure that ended a call or a connection before the backend's response.
enum TransportFailure: Error {
  /// Connecting failed with this error, which comes from the system or from TLS.
  case unconnected(any Error)
  /// The connection ended without a reason.
  case cut(hasGreeted: Bool)
  /// The connection ended with this error.
  case broken(any Error)
  /// The peer violated HTTP/2. If the peer had not sent its settings, it may use another protocol.
  case violated(HTTP2Violation, hasGreeted: Bool)
  /// The peer did not respond in time.
  case silent
  /// The peer has not processed the call, so the call may be repeated.
  case notTaken
  /// The peer ended only this call.
  case reset(HTTP2Code)
  /// The response is plain HTTP with this status, not gRPC.
  case httpAnswer(Int)
  case withoutHead
  case withoutStatus
  case compressed
  case tooLarge(Int)
  /// The headers of the response are invalid, or the response ends before its first message.
  case malformed
  /// The response ended in the middle of a message.
  case withinMessage
  /// The call's timeout has passed.
  case overdue
  /// No message arrived for a minute.
  case withoutMessages
}
