// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHTTP1
import NIOPosix
import TransportSecurity

/// An `http` or `https` URL.
struct HTTPURL: Hashable, Sendable {
  let host: String
  let port: Int
  let path: String
  let isTLS: Bool

  init?(_ text: String) {
    let isTLS = text.hasPrefix("https://")
    guard isTLS || text.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst(isTLS ? 8 : 7)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    // Callers report which field has the invalid URL; the endpoint's error could not.
    guard
      let endpoint = try? Endpoint(
        String(rest[..<slash]), defaultPort: isTLS ? 443 : 80, security: .plaintext, from: "url")
    else { return nil }
    (host, port, self.isTLS) = (endpoint.host, endpoint.port, isTLS)
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
  }

  /// The text in which all characters except unreserved ones are encoded as `%XX`.
  static func formEncoded(_ text: String) -> String {
    RequestHeads.percentEncoded(text).split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
  }
}

struct HTTPResponse: Sendable {
  var status: Int
  var body: [UInt8]
}

/// One HTTP request on a separate connection. This type is sufficient to fetch a token once an hour. In contrast, a
/// client library with pools and redirects would be the package's largest dependency, and Foundation's client would add
/// a second TLS implementation.
struct HTTPRequest: Sendable {
  private static let timeout = TimeAmount.seconds(10)
  private static let bodyLimit = 1 << 20

  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
  }

  var method: Method
  var url: HTTPURL
  var headers: [(String, String)] = []
  var body = ""
  /// The path of a PEM file with the certificates to trust in place of the system's; `nil` for the system's.
  var trustRoots: String?
  /// The purpose of the request. It completes the error text "HOST cannot …" if there is no response.
  var purpose = "issue a token"

  /// Sends the request and returns the response. The timeout is measured on the event loop, so that a delayed task is
  /// not mistaken for a server timeout.
  /// - Throws: `unavailable`, with the host, if no response arrives within ten seconds.
  func perform() async throws(RPCStatus) -> HTTPResponse {
    let exchange = HTTPExchange(parts, on: MultiThreadedEventLoopGroup.singleton.next())
    do {
      let tls = url.isTLS ? try TLSContext(trustRoots: trustRoots, http2: false) : nil
      connect(exchange, tls)
      return try await withTaskCancellationHandler {
        try await exchange.answer.futureResult.get()
      } onCancel: {
        exchange.answer.fail(CancellationError())
      }
    } catch {
      if Task.isCancelled { throw RPCStatus(.cancelled, "The call was cancelled.") }
      throw RPCStatus(.unavailable, "\(url.host):\(url.port) cannot \(purpose): \(CallFailure.reason(error))")
    }
  }

  private var parts: [HTTPClientRequestPart] {
    let body = body.isEmpty ? [] : [HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body)))]
    return [.head(head)] + body + [.end(nil)]
  }

  private var head: HTTPRequestHead {
    var fields = HTTPHeaders(headers)
    fields.add(name: "host", value: url.host)
    fields.add(name: "connection", value: "close")
    if method != .get { fields.add(name: "content-length", value: String(body.utf8.count)) }
    return HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: url.path, headers: fields)
  }

  private func connect(_ exchange: HTTPExchange, _ tls: TLSContext?) {
    let host = url.host
    ClientBootstrap(group: exchange.answer.futureResult.eventLoop).connectTimeout(Self.timeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(tls.clientHandler(for: TLSContext.Peer(host))) }
          try pipeline.addHandler(IdleStateHandler(readTimeout: Self.timeout))
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: Self.bodyLimit))
          try pipeline.addHandler(exchange.handler())
        }
      }
      .connect(host: host, port: url.port)
      .whenComplete { result in
        switch result {
        case .failure(let error): exchange.answer.fail(error)
        // The connection closes after the response, and also if the call is canceled.
        case .success(let channel): exchange.answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
        }
      }
  }
}

/// A request and its response on one connection.
private struct HTTPExchange: Sendable {
  private let parts: [HTTPClientRequestPart]
  let answer: EventLoopPromise<HTTPResponse>

  init(_ parts: [HTTPClientRequestPart], on loop: any EventLoop) {
    self.parts = parts
    answer = loop.makePromise(of: HTTPResponse.self)
  }

  func handler() -> some ChannelHandler { Handler(parts, answer) }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull
    typealias OutboundOut = HTTPClientRequestPart

    private let parts: [HTTPClientRequestPart]
    private let answer: EventLoopPromise<HTTPResponse>

    init(_ parts: [HTTPClientRequestPart], _ answer: EventLoopPromise<HTTPResponse>) {
      (self.parts, self.answer) = (parts, answer)
    }

    func channelActive(context: ChannelHandlerContext) {
      for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
      context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let response = unwrapInboundIn(data)
      let body = response.body.map { Array($0.readableBytesView) } ?? []
      answer.succeed(HTTPResponse(status: Int(response.head.status.code), body: body))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event is IdleStateHandler.IdleStateEvent { answer.fail(ChannelError.connectTimeout(.seconds(10))) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { answer.fail(error) }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
  }
}
