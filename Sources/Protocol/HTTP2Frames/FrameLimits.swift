// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The limits for a connection's peer. A peer that exceeds an unannounced one counts as an attacker, and its connection
/// ends with ENHANCE_YOUR_CALM.
package struct FrameLimits: Sendable {
  /// The maximum number of concurrent streams; further ones are rejected.
  package var streams: Int
  /// The bytes that a peer may send on a stream, and on all streams of a connection, before they are passed on. A
  /// connection begins with the first of these and with no less than `initialWindow`.
  package var streamWindow: Int
  package var connectionWindow: Int
  /// The maximum size in bytes of a header list from the peer (SETTINGS_MAX_HEADER_LIST_SIZE).
  package var headerBytes: Int
  /// The maximum number of PING, SETTINGS and PRIORITY frames, and frames of unknown kinds, within half a minute.
  package var controlFrames: Int
  /// The maximum number of streams within half a minute that the peer cancels or forces this side to cancel, or that
  /// are rejected.
  package var brokenStreams: Int
  /// The maximum number of consecutive window updates that no other frame accounts for.
  package var windowUpdates: Int

  /// The initial window in bytes of a connection, and of its streams until the peer changes it.
  package static let initialWindow = 65_535
  /// The maximum number of empty frames, and of replies that the peer does not read.
  static let emptyFrames = 64
  static let unreadAnswers = 10_000

  /// The maximum size in bytes of a header list that is decoded. A longer list ends the connection. A list longer than
  /// `headerBytes` is decoded to keep the header tables in sync, and only its stream is rejected.
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
  /// - Returns: whether more than `limit` occurred in this half minute.
  mutating func exceeds(_ limit: Int, at now: NIODeadline) -> Bool {
    if now >= end { (count, end) = (0, now + Self.period) }
    count += 1
    return count > limit
  }
}
