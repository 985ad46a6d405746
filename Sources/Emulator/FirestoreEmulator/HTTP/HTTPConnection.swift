// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreServer
import NIOCore
import NIOHPACK
import NIOHTTP1

/// The kind of transport that carries requests.
enum HTTPConnection {
  /// An HTTP/1 connection that the handler owns, with the timeout for a silent client, during or between requests, and
  /// the count of received bytes.
  case whole(ConnectionBudget, patience: TimeAmount, ReceivedBytesHandler)
  /// A stream of an HTTP/2 connection. The connection's handlers count its memory and end it.
  case stream(ConnectionBudget)

  var isWhole: Bool { if case .whole = self { true } else { false } }
  var budget: ConnectionBudget? { if case .whole(let budget, _, _) = self { budget } else { nil } }
  /// The budget for the documents that a request reads.
  var reads: ConnectionBudget {
    switch self {
    case .whole(let budget, _, _), .stream(let budget): budget
    }
  }
  var received: ReceivedBytesHandler? { if case .whole(_, _, let received) = self { received } else { nil } }
}

/// Transports an exchange's requests and responses. Used on the connections' thread.
protocol HTTPCarrier: AnyObject {
  var loop: any EventLoop { get }
  /// Whether a piece would be sent without waiting for the client.
  var isWritable: Bool { get }
  /// The address of the client.
  var address: String? { get }
  func write(_ head: HTTPResponseHead)
  /// Writes and sends a piece of a response's body.
  /// - Returns: a future that completes when more output can be sent.
  func write(_ body: ByteBuffer) -> EventLoopFuture<Void>
  /// Writes and sends the end of a response.
  func end() -> EventLoopFuture<Void>
  func flush()
  /// Resumes reading.
  func read()
  func close(_ mode: CloseMode)
}

/// Compares the received bytes of a connection with the parsed requests. The difference is chunk framing. Chunk
/// extensions (RFC 9112 §7.1.1) are ignored, so a client could send them endlessly.
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
    // A head counts as if it had its maximum length.
    case .head(let head): explained += ConnectionLimits.headBytes + head.uri.utf8.count
    // A chunk with one byte of data takes six bytes.
    case .body(let bytes): explained += 9 * bytes.readableBytes
    case .end: break
    }
  }

  /// The allowance for an incomplete head, and for parts of a head that are not counted.
  private static let slack = 64 << 10

  var isMostlyFrame: Bool { received > explained + Self.slack }
}

/// An HTTP/1 connection, as the carrier of its requests.
final class HTTPRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let exchange: HTTPExchange
  let loop: any EventLoop
  private var context: ChannelHandlerContext?

  /// - Parameter loop: the channel's event loop.
  init(_ exchange: HTTPExchange, on loop: any EventLoop) { (self.exchange, self.loop) = (exchange, loop) }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    exchange.begin(on: self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    exchange.end()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    exchange.lose()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { exchange.resume() }
    context.fireChannelWritabilityChanged()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { exchange.receive(unwrapInboundIn(data)) }

  func channelReadComplete(context: ChannelHandlerContext) {
    exchange.check()
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if exchange.wantsMore() { context.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let fault = error as? HTTPParserError else { return context.close(promise: nil) }
    exchange.receive(fault)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { exchange.shutDown() }
    context.fireUserInboundEventTriggered(event)
  }

  /// Upgrades the connection to a WebSocket that sends the rules' decisions.
  func upgrade(_ head: HTTPRequestHead, _ rules: AccessRules) {
    guard let context else { return }
    RequestMonitor.upgrade(context, head, rules) { head in
      self.write(head)
      _ = self.end()
      let pipeline = context.pipeline.syncOperations
      return EventLoopFuture.andAllSucceed(
        [
          // A handler that is missing needs no removal.
          try? pipeline.context(handlerType: HTTPResponseEncoder.self),
          try? pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self), context,
        ].compactMap { $0 }.map { pipeline.removeHandler(context: $0) }, on: context.eventLoop)
    }.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
  }
}

