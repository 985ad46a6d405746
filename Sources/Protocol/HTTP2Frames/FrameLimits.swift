// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The bounds within which a connection lets its peer act. A peer that goes beyond one that it is not told of is taken for
/// an attacker, and its connection ends with ENHANCE_YOUR_CALM.
package struct FrameLimits: Sendable {
  /// The most streams that a peer may have at a time; one more is refused.
  package var streams: Int
  /// The bytes that a peer may send on a stream, and on all streams of a connection, before they are passed on. A
  /// connection begins with the first of these and with no less than `initialWindow`.
  package var streamWindow: Int
  package var connectionWindow: Int
  /// The most bytes of a list of headers that the peer may send (SETTINGS_MAX_HEADER_LIST_SIZE).
  package var headerBytes: Int
  /// The most PING, SETTINGS and PRIORITY frames, and frames of unknown kinds, within half a minute.
  package var controlFrames: Int
  /// The most streams within half a minute that the peer breaks off, that are broken off because of what it sent, or
  /// that are refused.
  package var brokenStreams: Int
  /// The most window updates in a row, with no other frame between them that explains them.
  package var windowUpdates: Int

  /// A connection begins with room for so many bytes, and so do its streams until the peer says otherwise.
  package static let initialWindow = 65_535
  /// The frames without content, and the answers that the peer does not read.
  static let emptyFrames = 64
  static let unreadAnswers = 10_000

  /// The most bytes of a list of headers that are unpacked. A longer list ends the connection. A list that is longer than
  /// `headerBytes` keeps the tables of headers in step, and its stream can be refused alone.
  var unpackedBytes: Int { max(headerBytes, 64 << 10) }

  package init(
    streams: Int, streamWindow: Int, connectionWindow: Int, headerBytes: Int, controlFrames: Int, brokenStreams: Int,
    windowUpdates: Int
  ) {
    (self.streams, self.streamWindow, self.connectionWindow) = (streams, streamWindow, connectionWindow)
    (self.headerBytes, self.controlFrames, self.brokenStreams) = (headerBytes, controlFrames, brokenStreams)
    self.windowUpdates = windowUpdates
  }
}

/// The number of events within half a minute.
struct FrameRate {
  private static let period = TimeAmount.seconds(30)

  private var count = 0
  private var end = NIODeadline.uptimeNanoseconds(0)

  /// Counts an event.
  /// - Returns: whether there were more than so many in this half minute.
  mutating func exceeds(_ limit: Int, at now: NIODeadline) -> Bool {
    if now >= end { (count, end) = (0, now + Self.period) }
    count += 1
    return count > limit
  }
}
