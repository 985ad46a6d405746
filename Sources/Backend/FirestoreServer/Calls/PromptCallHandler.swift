// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Answers small requests on their connection, where their frames arrive. A channel for each call, and a task to serve
/// it, cost several times as much as reading a document.
///
/// ```
/// HEADERS ─┬─ a prompt method, DATA END_STREAM ─► one step of the backend ──► HEADERS, DATA, HEADERS
///          │      or, while the client leaves too much of earlier ones unread, waits for it to read
///          │      Commit: a step together with others that came at the same time
///          └─ anything else, also one of these that is not small or not plain ──► multiplexer ──► CallHandler
/// ```
final class PromptCallHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The size up to which a request is small. Less than the smallest window: nothing widens it here.
  private static let smallBytes = 32 << 10
  private static let methods = Dictionary(
    uniqueKeysWithValues: FirestoreService.Method.allCases.filter(\.isPrompt).map {
      (CallHeaders.root + $0.rawValue, $0)
    })

  /// A request whose first part has come.
  private struct Request {
    let method: FirestoreService.Method
    let headers: HTTP2Frame
    /// The event that the multiplexer has to get if it takes over the call.
    var creation: NIOHTTP2StreamCreatedEvent?
    var body = ByteBuffer()
  }

  private let service: FirestoreService
  private let budget: ConnectionBudget
  private let commits: CommitTurn
  private var context: ChannelHandlerContext?
  /// The bytes that the multiplexer lets a client send on the connection; it widens what is left when half is used.
  private let window: Int
  private var requests: [HTTP2StreamID: Request] = [:]
  /// The calls of which the multiplexer does not know.
  private var own: Set<HTTP2StreamID> = []
  /// Whole requests that wait for room; `order` is the order in which they came.
  private var waiting: [HTTP2StreamID: Request] = [:]
  private var order: CircularBuffer<HTTP2StreamID> = []
  /// The number of commits that are not answered yet, and those of them whose callers are gone.
  private var commitCount = 0
  private var abandonedCommits: Set<HTTP2StreamID> = []
  private var owesFlush = false
  private var lastCaller: LastCaller?

  /// - Parameters:
  ///   - service: the service, whose backend runs on the event loop of the channel.
  ///   - commits: of that event loop.
  ///   - window: the bytes that the multiplexer lets a client send on the connection.
  init(_ service: FirestoreService, _ budget: ConnectionBudget, _ commits: CommitTurn, window: Int) {
    self.window = window
    self.service = service
    self.budget = budget
    self.commits = commits
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if case .headers(let headers) = frame.payload, !headers.endStream, requests[frame.streamID] == nil,
      let method = Self.method(headers.headers)
    {
      requests[frame.streamID] = Request(method: method, headers: frame)
      own.insert(frame.streamID)
    } else if !requests.isEmpty, let request = requests.removeValue(forKey: frame.streamID) {
      receive(context, frame, request)
    } else {
      context.fireChannelRead(data)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flushIfOwed(context)
    context.fireChannelReadComplete()
  }

  private func flushIfOwed(_ context: ChannelHandlerContext) {
    guard owesFlush else { return }
    owesFlush = false
    context.flush()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Types are compared before casts, and the multiplexer, which casts, is spared what does not concern it: casts that
    // fail are slow, and each call has several events.
    let type = type(of: event)
    if type == NIOHTTP2WindowUpdatedEvent.self, let update = event as? NIOHTTP2WindowUpdatedEvent {
      let isOwn = update.streamID == .rootStream ? (update.inboundWindowSize ?? 0) > window / 2 : isOwn(update.streamID)
      if isOwn { return }
    } else if type == NIOHTTP2StreamCreatedEvent.self, let creation = event as? NIOHTTP2StreamCreatedEvent,
      requests[creation.streamID] != nil
    {
      // The event comes behind the stream's first frame.
      requests[creation.streamID]?.creation = creation
      return
    } else if type == StreamClosedEvent.self, let end = event as? StreamClosedEvent, isOwn(end.streamID) {
      own.remove(end.streamID)
      requests[end.streamID] = nil
      waiting[end.streamID] = nil
      if commitCount > 0 { abandonedCommits.insert(end.streamID) }
      return
    } else if type == ResponseRoomEvent.self {
      return answerWaiting(context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func isOwn(_ stream: HTTP2StreamID) -> Bool { !own.isEmpty && own.contains(stream) }

  /// The method of a call that is served here; `nil` for others, also for compressed calls.
  private static func method(_ headers: HPACKHeaders) -> FirestoreService.Method? {
    let call = CallHeaders(headers)
    return call.objection == nil ? methods[call.path] : nil
  }

  private func receive(_ context: ChannelHandlerContext, _ frame: HTTP2Frame, _ unfinished: Request) {
    var request = unfinished
    switch frame.payload {
    case .data(let data):
      guard case .byteBuffer(var bytes) = data.data else { return handOn(context, request, frame) }
      if request.body.readableBytes == 0, data.endStream {
        request.body = bytes
      } else {
        // Copied bytes do not keep alive the whole buffer that was read.
        request.body.writeBuffer(&bytes)
      }
      if data.endStream {
        answerWithRoom(context, request)
      } else if request.body.readableBytes > Self.smallBytes {
        handOn(context, request)
      } else {
        requests[frame.streamID] = request
      }
    case .headers: handOn(context, request, frame)
    case .rstStream: break
    // Other frames need no answer: gRPC's core widens the window in the middle of a request, and the HTTP/2 handler
    // keeps to it.
    default: requests[frame.streamID] = request
    }
  }

  private func answerWithRoom(_ context: ChannelHandlerContext, _ request: Request) {
    if !budget.isFull, waiting.isEmpty { return answer(context, request) }
    let stream = request.headers.streamID
    waiting[stream] = request
    order.append(stream)
  }

  /// Answers waiting requests while there is room; requests whose callers are gone are skipped.
  private func answerWaiting(_ context: ChannelHandlerContext) {
    while !budget.isFull, let stream = order.popFirst() {
      if let request = waiting.removeValue(forKey: stream) { answer(context, request) }
    }
    channelReadComplete(context: context)
  }

  private func answer(_ context: ChannelHandlerContext, _ request: Request) {
    let stream = request.headers.streamID
    do throws(RPCStatus) {
      var rest = request.body
      // Messages that are not whole or too long are the slower way's to refuse.
      guard let message = try? GRPCFraming.nextMessage(&rest, limit: Self.smallBytes), rest.readableBytes == 0 else {
        return handOn(context, request, isWhole: true)
      }
      let service = try service(for: request.headers)
      if request.method == .commit, let order = try service.commitOrder(message) { return commit(order, stream) }
      guard let messages = try service.answerAtOnce(request.method, message) else {
        return handOn(context, request, isWhole: true)
      }
      respond(context, stream, messages)
    } catch { refuse(context, stream, error) }
  }

  private func commit(_ order: CommitOrder, _ stream: HTTP2StreamID) {
    commitCount += 1
    commits.add(order) { result in
      self.commitCount -= 1
      let isAbandoned = !self.abandonedCommits.isEmpty && self.abandonedCommits.contains(stream)
      if self.commitCount == 0, !self.abandonedCommits.isEmpty { self.abandonedCommits = [] }
      guard let context = self.context else { return }
      switch result {
      case _ where isAbandoned: break
      case .success(let message): self.respond(context, stream, [message])
      case .failure(let status): self.refuse(context, stream, status)
      }
      if self.commitCount == 0 { self.flushIfOwed(context) }
    }
  }

  private func respond(_ context: ChannelHandlerContext, _ stream: HTTP2StreamID, _ messages: [[UInt8]]) {
    write(context, stream, .headers(.init(headers: GRPCFraming.headers)))
    write(context, stream, GRPCFraming.data(messages, context.channel.allocator))
    write(context, stream, GRPCFraming.end(nil, hasHeaders: true))
    owesFlush = true
  }

  private func refuse(_ context: ChannelHandlerContext, _ stream: HTTP2StreamID, _ status: RPCStatus) {
    write(context, stream, GRPCFraming.end(status, hasHeaders: false))
    owesFlush = true
  }

  private func write(
    _ context: ChannelHandlerContext, _ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload
  ) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
  }

  private func service(for frame: HTTP2Frame) throws(RPCStatus) -> FirestoreService {
    guard service.isRestricted, case .headers(let headers) = frame.payload else { return service }
    return try service.serving(as: headers.headers.authorization, &lastCaller)
  }

  /// Leaves a call to the multiplexer, as if the multiplexer had seen it from its first frame on.
  /// - Parameters:
  ///   - next: the frame after the request's parts so far.
  ///   - isWhole: whether the body ends the request.
  private func handOn(
    _ context: ChannelHandlerContext, _ request: Request, _ next: HTTP2Frame? = nil, isWhole: Bool = false
  ) {
    own.remove(request.headers.streamID)
    context.fireChannelRead(wrapInboundOut(request.headers))
    if let creation = request.creation { context.fireUserInboundEventTriggered(creation) }
    if isWhole || request.body.readableBytes > 0 {
      let data = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(request.body), endStream: isWhole))
      context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: request.headers.streamID, payload: data)))
    }
    if let next { context.fireChannelRead(wrapInboundOut(next)) }
  }
}
