// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The first of a call's handlers. It answers small requests where they arrive, and chooses who serves the others: a
/// call through gRPC's server costs some fifty microseconds of tasks and queues, several times what reading a document
/// does.
///
/// ```
/// HEADERS ─┬─ Listen ──────────────────────────► ListenHandler
///          ├─ a prompt method, DATA END_STREAM ─► one step of the backend ──► HEADERS, DATA, HEADERS
///          └─ anything else, also one of these that is not small or not plain ──► MessageLimitHandler ──► gRPC
/// ```
final class CallHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// Larger requests are no small ones.
  private static let smallBytes = 64 << 10
  private static let root = "/google.firestore.v1.Firestore/"
  private static let promptMethods = Dictionary(
    uniqueKeysWithValues: FirestoreService.PromptMethod.allCases.map { (root + $0.rawValue, $0) })
  private static let listenPath = root + "Listen"

  private enum Way {
    case prompt(FirestoreService.PromptMethod)
    case listen
    case gRPC
  }

  private enum State {
    case waiting
    case collecting(FirestoreService.PromptMethod, headers: HTTP2Frame.FramePayload, body: ByteBuffer)
    case answered
    case handedOn
  }

  private let service: FirestoreService
  private let turn: DeliveryTurn
  private let maximumRequestBytes: Int
  private var state = State.waiting

  /// - Parameters:
  ///   - service: its backend runs on the event loop of the channel.
  ///   - turn: of that event loop.
  ///   - maximumRequestBytes: the most bytes of a message.
  init(_ service: FirestoreService, _ turn: DeliveryTurn, maximumRequestBytes: Int) {
    self.service = service
    self.turn = turn
    self.maximumRequestBytes = maximumRequestBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let payload = unwrapInboundIn(data)
    switch (state, payload) {
    // For the multiplexer, which has seen it; gRPC's core sends one in the middle of a request.
    case (_, .windowUpdate), (_, .priority): context.fireChannelRead(data)
    case (.waiting, .headers(let frame)):
      switch Self.way(frame.headers) {
      case .prompt(let method) where !frame.endStream:
        state = .collecting(method, headers: payload, body: ByteBuffer())
      case .listen:
        handOn(context, [payload], to: ListenHandler(service, turn, maximumRequestBytes: maximumRequestBytes))
      case .prompt, .gRPC: handOn(context, [payload])
      }
    case (.collecting(let method, let headers, var body), .data(let frame)):
      guard case .byteBuffer(var bytes) = frame.data else { return handOn(context, [headers, payload]) }
      // One reference to the body, lest it be copied.
      state = .answered
      if body.readableBytes == 0 { body = bytes } else { body.writeBuffer(&bytes) }
      if frame.endStream {
        answer(context, method, headers, body)
      } else if body.readableBytes > Self.smallBytes {
        handOn(context, [headers, Self.data(body)])
      } else {
        state = .collecting(method, headers: headers, body: body)
      }
    case (.collecting(_, let headers, let body), _):
      handOn(context, body.readableBytes == 0 ? [headers, payload] : [headers, Self.data(body), payload])
    case (.answered, _): break
    case (.waiting, _), (.handedOn, _): handOn(context, [payload])
    }
  }

  /// Only plain calls without compression are served here.
  private static func way(_ headers: HPACKHeaders) -> Way {
    var way = Way.gRPC
    var (isPost, isGRPC) = (false, false)
    for (name, value, _) in headers {
      switch name {
      case ":path":
        if let method = promptMethods[value] { way = .prompt(method) } else if value == listenPath { way = .listen }
      case ":method": isPost = value == "POST"
      case "content-type": isGRPC = value == "application/grpc" || value == "application/grpc+proto"
      case "grpc-encoding": if value != "identity" { return .gRPC }
      default: break
      }
    }
    return isPost && isGRPC ? way : .gRPC
  }

  private func answer(
    _ context: ChannelHandlerContext, _ method: FirestoreService.PromptMethod, _ headers: HTTP2Frame.FramePayload,
    _ body: ByteBuffer
  ) {
    do throws(RPCStatus) {
      var rest = body
      guard let message = try? GRPCFraming.nextMessage(&rest, limit: Self.smallBytes), rest.readableBytes == 0,
        let messages = try service.answerAtOnce(method, message)
      else { return handOn(context, [headers, Self.data(body, isEnd: true)]) }
      context.write(wrapOutboundOut(.headers(.init(headers: GRPCFraming.headers))), promise: nil)
      context.write(wrapOutboundOut(GRPCFraming.data(messages, context.channel.allocator)), promise: nil)
      context.write(wrapOutboundOut(GRPCFraming.end(nil, hasHeaders: true)), promise: nil)
    } catch {
      context.write(wrapOutboundOut(GRPCFraming.end(error, hasHeaders: false)), promise: nil)
    }
    context.flush()
  }

  private static func data(_ bytes: ByteBuffer, isEnd: Bool = false) -> HTTP2Frame.FramePayload {
    .data(.init(data: .byteBuffer(bytes), endStream: isEnd))
  }

  /// - Parameter handler: whoever serves the call instead; gRPC's server comes behind.
  private func handOn(
    _ context: ChannelHandlerContext, _ payloads: [HTTP2Frame.FramePayload], to handler: (any ChannelHandler)? = nil
  ) {
    if case .handedOn = state {
      for payload in payloads { context.fireChannelRead(wrapInboundOut(payload)) }
      return
    }
    state = .handedOn
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(handler ?? MessageLimitHandler(limit: maximumRequestBytes), position: .after(self))
    } catch { return context.close(promise: nil) }
    for payload in payloads { context.fireChannelRead(wrapInboundOut(payload)) }
    pipeline.removeHandler(context: context, promise: nil)
  }
}
