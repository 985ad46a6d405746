// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHTTP1
import NIOPosix
import TransportSecurity

/// An `http` or `https` address.
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
    // Callers name the field in which no URL was found; the endpoint's error would not.
    guard
      let endpoint = try? Endpoint(
        String(rest[..<slash]), defaultPort: isTLS ? 443 : 80, security: .plaintext, from: "url")
    else { return nil }
    (host, port, self.isTLS) = (endpoint.host, endpoint.port, isTLS)
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
  }

  /// The text with all but unreserved characters as `%XX`.
  static func formEncoded(_ text: String) -> String {
    RequestHeads.percentEncoded(text).split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
  }
}

struct HTTPResponse: Sendable {
  var status: Int
  var body: [UInt8]
}

/// One request on a connection of its own. A token is fetched once an hour: a client library with pools and redirects
/// would be the largest dependency of the package, and Foundation's would bring a second implementation of TLS, while
/// these pieces are already here for HTTP/2.
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
  /// A PEM file with the certificates to trust instead of the system's.
  var trustRoots: String?
  /// The purpose of the request in the error without an answer: the host "cannot …".
  var purpose = "be asked for a token"

  /// Sends the request and returns the answer.
  /// - Throws: `unavailable` that names the host, if there is no answer within ten seconds.
  func perform() async throws(RPCStatus) -> HTTPResponse {
    do {
      let channel = try await connect()
      return try await channel.executeThenClose { inbound, outbound in
        // A server answers when it has the head, and may have closed the connection before an end that is sent later.
        try await outbound.write(contentsOf: parts)
        for try await response in inbound {
          let bytes = response.body.map { Array($0.readableBytesView) } ?? []
          return HTTPResponse(status: Int(response.head.status.code), body: bytes)
        }
        throw ChannelError.eof
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

  private typealias Exchange = NIOAsyncChannel<NIOHTTPClientResponseFull, HTTPClientRequestPart>

  private func connect() async throws -> Exchange {
    let tls = url.isTLS ? try TLSContext(trustRoots: trustRoots, http2: false) : nil
    return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connectTimeout(Self.timeout)
      .connect(host: url.host, port: url.port) { [tls] channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls {
            try pipeline.addHandler(tls.clientHandler(for: TLSContext.Peer(url.host)))
          }
          try pipeline.addHandler(IdleStateHandler(readTimeout: Self.timeout))
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: Self.bodyLimit))
          try pipeline.addHandler(SilenceHandler())
          return try Exchange(wrappingChannelSynchronously: channel)
        }
      }
  }
}

/// Closes a connection on which nothing comes.
private final class SilenceHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOHTTPClientResponseFull
  typealias InboundOut = NIOHTTPClientResponseFull

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent {
      context.fireErrorCaught(ChannelError.connectTimeout(.seconds(10)))
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }
}
