// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore

/// The reason for which a connection cannot go on.
package enum ConnectionFailure {
  case violation(HTTP2Violation)
  /// The peer closed within a frame, or before it had sent its settings.
  case cut(isWithin: Bool)
  case transport(any Error)

  /// The words that go on from the peer's name.
  package var words: String {
    switch self {
    case .violation(let violation): "broke the rules of HTTP/2: it sent \(violation)"
    case .cut(isWithin: true): "closed the connection in the middle of a frame"
    case .cut(isWithin: false): "closed the connection before HTTP/2 had begun"
    case .transport(let error as IOError): "broke the connection: \(String(cString: strerror(error.errnoCode)))"
    case .transport(let error): "broke the connection: \(error)"
    }
  }
}

/// The object to which connections belong. A connection holds it until it is closed.
package protocol FrameConnectionOwner: AnyObject {
  /// Whether something is being read, at the end of which everything is sent.
  var isInTurn: Bool { get }
  /// Whether the peer is to hear nothing.
  var isSilent: Bool { get }
  func beginTurn()
  func endTurn()

  /// The client begins a stream, which has no owner yet.
  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool)
  /// The peer takes another number of streams.
  func changedSettings(_ connection: FrameConnection)
  /// The peer takes no more streams, and knows none behind a number.
  func goesAway(_ connection: FrameConnection, last: Int)
  /// The connection takes bytes again.
  func hasRoom(_ connection: FrameConnection)
  /// The program wants the connection to end in order.
  func quiesce(_ connection: FrameConnection)
  func failed(_ connection: FrameConnection, _ failure: ConnectionFailure)
  func closed(_ connection: FrameConnection)
}

extension FrameConnectionOwner {
  package var isSilent: Bool { false }
  package func changedSettings(_ connection: FrameConnection) {}
  package func goesAway(_ connection: FrameConnection, last: Int) {}
  package func hasRoom(_ connection: FrameConnection) {}
  package func quiesce(_ connection: FrameConnection) {}
  package func failed(_ connection: FrameConnection, _ failure: ConnectionFailure) {}
}
