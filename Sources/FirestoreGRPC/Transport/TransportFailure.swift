// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOHTTP2

/// What ended a call or a connection that is no answer of the backend.
enum TransportFailure: Error {
  /// There is no connection: the system's, TLS's or HTTP/2's word.
  case unconnected(any Error)
  /// The connection ended without a reason.
  case cut(hasGreeted: Bool)
  /// The connection ended, and this is why.
  case broken(any Error)
  /// The peer gave no sign of life in time.
  case silent
  /// The peer has not looked at the call, which may be made again.
  case notTaken
  /// The peer ended the call alone.
  case reset(HTTP2ErrorCode)
  /// The answer is not gRPC's but HTTP's, with this status.
  case httpAnswer(Int)
  case withoutStatus
  case compressed
  case tooLarge(Int)
  /// The call's own time is over.
  case overdue
}
