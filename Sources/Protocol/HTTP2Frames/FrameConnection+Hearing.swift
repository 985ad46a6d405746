// SPDX-License-Identifier: Apache-2.0
import NIOCore

// Handles the frames that a connection receives from its peer.

extension FrameConnection {
  func hear(_ frame: Frame) throws(HTTP2Violation) {
    if !hasSettings, frame.kind != .settings || frame.has(Frame.isAcknowledgement) {
      throw HTTP2Violation(.protocolError, "another frame before its settings")
    }
    if unfinished != nil, frame.kind != .continuation {
      throw HTTP2Violation(.protocolError, "headers without an end")
    }
    switch frame.kind {
    case .data: try data(frame)
    case .headers: try startHeaders(frame)
    case .continuation: try continueHeaders(frame)
    case .rstStream: try reset(frame)
    case .settings: try settings(frame)
    case .ping: try ping(frame)
    case .goAway: try goAway(frame)
    case .windowUpdate: try windowUpdate(frame)
    case .pushPromise: throw HTTP2Violation(.protocolError, "a push, which is disabled")
    case .priority: try priority(frame)
    case nil: try countControl()
    }
  }

  // MARK: Streams

  private func data(_ frame: Frame) throws(HTTP2Violation) {
    var frame = frame
    let size = frame.content.readableBytes
    let isLast = frame.has(Frame.endsStream)
    if frame.has(Frame.isPadded) { try frame.unwrap() }
    windowUpdates = min(windowUpdates, 0)
    forgivesPing = true
    emptyFrames = size == 0 && !isLast ? emptyFrames + 1 : 0
    if emptyFrames > FrameLimits.emptyFrames { throw HTTP2Violation(.enhanceYourCalm, "frames without content") }
    allowance -= size
    if allowance < 0 { throw HTTP2Violation(.flowControlError, "more bytes than its window allows") }
    guard let end = ends[frame.stream] else {
      try checkIsKnown(frame.stream)
      return settle(size)
    }
    if end.isHeardOut { throw HTTP2Violation(.streamClosed, "data after the end of a stream") }
    end.allowance -= size
    if end.allowance < 0 { throw HTTP2Violation(.flowControlError, "more bytes than its window allows") }
    end.held += size
    if isLast { end.isHeardOut = true }
    if let stream = end.owner {
      stream.receive(frame.content, size: size, isLast: isLast, on: end)
    } else {
      settle(size, end)
    }
  }

  private func startHeaders(_ frame: Frame) throws(HTTP2Violation) {
    var frame = frame
    try frame.unwrap()
    emptyFrames = 0
    windowUpdates = min(windowUpdates, 0)
    forgivesPing = true
    let isLast = frame.has(Frame.endsStream)
    if frame.has(Frame.endsHeaders) { return try headers(frame.content, frame.stream, isLast: isLast) }
    unfinished = UnfinishedHeaders(stream: frame.stream, isLast: isLast, bytes: frame.content)
  }

  private func continueHeaders(_ frame: Frame) throws(HTTP2Violation) {
    guard var headers = unfinished, headers.stream == frame.stream else {
      throw HTTP2Violation(.protocolError, "a continuation without headers")
    }
    unfinished = nil
    headers.bytes.writeImmutableBuffer(frame.content)
    emptyFrames = frame.content.readableBytes == 0 ? emptyFrames + 1 : emptyFrames
    if headers.bytes.readableBytes > limits.unpackedBytes || emptyFrames > FrameLimits.emptyFrames {
      throw HTTP2Violation(.enhanceYourCalm, "more than \(limits.unpackedBytes) bytes of headers")
    }
    if frame.has(Frame.endsHeaders) {
      try self.headers(headers.bytes, headers.stream, isLast: headers.isLast)
    } else {
      unfinished = headers
    }
  }

