// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreService
import NIOCore
import NIOHTTP2

/// The handler of a call that has a channel of its own. It chooses who serves the call, and tells it when the
/// caller will wait no longer or the server shuts down.
///
/// ```
/// HEADERS ─┬─ Listen ───────────► ListenHandler
///          ├─ other methods ────► ServedCall: a task that reads messages and sends messages
///          ├─ /v1/…, …/channel ─► HTTPRequestHandler: REST, WebChannel
///          ├─ other services ───► AuxiliaryCall, served as other methods are
///          └─ no such method ───► grpc-status 12
/// ```
final class CallHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private enum State {
    case waiting
    case serving(isEndless: Bool, interrupt: AsyncStream<RPCStatus>.Continuation, deadline: Scheduled<Void>?)
    case refused
  }

  private let service: FirestoreService
  private let origins: ControlOrigins
  private let channels: WebChannels
  private let turn: DeliveryTurn
  private let budget: ConnectionBudget
  private var state = State.waiting
  private var tokenDeadline: TokenDeadline?

  /// - Parameters:
  ///   - service: its backend runs on the event loop of the channel.
  ///   - turn: of that event loop.
  ///   - budget: of the connection.
  init(
    _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels, _ turn: DeliveryTurn,
    _ budget: ConnectionBudget
  ) {
    self.service = service
    self.origins = origins
    self.channels = channels
    self.turn = turn
    self.budget = budget
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (state, unwrapInboundIn(data)) {
    case (.waiting, .headers(let frame)):
      let call = CallHeaders(frame.headers)
      let authorization = frame.headers.authorization
      if RESTCall.root(of: call.path) != nil || WebChannelRequest.isOne(call.path) {
        rest(context, data)
      } else if let objection = call.objection {
        refuse(context, objection, isWhole: frame.endStream)
      } else if call.method == "Listen" {
        attempt(context, isWhole: frame.endStream) { service throws(RPCStatus) in
          listen(context, call, try service.serving(as: authorization), data)
        }
      } else if let work = call.method.flatMap({ ServedCall.Work(method: $0) }) {
        attempt(context, isWhole: frame.endStream) { service throws(RPCStatus) in
          serve(context, call, work, try service.serving(as: authorization), data)
        }
      } else if let auxiliary = AuxiliaryCall(path: call.path) {
        attempt(context, isWhole: frame.endStream) { service throws(RPCStatus) in
          if auxiliary == .clearData { try ControlWork(service, origins).check(authorization) }
          // Whether a server is up is nobody's secret; which databases it has is one of its administrators.
          let caller = if case .admin = auxiliary { try service.serving(as: authorization) } else { service }
          serve(context, call, .auxiliary(auxiliary), caller, data)
        }
      } else {
        let status = RPCStatus(.unimplemented, "There is no method \(call.path) here.")
        refuse(context, GRPCFraming.end(status, hasHeaders: false), isWhole: frame.endStream)
      }
    case (.refused, _): break
    default: context.fireChannelRead(data)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent, case .serving(isEndless: true, let interrupt, _) = state {
      interrupt.yield(GRPCFraming.isShuttingDown)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if case .serving(_, let interrupt, let deadline) = state {
      deadline?.cancel()
      tokenDeadline?.cancel()
      interrupt.yield(RPCStatus(.cancelled, "The caller is gone."))
    }
    context.fireChannelInactive()
  }

  /// Refuses a call whose caller says wrongly who they are.
  private func attempt(
    _ context: ChannelHandlerContext, isWhole: Bool, _ body: (FirestoreService) throws(RPCStatus) -> Void
  ) {
    do throws(RPCStatus) { try body(service) } catch {
      refuse(context, GRPCFraming.end(error, hasHeaders: false), isWhole: isWhole)
    }
  }

  private func refuse(_ context: ChannelHandlerContext, _ response: HTTP2Frame.FramePayload, isWhole: Bool) {
    state = .refused
    for payload in GRPCFraming.last(response, isRequestWhole: isWhole) {
      context.write(wrapOutboundOut(payload), promise: nil)
    }
    context.flush()
    context.close(promise: nil)
  }

  private func rest(_ context: ChannelHandlerContext, _ headers: NIOAny) {
    let pipeline = context.pipeline.syncOperations
    let handlers: [any ChannelHandler] = [
      HTTP2FramePayloadToHTTP1ServerCodec(), HTTPRequestHandler(service, origins, channels, .stream),
    ]
    do { try pipeline.addHandlers(handlers, position: .after(self)) } catch { return context.close(promise: nil) }
    context.fireChannelRead(headers)
    pipeline.removeHandler(context: context, promise: nil)
  }

  private func listen(
    _ context: ChannelHandlerContext, _ call: CallHeaders, _ service: FirestoreService, _ headers: NIOAny
  ) {
    let pipeline = context.pipeline.syncOperations
    let handler = ListenHandler(service, turn, budget, timeout: call.timeout)
    do { try pipeline.addHandler(handler, position: .after(self)) } catch { return context.close(promise: nil) }
    context.fireChannelRead(headers)
    pipeline.removeHandler(context: context, promise: nil)
  }

  private func serve(
    _ context: ChannelHandlerContext, _ call: CallHeaders, _ work: ServedCall.Work, _ service: FirestoreService,
    _ headers: NIOAny
  ) {
    let channel: ServedCall.Channel
    do {
      channel = try NIOAsyncChannel(wrappingChannelSynchronously: context.channel)
    } catch { return context.close(promise: nil) }
    let (interruptions, interrupt) = AsyncStream.makeStream(of: RPCStatus.self, bufferingPolicy: .bufferingOldest(1))
    let deadline = call.timeout.map { timeout in
      context.eventLoop.scheduleTask(in: timeout) { _ = interrupt.yield(GRPCFraming.isOverdue) }
    }
    state = .serving(isEndless: work.isEndless, interrupt: interrupt, deadline: deadline)
    if work.isEndless { tokenDeadline = TokenDeadline(service, on: context.eventLoop) { interrupt.yield($0) } }
    let served = ServedCall(service, work, budget)
    Task(executorPreference: EventLoopExecutor(context.eventLoop)) {
      await served.run(on: channel, until: interruptions)
    }
    context.fireChannelRead(headers)
  }
}
