// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import NIOCore
import NIOHTTP1

/// The response to one HTTP/1 request, or its beginning.
struct HTTPAnswer {
  let status: HTTPResponseStatus
  private(set) var headers: HTTPHeaders
  let body: ByteBuffer

  /// A response with a plain text for people.
  init(_ code: Int, _ text: String) {
    self.init(code, type: text.hasPrefix("{") ? "application/json" : "text/plain; charset=utf-8", Array(text.utf8))
  }

  /// A complete JSON response.
  init(_ code: Int, json: [UInt8]) { self.init(code, type: Self.json, json) }

  init(_ code: Int, type: String, _ body: [UInt8]) {
    status = HTTPResponseStatus(statusCode: code)
    headers = ["Content-Type": type, "Content-Length": "\(body.count)"]
    self.body = ByteBuffer(bytes: body)
  }

  /// The beginning of JSON or other text that is written in pieces.
  init(streaming text: [UInt8], type: String = json) {
    status = .ok
    headers = ["Content-Type": type]
    body = ByteBuffer(bytes: text)
  }

  /// The CORS permission for a page to use the served data (Fetch, "CORS protocol").
  init(preflightOf request: HTTPRequestHead) {
    self.init(200, "")
    headers.add(name: "Access-Control-Allow-Methods", value: "DELETE,GET,HEAD,PATCH,POST,PUT")
    if let names = request.headers.first(name: "access-control-request-headers") {
      headers.add(name: "Access-Control-Allow-Headers", value: names)
    }
    // Browsers ask for this permission when a page on the internet accesses this machine (Private Network Access).
    if request.headers.contains(name: "access-control-request-private-network") {
      headers.add(name: "Access-Control-Allow-Private-Network", value: "true")
    }
    headers.add(name: "Access-Control-Max-Age", value: "3600")
  }

  /// A response with an error in Google's format.
  init(_ status: RPCStatus, to request: PlainRequest, code: Int? = nil) {
    self.init(code ?? status.code.httpStatus, json: RESTCall.text(of: status, to: request.target, code: code))
  }

  static let json = "application/json; charset=UTF-8"

  func adding(_ name: String, _ value: String) -> HTTPAnswer {
    var answer = self
    answer.headers.add(name: name, value: value)
    return answer
  }

  /// Allows the requesting page to read the response.
  func allowing(_ origin: String?) -> HTTPAnswer {
    var answer = self
    answer.headers.add(name: "Vary", value: "Origin")
    if let origin {
      answer.headers.add(name: "Access-Control-Allow-Origin", value: origin)
      answer.headers.add(name: "Access-Control-Allow-Credentials", value: "true")
    }
    return answer
  }

  /// - Parameter isPersistent: whether the connection remains open.
  func head(isPersistent: Bool, _ version: HTTPVersion) -> HTTPResponseHead {
    var headers = headers
    if version.major == 1 { headers.add(name: "Connection", value: isPersistent ? "keep-alive" : "close") }
    return HTTPResponseHead(version: version, status: status, headers: headers)
  }
}

/// The object that writes the further pieces of a `StreamedAnswer`. Used on the connections' thread.
protocol AnswerSource: AnyObject {
  /// Continues, because the client is reading again.
  func resume()
  /// Stops, because the client has disconnected.
  func abandon(_ answer: StreamedAnswer)
  /// Ends the response, because the server shuts down.
  func shutDown(_ answer: StreamedAnswer)
}

/// The response to one request, written in pieces as data arrives. Used on the connections' thread.
final class StreamedAnswer {
  private var exchange: HTTPExchange?
  /// The source of further pieces.
  private weak var source: (any AnswerSource)?
  let loop: any EventLoop

  init(_ exchange: HTTPExchange, on loop: any EventLoop) {
    self.exchange = exchange
    self.loop = loop
  }

  /// Attaches the source, which is notified when the client resumes reading or disconnects.
  func attach(_ source: any AnswerSource) { self.source = source }

  /// Whether a piece would be sent without waiting for the client.
  var isWritable: Bool { exchange?.isWritable ?? false }

  /// Writes a piece. The first one contains the status and the headers of the response.
  func send(_ piece: HTTPAnswer) { exchange?.stream(piece) }

  /// Writes the last piece.
  func end(_ piece: HTTPAnswer) {
    let exchange = exchange
    (self.exchange, source) = (nil, nil)
    exchange?.endStream(piece)
  }

  // MARK: For the connection

  func resume() { source?.resume() }

  func abandon() {
    let source = source
    (exchange, self.source) = (nil, nil)
    source?.abandon(self)
  }

  func shutDown() { source?.shutDown(self) }
}
