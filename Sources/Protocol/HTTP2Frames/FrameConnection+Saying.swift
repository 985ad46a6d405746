// SPDX-License-Identifier: Apache-2.0
import NIOCore

// Sends the frames of a connection to its peer.

extension FrameConnection {
  /// The number of data bytes that Hearth sends for each additional window update that the peer may send.
  private static let explainingBytes = 1 << 10

  /// Sends a piece after all previous pieces, as soon as the peer accepts it.
  package func send(_ piece: StreamEnd.Piece, on end: StreamEnd) {
    if isClosed || end.isSaidOut { return }
    if end.waiting == nil, isWritable, hasRoom(for: piece, on: end) { return write(piece, on: end) }
    end.wait(piece)
    queue(end)
    pump()
  }

  /// Whether the given number of bytes would be sent immediately.
  package func takes(_ bytes: Int, on end: StreamEnd) -> Bool {
    end.waiting == nil && isWritable && bytes <= min(room, end.room, Frame.mostBytes)
  }

  private func hasRoom(for piece: StreamEnd.Piece, on end: StreamEnd) -> Bool {
    guard case .data(let bytes, _, _) = piece else { return true }
    return bytes.readableBytes <= min(room, end.room, Frame.mostBytes) || bytes.readableBytes == 0
  }

  /// Queues a stream, which sends when it is its turn.
  func queue(_ end: StreamEnd) {
    if end.isInLine || end.waiting == nil { return }
    end.isInLine = true
    line.append(end)
  }

  /// Sends pending data as far as the window allows. The streams take turns, with one frame each.
  func pump() {
    while isWritable, !isClosed, let end = line.popFirst() {
      end.isInLine = false
      if end.owner == nil { continue }
      var most = Frame.mostBytes
      if end.needsRoom {
        if room <= 0 {
          end.isInLine = true
          return line.prepend(end)
        }
        // A window update for the stream queues it again.
        if end.room <= 0 { continue }
        most = min(most, room, end.room)
      }
      if let piece = end.next(mostBytes: most) { write(piece, on: end) }
      if end.isDrained { end.owner?.hasDrained(end) } else { queue(end) }
    }
  }

  private func write(_ piece: StreamEnd.Piece, on end: StreamEnd) {
    let isLast: Bool
    forgivesPing = true
    switch piece {
    case .headers(let block, let last):
      isLast = last
      do throws(HTTP2Violation) {
        gathered.writeHeaders(try writer.bytes(of: block), stream: end.id, isLast: last)
      } catch { return fail(error) }
    case .data(let bytes, let owed, let last):
      isLast = last
      let size = bytes.readableBytes
      gathered.writeFrame(.data, last ? Frame.endsStream : 0, stream: end.id, length: size)
      gathered.writeImmutableBuffer(bytes)
      room -= size
      end.room -= size
      windowUpdates = min(windowUpdates, 0) - size / Self.explainingBytes
      if owed > 0 { end.owner?.hasSent(owed, on: end) }
    }
    if isLast {
      end.isSaidOut = true
      touch()
      end.owner?.hasSaidOut(end)
    } else {
      touch()
    }
  }

  /// Gives the peer flow-control credit for bytes that the owner has processed.
  package func settle(_ bytes: Int, _ end: StreamEnd) {
    guard bytes > 0, !isClosed else { return }
    end.held -= bytes
    settle(bytes)
    if end.isHeardOut { return }
    end.credit += bytes
    if end.credit < limits.streamWindow / 4 { return }
    gathered.writeWindowUpdate(end.credit, stream: end.id)
    end.allowance += end.credit
    end.credit = 0
    touch()
  }

  /// Gives the peer flow-control credit on the connection, but not on a stream.
  func settle(_ bytes: Int) {
    credit += bytes
    if credit < limits.connectionWindow / 4 || isClosed { return }
    gathered.writeWindowUpdate(credit, stream: 0)
    allowance += credit
    credit = 0
    touch()
  }

  /// Sends a PING, to which every peer responds.
  package func ping() {
    if isClosed { return }
    gathered.writeFrame(.ping, 0, stream: 0, length: 8)
    gathered.writeInteger(0 as UInt64)
    touch()
  }

  /// Whether the stream numbers of the connection are exhausted.
  package var isWornOut: Bool { lastID > Frame.largest - 2 }

  /// Whether the server currently accepts another stream.
  package var takesStream: Bool { !isClosed && !isWornOut && ends.count < mostStreams }

  /// Opens a stream. May be called only if `takesStream` is true.
  package func begin(_ stream: any StreamOwner) -> StreamEnd {
    lastID += 2
    let end = StreamEnd(lastID, self, room: initialRoom)
    end.owner = stream
    ends[lastID] = end
    return end
  }

  /// Cancels a stream because of data that the peer sent on this stream.
  package func breakOff(_ end: StreamEnd, _ code: HTTP2Code) {
    drop(end, code)
    do throws(HTTP2Violation) { try countBroken() } catch { fail(error) }
  }

  /// Removes a stream. If one of its sides has not ended yet, cancels it.
  package func drop(_ end: StreamEnd, _ code: HTTP2Code) {
    guard ends.removeValue(forKey: end.id) != nil else { return }
    if !isClosed, !(end.isHeardOut && end.isSaidOut) {
      gathered.writeReset(code, stream: end.id)
      touch()
    }
    // Bytes that are no longer needed are credited.
    settle(end.held)
    end.detach()
    closeIfDone()
  }
}
