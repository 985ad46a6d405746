// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Says more on a `StreamedAnswer` as it comes. Used on the connections' thread.
protocol AnswerSource: AnyObject {
  /// The client reads again.
  func resume()
  /// Nobody is left to read the answer.
  func abandon(_ answer: StreamedAnswer)
  /// The server shuts down.
  func shutDown(_ answer: StreamedAnswer)
}

/// The answer to one request, which is written as it comes and for as long as the client stays. Used on the
/// connections' thread.
final class StreamedAnswer {
  private var handler: HTTPRequestHandler?
  /// Who has more to say.
  private weak var source: (any AnswerSource)?
  let loop: any EventLoop

  init(_ handler: HTTPRequestHandler, on loop: any EventLoop) {
    self.handler = handler
    self.loop = loop
  }

  /// Has a source told when the client reads again, or is gone.
  func attach(_ source: any AnswerSource) { self.source = source }

  /// Whether what is said now would be read soon.
  var isWritable: Bool { handler?.isWritable ?? false }

  /// Writes a piece; the first has the status and the headers of the answer.
  func send(_ piece: HTTPAnswer) { handler?.stream(piece) }

  /// Writes the last piece.
  func end(_ piece: HTTPAnswer) {
    let handler = handler
    (self.handler, source) = (nil, nil)
    handler?.endStream(piece)
  }

  // MARK: For the connection

  func resume() { source?.resume() }

  func abandon() {
    let source = source
    (handler, self.source) = (nil, nil)
    source?.abandon(self)
  }

  func shutDown() { source?.shutDown(self) }
}
