// SPDX-License-Identifier: Apache-2.0
import FirestoreServer
import NIOCore
import NIOHTTP1

/// The carrier of requests.
enum HTTPConnection {
  /// A connection that is this handler's alone, with the time for which its client may send nothing within a request
  /// or, when it is not being answered, between two, and the count of bytes that have come on it.
  case whole(ConnectionBudget, patience: TimeAmount, ReceivedBytesHandler)
  /// A stream of a connection that has many, whose own handlers count the stream's memory and end it.
  case stream(ConnectionBudget)

  var isWhole: Bool { if case .whole = self { true } else { false } }
  var budget: ConnectionBudget? { if case .whole(let budget, _, _) = self { budget } else { nil } }
  /// The budget for documents that a request reads.
  var reads: ConnectionBudget {
    switch self {
    case .whole(let budget, _, _), .stream(let budget): budget
    }
  }
  var received: ReceivedBytesHandler? { if case .whole(_, _, let received) = self { received } else { nil } }
}

/// The way on which an exchange's requests come and its answers go. Used on the connections' thread.
protocol HTTPCarrier: AnyObject {
  var loop: any EventLoop { get }
  /// Whether a piece written now would be read soon.
  var isWritable: Bool { get }
  /// The address of the client.
  var address: String? { get }
  func write(_ head: HTTPResponseHead)
  /// Writes and sends a piece of an answer's body.
  /// - Returns: when the client has read enough for more.
  func write(_ body: ByteBuffer) -> EventLoopFuture<Void>
  /// Writes and sends the end of an answer.
  func end() -> EventLoopFuture<Void>
  func flush()
  /// Reads more, which it had been told not to.
  func read()
  func close(_ mode: CloseMode)
}

/// Compares the bytes of a connection with the requests that they turn out to be. The difference is the framing of
/// chunks, whose extensions (RFC 9112 §7.1.1) are not used and could be sent without end.
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
    // A head is counted with the greatest length that it may have.
    case .head(let head): explained += ConnectionLimits.headBytes + head.uri.utf8.count
    // A chunk of one byte takes six.
    case .body(let bytes): explained += 9 * bytes.readableBytes
    case .end: break
    }
  }

  /// The allowance for a head that has begun, and for the part of a head that was not counted.
  private static let slack = 64 << 10

  var isMostlyFrame: Bool { received > explained + Self.slack }
}