  private func headers(_ bytes: ByteBuffer, _ id: Int, isLast: Bool) throws(HTTP2Violation) {
    // Headers of a stream that has ended must be read too, since they can change the header table.
    let block = try headers.read(bytes)
    if let end = ends[id] {
      if end.isHeardOut { throw HTTP2Violation(.streamClosed, "headers after the end of a stream") }
      if isLast { end.isHeardOut = true }
      end.owner?.receive(block, isLast: isLast, on: end)
    } else if peer == .client, id > lastID {
      if id.isMultiple(of: 2) { throw HTTP2Violation(.protocolError, "a stream with the even id \(id)") }
      lastID = id
      guard ends.count < limits.streams, ending != .ending else {
        gathered.writeReset(.refusedStream, stream: id)
        touch()
        return try countBroken()
      }
      wasUsed = true
      let end = StreamEnd(id, self, room: initialRoom)
      end.isHeardOut = isLast
      ends[id] = end
      owner?.open(end, block, isLast: isLast)
    } else {
      try checkIsKnown(id)
      // Trailers may still arrive for a stream that has ended. The head of a request must not (RFC 9113, 5.1.1).
      if peer == .client, block.headers.first?.name.utf8.first == UInt8(ascii: ":") {
        throw HTTP2Violation(.protocolError, "a request on stream \(id), after stream \(lastID)")
      }
    }
  }

  private func reset(_ frame: Frame) throws(HTTP2Violation) {
    guard let code = frame.content.getInteger(at: frame.content.readerIndex, as: UInt32.self),
      frame.content.readableBytes == 4
    else { throw .size(frame) }
    guard let end = ends.removeValue(forKey: frame.stream) else { return try checkIsKnown(frame.stream) }
    (end.isHeardOut, end.isSaidOut) = (true, true)
    end.owner?.receive(HTTP2Code(rawValue: code), on: end)
    settle(end.held)
    end.detach()
    try countBroken()
    closeIfDone()
  }

  /// Checks that a frame's stream exists or existed earlier. Frames of streams that have ended may still arrive.
  private func checkIsKnown(_ stream: Int) throws(HTTP2Violation) {
    if stream <= 0 || stream > lastID || stream.isMultiple(of: 2) {
      throw HTTP2Violation(.protocolError, "a frame of unknown stream \(stream)")
    }
  }

  // MARK: The connection

  private func settings(_ frame: Frame) throws(HTTP2Violation) {
    let size = frame.content.readableBytes
    if frame.stream != 0 { throw .onStream(frame) }
    if frame.has(Frame.isAcknowledgement) {
      if size > 0 { throw .size(frame) }
      return
    }
    guard size.isMultiple(of: 6) else { throw .size(frame) }
    hasSettings = true
    try countControl()
    var content = frame.content
    var window: Int?
    while let number = content.readInteger(as: UInt16.self), let value = content.readInteger(as: UInt32.self) {
      let value = Int(value)
      switch Frame.Setting(rawValue: number) {
      case .headerTableSize: try writer.limitTable(value)
      case .initialWindowSize:
        if value > Frame.largest { throw HTTP2Violation(.flowControlError, "a window of \(value) bytes") }
        window = value
      case .maxConcurrentStreams: mostStreams = value
      case .enablePush:
        if value > (peer == .client ? 1 : 0) {
          throw HTTP2Violation(.protocolError, "the value \(value) for ENABLE_PUSH")
        }
      case .maxFrameSize:
        guard (Frame.mostBytes...0xff_ffff).contains(value) else {
          throw HTTP2Violation(.protocolError, "the value \(value) for MAX_FRAME_SIZE")
        }
      case .maxHeaderListSize, nil: break
      }
    }
    // The change is applied once, since a frame may contain the setting thousands of times.
    if let window { try changeRoom(to: window) }
    gathered.writeFrame(.settings, Frame.isAcknowledgement, stream: 0, length: 0)
    try countAnswer()
    owner?.changedSettings(self)
    pump()
  }

