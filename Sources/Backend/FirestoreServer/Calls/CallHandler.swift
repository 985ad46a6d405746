// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreService
import NIOCore
import NIOHTTP2

/// The handler of a call that has a channel of its own. It chooses who serves the call, and tells it when the
/// caller will wait no longer or the server shuts down.
///
/// ```
/// HEADERS ─┬─ Listen ───────────► ListenHandler
///          ├─ other methods ────► ServedCall: a task that reads messages and sends messages
///          ├─ no call of gRPC ──► the handlers that OtherCalls has for its path
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
  private let others: (any OtherCalls)?
  private let turn: DeliveryTurn
  private let budget: ConnectionBudget
  private var state = State.waiting
  private var tokenDeadline: TokenDeadline?

  /// - Parameters:
  ///   - service: the service, whose backend runs on the event loop of the channel.
  ///   - turn: the delivery turn of that event loop.
  ///   - budget: the budget of the connection.
  init(
    _ service: FirestoreService, _ others: (any OtherCalls)?, _ turn: DeliveryTurn, _ budget: ConnectionBudget
  ) {
    self.service = service
    self.others = others
    self.turn = turn
    self.budget = budget
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (state, unwrapInboundIn(data)) {
    case (.waiting, .headers(let frame)):
      let call = CallHeaders(frame.headers)
      let authorization = frame.headers.authorization
      if let handlers = others?.handlers(for: call.path, service) {
        handOn(context, to: handlers, data)
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
      } else {
        attempt(context, isWhole: frame.endStream) { service throws(RPCStatus) in
          serve(context, call, .auxiliary(try auxiliary(call.path, authorization)), service, data)
        }
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

  /// Refuses a call whose caller gives a wrong proof of identity.
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

  private func auxiliary(_ path: String, _ authorization: String?) throws(RPCStatus) -> any AuxiliaryCall {
    if path.hasPrefix(FirestoreService.AdminMethod.root),
      let call = AdminCall(path, try service.serving(as: authorization))
    {
      return call
    }
    if path == FollowCommits.path, let call = FollowCall(path, try service.serving(as: authorization)) { return call }
    if let call = try others?.call(path, authorization, service) { return call }
    throw RPCStatus(.unimplemented, "There is no method \(path) here.")
  }

  private func handOn(_ context: ChannelHandlerContext, to handlers: [any ChannelHandler], _ headers: NIOAny) {
    let pipeline = context.pipeline.syncOperations
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
