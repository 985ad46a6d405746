// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The source of a `StreamedAnswer`, which writes more pieces as they come. Used on the connections' thread.
protocol AnswerSource: AnyObject {
  /// Goes on, because the client reads again.
  func resume()
  /// Stops, because no client is left to read the answer.
  func abandon(_ answer: StreamedAnswer)
  /// Ends the answer, because the server shuts down.
  func shutDown(_ answer: StreamedAnswer)
}

/// The answer to one request, which is written as it comes and for as long as the client stays. Used on the
/// connections' thread.
final class StreamedAnswer {
  private var exchange: HTTPExchange?
  /// The source of further pieces.
  private weak var source: (any AnswerSource)?
  let loop: any EventLoop

  init(_ exchange: HTTPExchange, on loop: any EventLoop) {
    self.exchange = exchange
    self.loop = loop
  }

  /// Attaches the source that is told when the client reads again, or is gone.
  func attach(_ source: any AnswerSource) { self.source = source }

  /// Whether a piece written now would be read soon.
  var isWritable: Bool { exchange?.isWritable ?? false }

  /// Writes a piece; the first has the status and the headers of the answer.
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
