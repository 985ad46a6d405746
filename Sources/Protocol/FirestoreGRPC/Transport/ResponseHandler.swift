// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Reads the answer to one call from the frames of its stream (gRPC over HTTP/2, "Responses"):
/// ```
/// HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
final class ResponseHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The most bytes of one message: a document of one megabyte, or a commit of ten, with room to spare.
  private static let messageLimit = 17 << 20
  private static let prefixLength = 5

  private let inbox: ResponseInbox
  private let connection: ConnectionHandler
  private let timeout: TimeAmount?
  private var timer: Scheduled<Void>?
  private var received = ByteBuffer()
  private var hasHeaders = false
  private var isRequestWhole = false

  init(_ inbox: ResponseInbox, on connection: ConnectionHandler, timeout: TimeAmount?) {
    self.inbox = inbox
    self.connection = connection
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection.callBegins()
    guard let timeout else { return }
    let (inbox, channel) = (inbox, context.channel)
    timer = context.eventLoop.scheduleTask(in: timeout) {
      inbox.end(.failure(TransportFailure.overdue))
      channel.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    connection.callEnds()
  }

  func read(context: ChannelHandlerContext) {
    if inbox.mayRead() { context.read() }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .data(let frame) = unwrapOutboundIn(data), frame.endStream { isRequestWhole = true }
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame): read(frame, context)
    case .data(let frame): read(frame, context)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let reset = error as? NIOHTTP2Errors.StreamClosed else { return end(.failure(error), context) }
    // The inbox ends later: NIO gives the reason for a closing connection after it has closed the streams.
    let (inbox, connection) = (inbox, NIOLoopBound(connection, eventLoop: context.eventLoop))
    context.eventLoop.execute {
      let connection = connection.value
      let isUnread = connection.lastTakenCall.map { $0 < reset.streamID } ?? false
      if isUnread || reset.errorCode == .refusedStream { return inbox.end(.failure(TransportFailure.notTaken)) }
      inbox.end(.failure(connection.failure ?? TransportFailure.reset(reset.errorCode)))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let (inbox, connection) = (inbox, NIOLoopBound(connection, eventLoop: context.eventLoop))
    context.eventLoop.execute {
      inbox.end(.failure(connection.value.failure ?? TransportFailure.cut(hasGreeted: true)))
    }
    context.fireChannelInactive()
  }

  // MARK: Frames

  private func read(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
    let headers = frame.headers
    if let status = headers.first(name: "grpc-status") {
      inbox.end(Self.outcome(status, headers.first(name: "grpc-message")))
      // A stream that both sides have ended closes by itself; breaking it off as well would be an error.
      if !(frame.endStream && isRequestWhole) { context.close(promise: nil) }
      return
    }
    if !hasHeaders {
      let status = headers.first(name: ":status") ?? ""
      // The status may be that of an interim answer.
      if status.hasPrefix("1"), !frame.endStream { return }
      let type = headers.first(name: "content-type") ?? ""
      guard status == "200", type.hasPrefix("application/grpc") else {
        return end(.failure(TransportFailure.httpAnswer(Int(status) ?? 0)), context)
      }
      hasHeaders = true
    }
    if frame.endStream { end(.failure(TransportFailure.withoutStatus), context) }
  }

  private func read(_ frame: HTTP2Frame.FramePayload.Data, _ context: ChannelHandlerContext) {
    if case .byteBuffer(var bytes) = frame.data {
      if received.readableBytes == 0 { received = bytes } else { received.writeBuffer(&bytes) }
      do throws(TransportFailure) {
        while let message = try nextMessage() { inbox.put(message) }
      } catch {
        return end(.failure(error), context)
      }
      // The kept bytes must not keep the buffer of all bytes that were read with them.
      if received.readableBytes == 0 { received = ByteBuffer() } else { received.discardReadBytes() }
    }
    if frame.endStream { end(.failure(TransportFailure.withoutStatus), context) }
  }

  /// The next message, once its prefix and all its bytes are there; `nil` before.
  private func nextMessage() throws(TransportFailure) -> ByteBuffer? {
    guard let flag = received.getInteger(at: received.readerIndex, as: UInt8.self),
      let length = received.getInteger(at: received.readerIndex + 1, as: UInt32.self)
    else { return nil }
    if flag != 0 { throw .compressed }
    if length > Self.messageLimit { throw .tooLarge(Int(length)) }
    guard received.readableBytes >= Self.prefixLength + Int(length) else {
      received.reserveCapacity(minimumWritableBytes: Self.prefixLength + Int(length) - received.readableBytes)
      return nil
    }
    received.moveReaderIndex(forwardBy: Self.prefixLength)
    return received.readSlice(length: Int(length))
  }

  /// Ends a call whose answer is not read any further.
  private func end(_ outcome: Result<Void, any Error>, _ context: ChannelHandlerContext) {
    inbox.end(outcome)
    context.close(promise: nil)
  }

  private static func outcome(_ code: String, _ message: String?) -> Result<Void, any Error> {
    let code = Int(code).flatMap(StatusCode.init(rawValue:)) ?? .unknown
    return code == .ok ? .success(()) : .failure(RPCStatus(code, percentDecoded(message ?? "")))
  }

  /// The text of a `grpc-message`; characters that are no valid encoding stay as they are.
  static func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