  private func changeRoom(to window: Int) throws(HTTP2Violation) {
    for end in ends.values {
      end.room += window - initialRoom
      if end.room > Frame.largest { throw HTTP2Violation(.flowControlError, "a window of \(end.room) bytes") }
      queue(end)
    }
    initialRoom = window
  }

  private func ping(_ frame: Frame) throws(HTTP2Violation) {
    guard frame.content.readableBytes == 8 else { throw .size(frame) }
    if frame.stream != 0 { throw .onStream(frame) }
    // The official Go client measures its connection with a PING for each response. So a PING is tolerated if a frame
    // of a stream was sent or received since the previous PING.
    if forgivesPing { forgivesPing = false } else { try countControl() }
    if frame.has(Frame.isAcknowledgement) { return receiveAnswer(frame.content) }
    if owner?.isSilent == true { return }
    gathered.writeFrame(.ping, Frame.isAcknowledgement, stream: 0, length: 8)
    gathered.writeImmutableBuffer(frame.content)
    try countAnswer()
  }

  /// Counts a reply to which flow control does not apply.
  private func countAnswer() throws(HTTP2Violation) {
    touch()
    if isWritable { return }
    unreadAnswers += 1
    if unreadAnswers > FrameLimits.unreadAnswers {
      throw HTTP2Violation(.enhanceYourCalm, "pings and settings without reading their answers")
    }
  }

  private func countControl() throws(HTTP2Violation) {
    guard let now = channel?.eventLoop.now, controlFrames.exceeds(limits.controlFrames, at: now) else { return }
    throw HTTP2Violation(
      .enhanceYourCalm, "more than \(limits.controlFrames) pings, settings and priorities in 30 seconds")
  }

  /// Counts a stream that the peer canceled, or that the peer forced this side to cancel.
  func countBroken() throws(HTTP2Violation) {
    guard let now = channel?.eventLoop.now, brokenStreams.exceeds(limits.brokenStreams, at: now) else { return }
    throw HTTP2Violation(.enhanceYourCalm, "more than \(limits.brokenStreams) canceled streams in 30 seconds")
  }

  /// Validates a priority. Priorities are otherwise ignored.
  private func priority(_ frame: Frame) throws(HTTP2Violation) {
    if frame.stream == 0 { throw HTTP2Violation(.protocolError, "a priority without a stream") }
    guard frame.content.readableBytes == 5 else { throw .size(frame) }
    try countControl()
  }

  private func goAway(_ frame: Frame) throws(HTTP2Violation) {
    guard frame.content.readableBytes >= 8,
      let last = frame.content.getInteger(at: frame.content.readerIndex, as: UInt32.self)
    else { throw .size(frame) }
    if frame.stream != 0 { throw .onStream(frame) }
    owner?.goesAway(self, last: Int(last & 0x7fff_ffff))
  }

  private func windowUpdate(_ frame: Frame) throws(HTTP2Violation) {
    guard let word = frame.content.getInteger(at: frame.content.readerIndex, as: UInt32.self),
      frame.content.readableBytes == 4
    else { throw .size(frame) }
    let bytes = Int(word & 0x7fff_ffff)
    if bytes == 0 { throw HTTP2Violation(.protocolError, "a window update of 0 bytes") }
    windowUpdates += 1
    if windowUpdates > limits.windowUpdates {
      throw HTTP2Violation(.enhanceYourCalm, "more than \(limits.windowUpdates) window updates and nothing else")
    }
    if frame.stream == 0 {
      room += bytes
      if room > Frame.largest { throw HTTP2Violation(.flowControlError, "a window of \(room) bytes") }
    } else {
      guard let end = ends[frame.stream] else { return try checkIsKnown(frame.stream) }
      end.room += bytes
      if end.room > Frame.largest { throw HTTP2Violation(.flowControlError, "a window of \(end.room) bytes") }
      queue(end)
    }
    if !line.isEmpty { pump() }
  }
}
