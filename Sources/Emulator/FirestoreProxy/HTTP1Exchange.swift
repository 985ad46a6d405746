// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreServer
import NIOCore
import NIOHTTP1

/// One HTTP/1 request and its response.
final class HTTP1Exchange {
  /// The maximum size in bytes of a body that is buffered until it is complete.
  static let mostHeld = ConnectionLimits.requestMessageBytes
  private static let mostNoted = 64 << 10

  let number: Int
  let method: ProxiedMethod
  let uri: String
  /// Whether the client's connection remains open after the exchange.
  let isKeptAlive: Bool
  let began = NIODeadline.now()
  let toServer: ByteRelay
  let toClient: ByteRelay
  /// The WebChannel session of the request; `nil` if it has none.
  let session: String?
  /// Whether the body is buffered until it is complete, so that faults can affect the request.
  let holdsBody: Bool
  /// The head while the body is buffered.
  var head: HTTPRequestHead?
  private(set) var held = ByteBuffer()
  private(set) var requestBytes = 0
  private var noted: [UInt8] = []
  /// Whether the response is the back channel of a session.
  let isBack: Bool
  /// Whether the client reads the response only after its end.
  let isBuffered: Bool
  /// The number of the newest array that was sent to the client in this session.
  var sent: Int
  var frames = ChannelFrames()
  /// Whether the response is forwarded unchanged.
  var isOpaque = false
  /// The proxy's arrays for the session that this request opens.
  var sayings: [[UInt8]] = []
  var losesAnswer = false
  var isRequestOver = false
  var hasAnswerHead = false
  var isAnswerOver = false
  var isAnswerDelivered = false
  var bytesToServer = 0
  var bytesToClient = 0
  var answerBytes = 0
  var httpStatus: Int?
  /// The status of a response by the proxy; `nil` if the server responded.
  var status: RPCStatus?

  init(_ number: Int, _ head: HTTPRequestHead, _ method: ProxiedMethod, on loop: any EventLoop) {
    (self.number, self.method, uri, isKeptAlive) = (number, method, head.uri, head.isKeepAlive)
    (toServer, toClient) = (ByteRelay(loop), ByteRelay(loop))
    session = method.isChannel ? Self.parameter("SID", of: head.uri) : nil
    isBack = session != nil && head.method == .GET && Self.parameter("TYPE", of: head.uri) == "xmlhttp"
    isBuffered = Self.parameter("CI", of: head.uri) == "1"
    sent = Self.parameter("AID", of: head.uri).flatMap { Int($0) } ?? 0
    holdsBody = head.method == .POST && method.lane != .read || method.lane == .write
  }

  func hold(_ bytes: ByteBuffer) {
    var bytes = bytes
    note(bytes)
    held.writeBuffer(&bytes)
  }

  /// Replaces the buffered body.
  func replaceBody(_ bytes: [UInt8]) {
    held = ByteBuffer(bytes: bytes)
    if head?.headers.contains(name: "content-length") == true {
      head?.headers.replaceOrAdd(name: "content-length", value: "\(bytes.count)")
    }
  }

  /// The target with another number for the newest array that the client has received.
  func uri(acknowledging number: Int) -> String { uri.replacing("&AID=\(sent)", with: "&AID=\(number)") }

  func note(_ bytes: ByteBuffer) {
    requestBytes += bytes.readableBytes
    noted += bytes.readableBytesView.prefix(Self.mostNoted - noted.count)
  }

  /// Whether the body of a WebChannel request contains a JSON member with this name, percent-encoded or not.
  func says(_ name: String) -> Bool { held.says("%22\(name)%22") || held.says("\"\(name)\"") }

  private static func parameter(_ name: String, of uri: String) -> String? {
    guard let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
    for pair in query.split(separator: "&") where pair.hasPrefix(name + "=") {
      return String(pair.dropFirst(name.count + 1))
    }
    return nil
  }

  /// The summary of the request.
  func summary(hasContent: Bool) -> MessageSummary {
    var summary = MessageSummary()
    if hasContent {
      let text = String(decoding: noted, as: UTF8.self)
      // A body that is not JSON is reported as text.
      let json = (try? JSONSyntax(parsing: text, numbers: .ofAnySize)) ?? JSONSyntax(.string(text))
      summary.content = MessageContent(.json(json), nil)
    }
    if method.isChannel {
      summary.kind = ["addTarget", "removeTarget", "writes"].first(where: says) ?? (session == nil ? "handshake" : "")
      if summary.kind == "writes", !says("streamToken") { summary.tokenLength = 0 }
      return summary
    }
    if let documentPath { summary.documents = [documentPath] }
    if method.lane == .write, let json = try? JSONSyntax(parsing: String(decoding: noted, as: UTF8.self)),
      case .array(let writes)? = json["writes"]?.kind
    {
      summary.setDocuments(
        writes.compactMap(Self.name).map { DocumentKey(unchecked: ResourcePath(MessageSummary.path($0))) })
      summary.count = writes.count
    }
    return summary
  }

  /// The path of the document or collection in the target.
  private var documentPath: String? {
    guard let range = uri.firstRange(of: "/documents/") else { return nil }
    let path = uri[range.upperBound...].prefix { $0 != "?" && $0 != ":" }
    return path.isEmpty ? nil : String(path)
  }

  private static func name(of write: JSONSyntax) -> String? {
    let name = write["update"]?["name"] ?? write["delete"] ?? write["transform"]?["document"]
    if case .string(let text)? = name?.kind { return text }
    return nil
  }
}

extension ByteBuffer {
  /// Whether the bytes contain the text.
  func says(_ text: String) -> Bool { readableBytesView.firstRange(of: Array(text.utf8)) != nil }
}

/// The handler for the client's connection. It receives requests and sends responses.
final class ClientSide: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let bridge: HTTP1Bridge
  private var context: ChannelHandlerContext?

  init(_ bridge: HTTP1Bridge) { self.bridge = bridge }

  func send(_ part: HTTPServerResponsePart, passed: @escaping () -> Void) {
    guard let context else { return }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenSuccess { passed() }
    context.writeAndFlush(wrapOutboundOut(part), promise: promise)
  }

  func setReading(_ isOn: Bool) { context?.channel.setReading(isOn) }
  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { bridge.receive(unwrapInboundIn(data)) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    bridge.clientFailed(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    bridge.clientClosed()
  }
}

/// The handler for the server's connection. It sends requests and receives responses.
final class ServerSide: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private weak var bridge: HTTP1Bridge?
  private var context: ChannelHandlerContext?
  private var failure: (any Error)?

  init(_ bridge: HTTP1Bridge?) { self.bridge = bridge }

  func send(_ part: HTTPClientRequestPart, passed: @escaping () -> Void) {
    guard let context else { return }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenSuccess { passed() }
    context.writeAndFlush(wrapOutboundOut(part), promise: promise)
  }

  func setReading(_ isOn: Bool) { context?.channel.setReading(isOn) }
  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { bridge?.receive(unwrapInboundIn(data), from: self) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    failure = error
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    bridge?.serverClosed(self, failure)
  }
}

extension Channel {
  fileprivate func setReading(_ isOn: Bool) {
    // This fails for a closed channel, which has nothing to read.
    try? syncOptions?.setOption(.autoRead, value: isOn)
  }
}
