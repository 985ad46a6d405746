// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The end of a stream at one of its two connections:
/// ```
/// client ── FrameConnection ── StreamEnd ── BridgedStream ── StreamEnd ── FrameConnection ── server
/// ```
final class StreamEnd {
  /// A piece on its way to the peer.
  enum Piece {
    case headers(HeaderBlock, isLast: Bool)
    /// Bytes, and how many bytes of room the peer of the other end gets back when they have gone.
    case data(ByteBuffer, owed: Int, isLast: Bool)
  }

  let id: Int
  let connection: FrameConnection
  /// `nil` as soon as the stream is over.
  var stream: BridgedStream?
  /// The end at which those bytes arrive that go out here.
  weak var other: StreamEnd?

  /// The bytes that the peer takes.
  var room: Int
  /// The pieces that wait for room; `nil` for none.
  private(set) var waiting: CircularBuffer<Piece>?
  /// Whether it has its turn to come when there is room in the connection.
  var isInLine = false
  /// Whether the last piece has gone.
  var isSaidOut = false

  /// The bytes that the peer may still send.
  var allowance = FrameConnection.streamWindow
  /// The bytes that the peer has sent and that did not go on yet.
  var held = 0
  /// The bytes that went on, of which the peer has not been told yet.
  var credit = 0
  /// Whether the peer has ended its side.
  var isHeardOut = false

  init(_ id: Int, _ connection: FrameConnection, room: Int) {
    (self.id, self.connection, self.room) = (id, connection, room)
  }

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

  /// Lets go of all others.
  func detach() {
    other?.other = nil
    (stream, other, waiting, held) = (nil, nil, nil, 0)
  }
}