extension HTTPRequestHandler: HTTPCarrier {
  var isWritable: Bool { context?.channel.isWritable ?? false }
  var address: String? { context?.channel.remoteAddress?.ipAddress }

  func write(_ head: HTTPResponseHead) { context?.write(wrapOutboundOut(.head(head)), promise: nil) }
  func write(_ body: ByteBuffer) -> EventLoopFuture<Void> { send(.body(.byteBuffer(body))) }
  func end() -> EventLoopFuture<Void> { send(.end(nil)) }
  func flush() { context?.flush() }
  func read() { context?.read() }
  func close(_ mode: CloseMode) { context?.close(mode: mode, promise: nil) }

  private func send(_ part: HTTPServerResponsePart) -> EventLoopFuture<Void> {
    context?.writeAndFlush(wrapOutboundOut(part)) ?? loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
  }
}

/// An HTTP/2 stream, as the carrier of its single request.
final class HTTPStream: StreamedCall, HTTPCarrier {
  private let stream: ServedStream
  private let exchange: HTTPExchange
  /// The writes that wait until the client reads.
  private var waiting: [EventLoopPromise<Void>] = []

  init(_ stream: ServedStream, _ exchange: HTTPExchange) {
    (self.stream, self.exchange) = (stream, exchange)
    exchange.begin(on: self)
    exchange.receive(.head(HTTPRequestHead(stream.head.headers)))
  }

  // MARK: The request

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool) {
    stream.settle(size)
    if bytes.readableBytes > 0 { exchange.receive(.body(bytes)) }
    if isLast { exchange.receive(.end(nil)) }
  }

  func resume() {
    guard stream.isWritable else { return stream.awaitRoom() }
    let written = waiting
    waiting = []
    for promise in written { promise.succeed() }
    exchange.resume()
  }

  func abandon() {
    let lost = waiting
    waiting = []
    for promise in lost { promise.fail(ChannelError.ioOnClosedChannel) }
    exchange.lose()
    exchange.end()
  }

  var awaitsWholeRequest: Bool { true }
  func giveUp(_ status: RPCStatus) { stream.cancel() }
  func shutDown() { exchange.shutDown() }

  // MARK: The answer

  var loop: any EventLoop { stream.loop }
  var isWritable: Bool { stream.isWritable }
  var address: String? { stream.address }

  func write(_ head: HTTPResponseHead) {
    var headers: HPACKHeaders = [":status": "\(head.status.code)"]
    for (name, value) in head.headers { headers.add(name: name.lowercased(), value: value) }
    stream.begin(headers)
  }

  func write(_ body: ByteBuffer) -> EventLoopFuture<Void> {
    stream.write(body)
    if stream.isWritable || stream.isOver { return loop.makeSucceededVoidFuture() }
    let promise = loop.makePromise(of: Void.self)
    waiting.append(promise)
    stream.awaitRoom()
    return promise.futureResult
  }

  /// Ends the response and the stream.
  func end() -> EventLoopFuture<Void> {
    stream.finish()
    exchange.end()
    return loop.makeSucceededVoidFuture()
  }

  func close(_ mode: CloseMode) { _ = end() }

  // Does nothing: the connection sends the written data at the end of the turn.
  func flush() {}
  func read() {}
}

extension HTTPRequestHead {
  /// The head of an HTTP/2 request.
  fileprivate init(_ headers: HPACKHeaders) {
    var (method, target, authority) = ("", "", "")
    var fields = HTTPHeaders()
    for (name, value, _) in headers {
      switch name {
      case ":method": method = value
      case ":path": target = value
      case ":authority": authority = value
      case ":scheme": break
      default: fields.add(name: name, value: value)
      }
    }
    if !fields.contains(name: "host") { fields.add(name: "host", value: authority) }
    self.init(
      version: HTTPVersion(major: 2, minor: 0), method: HTTPMethod(rawValue: method), uri: target, headers: fields)
  }
}
