// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreWire
import GRPCCore
import NIOCore
import NIOPosix
import NIOSSL

/// Turns what ends a call into a status of one line that says what is wrong and how to mend it.
enum CallFailure {
  static func status(of error: any Error, at endpoint: Endpoint, _ credentials: Credentials) -> RPCStatus {
    if let status = error as? RPCStatus { return status }
    if let error = error as? ModelError {
      return RPCStatus(.internal, "The answer of \(endpoint.text) cannot be read: \(error.message)")
    }
    guard let error = error as? RPCError else {
      return RPCStatus(.unavailable, "The connection to \(endpoint.text) failed: \(reason(error))")
    }
    var status = RPCStatus(StatusCode(error.code), error.message.split(whereSeparator: \.isNewline).joined(separator: " "))
    if status.code == .unavailable, let cause = error.cause {
      status.message = "\(endpoint.text) cannot be reached: \(remedy(for: cause, at: endpoint))"
    }
    if status.code == .unauthenticated { status.message += " " + credentials.remedy }
    return status
  }

  /// What the innermost cause says, and what to look at.
  private static func remedy(for error: any Error, at endpoint: Endpoint) -> String {
    reason(error)
  }

  /// The innermost cause in few words.
  static func reason(_ error: any Error) -> String {
    switch error {
    case let error as RPCError: return error.cause.map(reason) ?? error.message
    case let error as RuntimeError: return error.cause.map(reason) ?? error.message
    case let error as NIOConnectionError:
      if let refused = error.connectionErrors.first { return reason(refused.error) }
      if let unknown = error.dnsAError ?? error.dnsAAAAError { return reason(unknown) }
      return "\(error.host) has no address"
    case let error as IOError: return error.localReason
    case let error as RPCStatus: return error.message
    default: return "\(error)"
    }
  }
}

extension IOError {
  fileprivate var localReason: String {
    // "connect: Connection refused (errno: 111)" without its numbers.
    description.split(separator: " (errno").first.map(String.init) ?? description
  }
}
