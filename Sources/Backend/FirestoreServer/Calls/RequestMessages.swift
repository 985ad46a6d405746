// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import NIOCore
package import NIOHTTP2
import Synchronization

/// The messages of a request, taken from the frames of its stream. One reader.
///
/// ```
/// DATA frames of one call:  0 ‖ length (4 bytes) ‖ message ‖ 0 ‖ length …
/// ```
package final class RequestMessages: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Frames = NIOAsyncChannelInboundStream<HTTP2Frame.FramePayload>

  private let frames: Frames
  private let limit: Int
  private let hasEnded = Atomic(false)

  /// - Parameter limit: the most bytes of a message.
  init(_ frames: Frames, limit: Int) {
    self.frames = frames
    self.limit = limit
  }

  /// Whether the client has sent its whole request.
  var isWhole: Bool { hasEnded.load(ordering: .relaxed) }

  /// The one message of a request that has one.
  /// - Throws: `RPCStatus` for no message, for several, and for bytes that are no message.
  package func single() async throws -> [UInt8] {
    let iterator = makeAsyncIterator()
    guard let message = try await iterator.next() else {
      throw RPCStatus(.invalidArgument, "The request has no message.")
    }
    // The client must have closed its side before the answer, or it would reset the stream; a connection with many
    // resets is taken for an attack.
    guard try await iterator.next() == nil else {
      throw RPCStatus(.invalidArgument, "The request has more than one message.")
    }
    return message
  }

  package func makeAsyncIterator() -> Iterator { Iterator(frames.makeAsyncIterator(), self) }

  package final class Iterator: AsyncIteratorProtocol {
    private var frames: Frames.AsyncIterator
    private let request: RequestMessages
    private var received = ByteBuffer()

    fileprivate init(_ frames: Frames.AsyncIterator, _ request: RequestMessages) {
      self.frames = frames
      self.request = request
    }

    /// - Throws: `RPCStatus` for a message that is too large, compressed or cut short.
    package func next() async throws -> [UInt8]? {
      while true {
        if let message = try GRPCFraming.nextMessage(&received, limit: request.limit) { return message }
        if request.isWhole { return try atEnd() }
        guard let frame = try await frames.next() else { return try atEnd() }
        switch frame {
        case .data(let data):
          guard case .byteBuffer(var bytes) = data.data else { continue }
          // Copied bytes do not keep alive the whole buffer that was read.
          if received.readableBytes == 0, data.endStream { received = bytes } else { received.writeBuffer(&bytes) }
          if data.endStream { request.hasEnded.store(true, ordering: .relaxed) }
        case .headers(let headers):
          if headers.endStream { request.hasEnded.store(true, ordering: .relaxed) }
        default: continue
        }
      }
    }

    private func atEnd() throws(RPCStatus) -> [UInt8]? {
      guard received.readableBytes > 0 else { return nil }
      received = ByteBuffer()
      throw RPCStatus(.invalidArgument, "The request ends within a message.")
    }
  }
}
