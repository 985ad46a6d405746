// SPDX-License-Identifier: Apache-2.0
import NIOCore

// The end in order (RFC 9113, 6.8), of a connection on which a client begins the streams.

extension FrameConnection {
  enum Ending { case none, announced, ending }

  /// The PING of the end; a server sends no other.
  private static let farewell: UInt64 = 0x4865_6172_7468
  /// The time within which a peer has to answer that PING, and then to read what is left.
  private static let patience = TimeAmount.seconds(20)

  /// Ends the connection behind its last stream:
  /// ```
  /// GOAWAY of the last possible stream, PING ──► its answer ──► GOAWAY of the last stream ──► close behind it
  /// ```
  /// Streams that the client begins before it has read the first GOAWAY are served as well. A client that does not answer
  /// the PING is gone.
  package func endInOrder() {
    guard ending == .none, !isClosed, let context else { return }
    ending = .announced
    gathered.writeGoAway(.noError, "", last: Frame.largest)
    gathered.writeFrame(.ping, 0, stream: 0, length: 8)
    gathered.writeInteger(Self.farewell)
    touch()
    wait(context) { connection in
      if connection.ending == .announced { connection.close() }
    }
  }

  /// Takes the answer to a PING.
  func receiveAnswer(_ content: ByteBuffer) {
    guard ending == .announced, content.getInteger(at: content.readerIndex, as: UInt64.self) == Self.farewell else {
      return
    }
    ending = .ending
    gathered.writeGoAway(.noError, "", last: max(0, lastID))
    touch()
    closeIfDone()
  }

  /// Closes the connection if it is to end and was waiting for its last stream.
  func closeIfDone() {
    guard ending == .ending, ends.isEmpty, !isClosed, let context else { return }
    let (bytes, channel) = (gathered, context.channel)
    end()
    // Closing takes back what the system has not taken.
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
    wait(context) { $0.context?.close(promise: nil) }
  }

  /// Looks at the number of streams from time to time instead of after each of them, and ends a connection that was not
  /// used in between.
  func watchUse() {
    guard let idle, ending == .none, let context else { return }
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: idle) { [weak self] in
      guard let self, !self.isClosed else { return }
      if self.ends.isEmpty, !self.wasUsed { return self.endInOrder() }
      self.wasUsed = false
      self.watchUse()
    }
  }

  private func wait(_ context: ChannelHandlerContext, _ body: @escaping (FrameConnection) -> Void) {
    watch?.cancel()
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
      if let self { body(self) }
    }
  }
}
