// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// A stream, as its connection has it.
package final class StreamEnd {
  /// A piece on its way to the peer.
  package enum Piece {
    case headers(HeaderBlock, isLast: Bool)
    /// Bytes, and how many of them the owner is told of when they have gone.
    case data(ByteBuffer, owed: Int, isLast: Bool)
  }

  package let id: Int
  package let connection: FrameConnection
  /// The object that hears of the stream; `nil` as soon as the stream is over.
  package var owner: (any StreamOwner)?

  /// The bytes that the peer takes.
  var room: Int
  /// The pieces that wait for room; `nil` for none.
  private(set) var waiting: CircularBuffer<Piece>?
  /// Whether it has its turn to come when there is room in the connection.
  var isInLine = false
  /// Whether the last piece has gone.
  package var isSaidOut = false

  /// The bytes that the peer may still send.
  var allowance: Int
  /// The bytes that the peer has sent and that did not go on yet.
  var held = 0
  /// The bytes that went on, of which the peer has not been told yet.
  var credit = 0
  /// Whether the peer has ended its side.
  package var isHeardOut = false

  init(_ id: Int, _ connection: FrameConnection, room: Int) {
    (self.id, self.connection, self.room) = (id, connection, room)
    allowance = connection.limits.streamWindow
  }

  /// Whether everything that was said has gone.
  package var isDrained: Bool { waiting == nil }

  func wait(_ piece: Piece) {
    // Many small pieces would take much more memory than their bytes.
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

  /// Takes the first piece that waits, of data no more than some bytes; the rest stays.
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

  /// Whether the first piece that waits can go only if there is room.
  var needsRoom: Bool {
    if case .data(let bytes, _, _)? = waiting?.first { bytes.readableBytes > 0 } else { false }
  }

  /// Lets go of its owner, and of what waits.
  func detach() { (owner, waiting, held) = (nil, nil, 0) }
}

/// The object that a stream is about.
package protocol StreamOwner: AnyObject {
  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd)
  /// - Parameter size: the bytes with padding.
  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd)
  /// The peer has broken the stream off, which the connection knows no more.
  func receive(_ code: HTTP2Code, on end: StreamEnd)
  /// Bytes have gone.
  /// - Parameter owed: so many of them, of those that were told with their pieces.
  func hasSent(_ owed: Int, on end: StreamEnd)
  /// Nothing waits any more that waited.
  func hasDrained(_ end: StreamEnd)
  /// The last piece has gone.
  func hasSaidOut(_ end: StreamEnd)
}
