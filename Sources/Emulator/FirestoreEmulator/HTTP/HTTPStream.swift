// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreServer
import NIOCore
import NIOHPACK
import NIOHTTP1

/// A stream of HTTP/2, as the carrier of its one request.
final class HTTPStream: StreamedCall, HTTPCarrier {
  private let stream: ServedStream
  private let exchange: HTTPExchange
  /// The writes that wait for the client to read.
  private var waiting: [EventLoopPromise<Void>] = []

  init(_ stream: ServedStream, _ exchange: HTTPExchange) {
    (self.stream, self.exchange) = (stream, exchange)
    exchange.begin(on: self)
    exchange.receive(.head(HTTPRequestHead(stream.head.headers)))
  }

  // MARK: The request

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool) {
    stream.settle(size)
    if bytes.readableBytes > 0 { exchange.receive(.body(bytes)) }
    if isLast { exchange.receive(.end(nil)) }
  }

  func resume() {
    guard stream.isWritable else { return stream.awaitRoom() }
    let written = waiting
    waiting = []
    for promise in written { promise.succeed() }
    exchange.resume()
  }

  func abandon() {
    let lost = waiting
    waiting = []
    for promise in lost { promise.fail(ChannelError.ioOnClosedChannel) }
    exchange.lose()
    exchange.end()
  }

  var awaitsWholeRequest: Bool { true }
  func giveUp(_ status: RPCStatus) { stream.cancel() }
  func shutDown() { exchange.shutDown() }

  // MARK: The answer

  var loop: any EventLoop { stream.loop }
  var isWritable: Bool { stream.isWritable }
  var address: String? { stream.address }

  func write(_ head: HTTPResponseHead) {
    var headers: HPACKHeaders = [":status": "\(head.status.code)"]
    for (name, value) in head.headers { headers.add(name: name.lowercased(), value: value) }
    stream.begin(headers)
  }

  func write(_ body: ByteBuffer) -> EventLoopFuture<Void> {
    stream.write(body)
    if stream.isWritable || stream.isOver { return loop.makeSucceededVoidFuture() }
    let promise = loop.makePromise(of: Void.self)
    waiting.append(promise)
    stream.awaitRoom()
    return promise.futureResult
  }

  /// Ends the answer, and with it the stream.
  func end() -> EventLoopFuture<Void> {
    stream.finish()
    exchange.end()
    return loop.makeSucceededVoidFuture()
  }

  func close(_ mode: CloseMode) { _ = end() }

  // The connection reads what comes, and sends what is written at the end of the turn.
  func flush() {}
  func read() {}
}

extension HTTPRequestHead {
  /// The head of a request of HTTP/2.
  fileprivate init(_ headers: HPACKHeaders) {
    var (method, target, authority) = ("", "", "")
    var fields = HTTPHeaders()
    for (name, value, _) in headers {
      switch name {
      case ":method": method = value
      case ":path": target = value
      case ":authority": authority = value
      case ":scheme": break
      default: fields.add(name: name, value: value)
      }
    }
    if !fields.contains(name: "host") { fields.add(name: "host", value: authority) }
    self.init(
      version: HTTPVersion(major: 2, minor: 0), method: HTTPMethod(rawValue: method), uri: target, headers: fields)
  }
}
