// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore

/// Tells plain HTTP/1 requests from gRPC by the first bytes of a connection, and answers them: gRPC begins with the
/// preface of HTTP/2. After that the handler is gone. A client that does not say what it speaks is not waited for long.
///
/// ```
/// connection ──► PlainHTTPHandler ──► HTTP/2 … gRPC
///                   │ until the client has spoken, what the server would send waits here
///                   └─ GET / · DELETE /emulator/v1/projects/P/databases/D/documents[/PATH]
/// ```
final class PlainHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// So far all is the beginning of the preface.
    case unknown
    case http
    case answering
    /// The client speaks HTTP/2: nothing waits any more.
    case passing
    case closing
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let service: FirestoreService
  private let origins: ControlOrigins
  private let handshake: TimeAmount
  private var deadline: Scheduled<Void>?
  private var context: ChannelHandlerContext?
  private var state = State.unknown
  private var received = ByteBuffer()
  private var held: [(NIOAny, EventLoopPromise<Void>?)] = []
  private var owesFlush = false

  /// - Parameter handshake: how long a client may take for its first request or the preface, and for each next request.
  init(_ service: FirestoreService, _ origins: ControlOrigins, handshake: TimeAmount) {
    self.service = service
    self.origins = origins
    self.handshake = handshake
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    wait(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    deadline?.cancel()
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .passing = state { return context.fireChannelRead(data) }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    if case .unknown = state {
      let common = zip(received.readableBytesView, Self.preface).prefix { $0 == $1 }.count
      if common == Self.preface.count { return passOn(context) }
      if common == received.readableBytes { return }
      state = .http
      for (_, promise) in held { promise?.succeed() }
      held = []
    }
    serveNext(context)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch state {
    case .passing: context.write(data, promise: promise)
    case .unknown: held.append((data, promise))
    // What HTTP/2 would say is nothing for this client.
    case .http, .answering, .closing: promise?.succeed()
    }
  }

  func flush(context: ChannelHandlerContext) {
    if case .passing = state { context.flush() } else { owesFlush = true }
  }

  func channelInactive(context: ChannelHandlerContext) {
    for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
    held = []
    state = .closing
    context.fireChannelInactive()
  }

  private func passOn(_ context: ChannelHandlerContext) {
    // What the next handlers send while they read is not to be held.
    state = .passing
    deadline?.cancel()
    for (data, promise) in held { context.write(data, promise: promise) }
    held = []
    if owesFlush { context.flush() }
    context.fireChannelRead(wrapInboundOut(received))
    received = ByteBuffer()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private func wait(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshake) { [weak self] in
      guard let self, let context = self.context else { return }
      switch self.state {
      case .http where self.received.readableBytes > 0:
        self.answer(context, 408, "The request did not come to its end.\n")
      case .unknown, .http: context.close(promise: nil)
      case .answering, .passing, .closing: break
      }
    }
  }

  private func serveNext(_ context: ChannelHandlerContext) {
    guard case .http = state else { return }
    // Empty lines before a request are nothing (RFC 9112 §2.2).
    while let byte: UInt8 = received.getInteger(at: received.readerIndex), byte == 0x0D || byte == 0x0A {
      received.moveReaderIndex(forwardBy: 1)
    }
    let view = received.readableBytesView
    guard let end = view.endOfHead else {
      if view.count > PlainRequest.maximumBytes {
        answer(context, 431, "The request's head is longer than 16 KiB.\n")
      } else if !view.prefix(20).prefix(while: { $0 != 0x20 }).allSatisfy(\.isLetter) {
        answer(context, 400, Self.isNoHTTP)
      }
      return
    }
    let request = PlainRequest(head: view[..<end])
    received.moveReaderIndex(to: end)
    received.discardReadBytes()
    if let request { serve(request, context) } else { answer(context, 400, Self.isNoHTTP) }
  }

  private static let isNoHTTP = "This is neither HTTP nor gRPC without TLS.\n"

  private func serve(_ request: PlainRequest, _ context: ChannelHandlerContext) {
    switch request.wish {
    case .status: answer(context, 200, "Ok\n", to: request)
    case .unknown:
      answer(
        context, 404,
        "There is no \(request.method) \(request.target) here. This is google.firestore.v1 over gRPC; plain HTTP has "
          + "GET / and DELETE /emulator/v1/projects/PROJECT/databases/DATABASE/documents, also followed by the path of "
          + "a collection or document.\n",
        to: request)
    case .delete(let path, let database):
      if let objection = origins.objection(host: request.host, origin: request.origin) {
        return answer(context, 403, objection + "\n", to: request)
      }
      state = .answering
      let promise = context.eventLoop.makePromise(of: Void.self)
      let service = service
      promise.completeWithTask { try await service.deleteDocuments(below: path, in: database) }
      promise.futureResult.assumeIsolated().whenComplete { result in
        switch result {
        case .success: self.answer(context, 200, "{}\n", to: request)
        case .failure(let status as RPCStatus) where status.code == .invalidArgument:
          self.answer(context, 400, status.message + "\n", to: request)
        case .failure(let error): self.answer(context, 500, "\(error)\n", to: request)
        }
      }
    }
  }

  /// - Parameter request: `nil` for what is none; the connection then ends.
  private func answer(
    _ context: ChannelHandlerContext, _ code: Int, _ body: String, to request: PlainRequest? = nil
  ) {
    let isPersistent = request?.isPersistent ?? false
    let head = PlainResponse.head(code, of: body, isPersistent: isPersistent)
    let text = request?.method == "HEAD" ? head : head + body
    state = isPersistent ? .http : .closing
    let written = context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)))
    guard isPersistent else {
      return written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
    wait(context)
    if received.readableBytes > 0 { serveNext(context) }
  }
}

private enum PlainResponse {
  private static let reasons = [
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 408: "Request Timeout",
    431: "Request Header Fields Too Large", 500: "Internal Server Error",
  ]

  static func head(_ code: Int, of body: String, isPersistent: Bool) -> String {
    let type = body.hasPrefix("{") ? "application/json" : "text/plain; charset=utf-8"
    let connection = isPersistent ? "keep-alive" : "close"
    return "HTTP/1.1 \(code) \(reasons[code, default: "Unknown"])\r\nContent-Type: \(type)\r\n"
      + "Content-Length: \(body.utf8.count)\r\nConnection: \(connection)\r\n\r\n"
  }
}

extension ByteBufferView {
  /// Behind the empty line that ends a head.
  fileprivate var endOfHead: Index? {
    var rest = self[...]
    while let newline = rest.firstIndex(of: 0x0A) {
      rest = rest[(newline + 1)...]
      if rest.first == 0x0A { return rest.startIndex + 1 }
      if rest.starts(with: [0x0D, 0x0A]) { return rest.startIndex + 2 }
    }
    return nil
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
