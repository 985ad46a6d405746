// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreJSON
import FirestoreService
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Tells a client, over a WebSocket at `/requests`, each request that rules have decided on: the last ones at once, in
/// one message, then each as it happens. Decisions that come while the client does not read are left out.
final class RequestMonitor: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  static let path = "/requests"

  private let rules: AccessRules
  private var number: Int?

  init(_ rules: AccessRules) { self.rules = rules }

  /// Makes a WebSocket of a connection that has asked for one.
  /// - Parameter send: writes the head of the answer, and removes the handlers that speak HTTP.
  /// - Returns: a future that fails, with nothing done, for a request in a wrong form.
  static func upgrade(
    _ context: ChannelHandlerContext, _ head: HTTPRequestHead, _ rules: AccessRules,
    send: @escaping (HTTPResponseHead) -> EventLoopFuture<Void>
  ) -> EventLoopFuture<Void> {
    let loop = context.eventLoop
    let bound = NIOLoopBound(rules, eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: 1 << 14, automaticErrorHandling: true,
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RequestMonitor(bound.value))
        }
      })
    let boundContext = NIOLoopBound(context, eventLoop: loop)
    let boundSend = NIOLoopBound(send, eventLoop: loop)
    let boundUpgrader = NIOLoopBound(upgrader, eventLoop: loop)
    return upgrader.buildUpgradeResponse(channel: context.channel, upgradeRequest: head, initialResponseHeaders: [:])
      .flatMap { headers in
        var headers = headers
        headers.replaceOrAdd(name: "connection", value: "upgrade")
        headers.replaceOrAdd(name: "upgrade", value: "websocket")
        let answer = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        return boundSend.value(answer).flatMap {
          boundUpgrader.value.upgrade(context: boundContext.value, upgradeRequest: head)
        }
      }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
    let (past, number) = rules.watch { evaluation in
      loop.execute { bound.value.0.tell([evaluation], bound.value.1) }
    }
    self.number = number
    tell(past, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    if let number { rules.endWatch(number) }
    number = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .ping: send(.pong, frame.unmaskedData, context)
    case .connectionClose:
      send(.connectionClose, frame.unmaskedData, context)
      context.close(promise: nil)
    default: break
    }
  }

  private func tell(_ evaluations: [RulesEvaluation], _ context: ChannelHandlerContext) {
    guard number != nil, !evaluations.isEmpty, context.channel.isWritable else { return }
    let texts = evaluations.map { MonitoredRequest.json($0).lineText }
    // Earlier decisions come as a list.
    let text = evaluations.count == 1 ? texts[0] : "[\(texts.joined(separator: ","))]"
    send(.text, ByteBuffer(string: text), context)
  }

  private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
  }
}
