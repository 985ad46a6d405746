// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOHTTP2

/// The failure that ended a call or a connection without an answer of the backend.
enum TransportFailure: Error {
  /// There is no connection, with the error of the system, of TLS or of HTTP/2.
  case unconnected(any Error)
  /// The connection ended without a reason.
  case cut(hasGreeted: Bool)
  /// The connection ended with this error.
  case broken(any Error)
  /// The peer gave no sign of life in time.
  case silent
  /// The peer has not looked at the call, which may be made again.
  case notTaken
  /// The peer ended the call alone.
  case reset(HTTP2ErrorCode)
  /// The answer is not of gRPC but of HTTP, with this status.
  case httpAnswer(Int)
  case withoutStatus
  case compressed
  case tooLarge(Int)
  /// The call's timeout is over.
  case overdue
}
