// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore

/// Tells plain HTTP/1 requests from gRPC by the first bytes of a connection, and answers them: gRPC begins with
/// HTTP/2's `PRI`. After the first bytes of gRPC the handler is gone.
///
/// ```
/// connection ──► PlainHTTPHandler ──► HTTP/2 … gRPC
///                   │ until the client has spoken, what the server would send waits here
///                   └─ GET / · DELETE /emulator/v1/projects/P/databases/D/documents
/// ```
final class PlainHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let maximumHeadBytes = 16 << 10

  private let service: FirestoreService
  private var head = ByteBuffer()
  private var isHTTP = false
  /// The client speaks HTTP/2: nothing waits any more.
  private var isPassing = false
  private var held: [(NIOAny, EventLoopPromise<Void>?)] = []
  private var owesFlush = false

  init(_ service: FirestoreService) { self.service = service }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isPassing { return context.fireChannelRead(data) }
    if !isHTTP {
      let buffer = unwrapInboundIn(data)
      guard
        buffer.readableBytesView.starts(with: "GET ".utf8) || buffer.readableBytesView.starts(with: "DELETE ".utf8)
          || buffer.readableBytesView.starts(with: "POST ".utf8) || buffer.readableBytesView.starts(with: "PUT ".utf8)
          || buffer.readableBytesView.starts(with: "HEAD ".utf8)
          || buffer.readableBytesView.starts(with: "OPTIONS ".utf8)
      else {
        passOn(context, data)
        return
      }
      isHTTP = true
      held = []
    }
    var buffer = unwrapInboundIn(data)
    head.writeBuffer(&buffer)
    let view = head.readableBytesView
    if view.count > Self.maximumHeadBytes {
      answer(context, 431, "The request's head is longer than 16 KiB.\n")
    } else if let request = PlainRequest(head: view) {
      serve(request, context)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isPassing {
      context.write(data, promise: promise)
    } else if isHTTP {
      promise?.succeed()
    } else {
      held.append((data, promise))
    }
  }

  func flush(context: ChannelHandlerContext) {
    if isPassing { context.flush() } else { owesFlush = true }
  }

  func channelInactive(context: ChannelHandlerContext) {
    for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
    held = []
    context.fireChannelInactive()
  }

  private func passOn(_ context: ChannelHandlerContext, _ data: NIOAny) {
    // What the next handlers send while they read is not to be held.
    isPassing = true
    for (data, promise) in held { context.write(data, promise: promise) }
    held = []
    if owesFlush { context.flush() }
    context.fireChannelRead(data)
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private func serve(_ request: PlainRequest, _ context: ChannelHandlerContext) {
    switch request {
    case .status: answer(context, 200, "Ok\n")
    case .unknown(let method, let path):
      answer(
        context, 404,
        "There is no \(method) \(path) here. This is google.firestore.v1 over gRPC; plain HTTP has GET / and "
          + "DELETE /emulator/v1/projects/PROJECT/databases/DATABASE/documents.\n")
    case .deleteAll(let database):
      let promise = context.eventLoop.makePromise(of: Void.self)
      let service = service
      promise.completeWithTask { try await service.deleteAllDocuments(in: database) }
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      promise.futureResult.whenComplete { result in
        let (handler, context) = bound.value
        switch result {
        case .success: handler.answer(context, 200, "{}\n")
        case .failure(let error): handler.answer(context, 500, "\(error)\n")
        }
      }
    }
  }

  private func answer(_ context: ChannelHandlerContext, _ code: Int, _ body: String) {
    let reason = [200: "OK", 404: "Not Found", 431: "Request Header Fields Too Large"][code] ?? "Internal Server Error"
    let type = body.hasPrefix("{") ? "application/json" : "text/plain; charset=utf-8"
    let text =
      "HTTP/1.1 \(code) \(reason)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(body)"
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
      bound.value.close(promise: nil)
    }
  }
}

/// What a plain HTTP request asks for.
enum PlainRequest {
  case status
  case deleteAll(DatabaseID)
  case unknown(method: String, path: String)

  /// - Returns: `nil` while the head is incomplete.
  init?(head: some Collection<UInt8>) {
    let text = String(decoding: head, as: UTF8.self)
    guard text.utf8.containsSequence("\r\n\r\n".utf8) else { return nil }
    let line = text.prefix { !$0.isNewline }.split(separator: " ")
    guard line.count >= 2 else {
      self = .unknown(method: "", path: "")
      return
    }
    let (method, path) = (String(line[0]), String(line[1]))
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(Self.decoded)
    if method == "GET" || method == "HEAD", path == "/" {
      self = .status
    } else if method == "DELETE", parts.count == 7, parts[0] == "emulator", parts[1] == "v1", parts[2] == "projects",
      parts[4] == "databases", parts[6] == "documents", !parts[3].isEmpty, !parts[5].isEmpty
    {
      self = .deleteAll(DatabaseID(project: parts[3], database: parts[5]))
    } else {
      self = .unknown(method: method, path: path)
    }
  }

  /// Percent-encoding undone; what is no encoding stays.
  private static func decoded(_ text: Substring) -> String {
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

extension Collection<UInt8> {
  fileprivate func containsSequence(_ other: some Collection<UInt8>) -> Bool {
    indices.contains { self[$0...].starts(with: other) }
  }
}
