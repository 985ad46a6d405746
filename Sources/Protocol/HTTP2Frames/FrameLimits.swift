// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The limits that a connection's peer must respect. If a peer exceeds a limit that was not announced to it, the
/// connection ends with ENHANCE_YOUR_CALM.
package struct FrameLimits: Sendable {
  /// The maximum number of concurrent streams. Further streams are rejected.
  package var streams: Int
  /// The number of bytes that a peer may send on one stream, and on all streams together, before this side has
  /// processed them. The limit for all streams together is at least `initialWindow`.
  package var streamWindow: Int
  package var connectionWindow: Int
  /// The maximum size in bytes of a header list from the peer (SETTINGS_MAX_HEADER_LIST_SIZE).
  package var headerBytes: Int
  /// The maximum number of PING, SETTINGS, PRIORITY and unknown frames within half a minute.
  package var controlFrames: Int
  /// The maximum number of streams within half a minute that the peer cancels, that the peer forces this side to
  /// cancel, or that this side rejects.
  package var brokenStreams: Int
  /// The maximum number of consecutive window updates without data or headers in between, in addition to those that are
  /// allowed because of data that this side has sent.
  package var windowUpdates: Int

  /// The initial window of a connection in bytes. Also the initial window of its streams, until the peer changes it.
  package static let initialWindow = 65_535
  /// The maximum number of empty frames, and also of unread replies.
  static let emptyFrames = 64
  static let unreadAnswers = 10_000

  /// The maximum size in bytes of a header list that is decoded. A longer list ends the connection. A list that is only
  /// longer than `headerBytes` is still decoded, to keep the header tables in sync, and its stream is rejected.
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

/// Counts the events within half a minute.
struct FrameRate {
  private static let period = TimeAmount.seconds(30)

  private var count = 0
  private var end = NIODeadline.uptimeNanoseconds(0)

  /// Counts an event.
  /// - Returns: whether more than `limit` events have occurred in the current half minute.
  mutating func exceeds(_ limit: Int, at now: NIODeadline) -> Bool {
    if now >= end { (count, end) = (0, now + Self.period) }
    count += 1
    return count > limit
  }
}
