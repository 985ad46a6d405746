// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// One side's end of a stream, as its connection manages it.
package final class StreamEnd {
  /// A piece to send to the peer.
  package enum Piece {
    case headers(HeaderBlock, isLast: Bool)
    /// Bytes of data. `owed` is the number of these bytes to report to the owner when they have been sent.
    case data(ByteBuffer, owed: Int, isLast: Bool)
  }

  package let id: Int
  package let connection: FrameConnection
  /// The object that is notified of events; `nil` once the stream has ended.
  package var owner: (any StreamOwner)?

  /// The number of bytes that the peer currently accepts on the stream.
  var room: Int
  /// The pieces that are waiting until the window allows them; `nil` if the queue is empty.
  private(set) var waiting: CircularBuffer<Piece>?
  /// Whether the stream is in the queue of streams that send when the connection's window allows it.
  var isInLine = false
  /// Whether the last piece has been sent.
  package var isSaidOut = false

  /// The number of bytes that the peer may still send.
  var allowance: Int
  /// The number of received bytes that the owner has not processed yet.
  var held = 0
  /// The number of processed bytes for which the peer has not received credit yet.
  var credit = 0
  /// Whether the peer has ended its side of the stream.
  package var isHeardOut = false

  init(_ id: Int, _ connection: FrameConnection, room: Int) {
    (self.id, self.connection, self.room) = (id, connection, room)
    allowance = connection.limits.streamWindow
  }

  /// Whether all pieces have been sent.
  package var isDrained: Bool { waiting == nil }

  func wait(_ piece: Piece) {
    // Small pieces are merged, since many of them would need much more memory than their bytes.
    if case .data(let more, let owed, let isLast) = piece, let last = waiting?.indices.last,
      case .data(var bytes, let owedBefore, false)? = waiting?[last], bytes.readableBytes < Frame.mostBytes
    {
      waiting?[last] = .data(ByteBuffer(), owed: 0, isLast: false)
      bytes.writeImmutableBuffer(more)
      waiting?[last] = .data(bytes, owed: owedBefore + owed, isLast: isLast)
    } else if waiting == nil {
      waiting = [piece]
    } else {
      waiting?.append(piece)
    }
  }

  /// Removes and returns the first pending piece, with at most `mostBytes` of its data. The rest of the data remains in
  /// the queue.
  func next(mostBytes: Int) -> Piece? {
    guard let first = waiting?.first else { return nil }
    if case .data(var bytes, let owed, let isLast) = first, bytes.readableBytes > mostBytes,
      let part = bytes.readSlice(length: mostBytes), let index = waiting?.startIndex
    {
      let paid = min(owed, mostBytes)
      waiting?[index] = .data(bytes, owed: owed - paid, isLast: isLast)
      return .data(part, owed: paid, isLast: false)
    }
    waiting?.removeFirst()
    if waiting?.isEmpty == true { waiting = nil }
    return first
  }

  /// Whether the first pending piece needs flow-control credit.
  var needsRoom: Bool {
    if case .data(let bytes, _, _)? = waiting?.first { bytes.readableBytes > 0 } else { false }
  }

  /// Releases the owner and the pending pieces.
  func detach() { (owner, waiting, held) = (nil, nil, 0) }
}

/// The object that owns a stream.
package protocol StreamOwner: AnyObject {
  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd)
  /// - Parameter size: the number of bytes including padding.
  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd)
  /// The peer has canceled the stream. The connection has already removed it.
  func receive(_ code: HTTP2Code, on end: StreamEnd)
  /// Bytes have been sent.
  /// - Parameter owed: the number of these bytes that `Piece.data` asked to report.
  func hasSent(_ owed: Int, on end: StreamEnd)
  /// All pending pieces have been sent.
  func hasDrained(_ end: StreamEnd)
  /// The last piece has been sent.
  func hasSaidOut(_ end: StreamEnd)
}
