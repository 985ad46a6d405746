// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames

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
