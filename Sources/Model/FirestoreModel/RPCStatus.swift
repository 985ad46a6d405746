// SPDX-License-Identifier: Apache-2.0

/// The canonical gRPC codes, which are also Firestore's error codes.
package enum StatusCode: Int, Sendable, CaseIterable {
  case ok = 0
  case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
  case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss
  case unauthenticated
}

/// The reason why a request failed: a code, and a message with the cause and the remedy.
package struct RPCStatus: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: StatusCode
  package var message: String
  /// `true` if the peer does not use the protocol, for example because another kind of server uses the port; `nil` if
  /// it may use the protocol.
  package var isForeign: Bool?

  package init(_ code: StatusCode, _ message: String, isForeign: Bool? = nil) {
    self.code = code
    self.message = message
    self.isForeign = isForeign
  }

  package var description: String { "\(code.name): \(message)" }
}

extension StatusCode {
  /// The name that the documentation uses, such as `permission-denied`.
  package var name: String {
    switch self {
    case .ok: "ok"
    case .cancelled: "cancelled"
    case .unknown: "unknown"
    case .invalidArgument: "invalid-argument"
    case .deadlineExceeded: "deadline-exceeded"
    case .notFound: "not-found"
    case .alreadyExists: "already-exists"
    case .permissionDenied: "permission-denied"
    case .resourceExhausted: "resource-exhausted"
    case .failedPrecondition: "failed-precondition"
    case .aborted: "aborted"
    case .outOfRange: "out-of-range"
    case .unimplemented: "unimplemented"
    case .internal: "internal"
    case .unavailable: "unavailable"
    case .dataLoss: "data-loss"
    case .unauthenticated: "unauthenticated"
    }
  }

  /// Whether a write that fails with this code can never succeed, however often it is repeated (SDK:
  /// Datastore.IsPermanentWriteError). Aborted writes are retried.
  package var isPermanentForWrites: Bool {
    switch self {
    case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange,
      .unimplemented, .dataLoss:
      true
    default: false
    }
  }
}

/// The error for a text or value that is not a valid Firestore path, field, value or write. The code is
/// `invalid-argument` for user input, and `data-loss` for stored bytes that cannot be read.
package struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: StatusCode
  package var message: String

  package init(_ code: StatusCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Creates an `invalid-argument` error.
  package init(_ message: String) { self.init(.invalidArgument, message) }

  package var description: String { message }
}
