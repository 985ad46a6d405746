// SPDX-License-Identifier: Apache-2.0
import FirestoreServer
import NIOCore
import NIOHTTP1

/// What requests come on.
enum HTTPConnection {
  /// A connection that is this handler's alone, how long its client may send nothing within a request or, when it is
  /// not being answered, between two, and what has come on it.
  case whole(ConnectionBudget, patience: TimeAmount, ReceivedBytesHandler)
  /// A stream of a connection that has many, where others count what it holds and end it.
  case stream

  var isWhole: Bool { if case .whole = self { true } else { false } }
  var budget: ConnectionBudget? { if case .whole(let budget, _, _) = self { budget } else { nil } }
  var received: ReceivedBytesHandler? { if case .whole(_, _, let received) = self { received } else { nil } }
}

/// Compares the bytes of a connection with the requests that they turn out to be. What is in neither is the frame of
/// chunks, whose extensions (RFC 9112 §7.1.1) nobody reads and a client could send without end.
final class ReceivedBytesHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var received = 0
  private var explained = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
  }

  func explain(_ part: HTTPServerRequestPart) {
    switch part {
    // As long as one may be.
    case .head(let head): explained += ConnectionLimits.headBytes + head.uri.utf8.count
    // A chunk of one byte takes six.
    case .body(let bytes): explained += 9 * bytes.readableBytes
    case .end: break
    }
  }

  /// For a head that has begun, and what of one was not counted.
  private static let slack = 64 << 10

  var isMostlyFrame: Bool { received > explained + Self.slack }
}
