// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
package import NIOCore

/// The limits of one connection.
package struct ConnectionLimits: Sendable {
  /// The most bytes of a request, the same as in Cloud Firestore.
  package static let requestMessageBytes = 11_534_336
  /// The most bytes of the head of a request.
  package static let headBytes = 16 << 10
  /// The most bytes that all connections together may hold in memory.
  package static let totalBytes = 448 << 20

  /// The most simultaneous calls.
  let streams: Int
  /// The bytes of a call that a client may send before they are read.
  let windowBytes: Int
  /// The most bytes of unanswered requests: a few of the largest requests.
  let requestBytes: Int
  /// The most bytes that wait for the client to read before calls wait too.
  let responseBytes: Int
  /// The most window updates in a row, with no other frame between them.
  let windowUpdates: Int
  /// The time within which a client has to begin to speak its protocol, TLS included.
  package let handshake = TimeAmount.seconds(30)
  /// The time for which a connection without a call is kept, and up to twice that.
  let idle = TimeAmount.minutes(5)

  /// The limits on a port that only this machine reaches. One client's connection may carry thousands of listeners that
  /// end together, and gRPC's core pings many times a second while it measures the line.
  package static let loopback = ConnectionLimits(
    streams: 8_192, windowBytes: 1 << 20, requestBytes: 64 << 20, responseBytes: 16 << 20, windowUpdates: 16_384)

  /// The limits on a port that other machines reach.
  package static let network = ConnectionLimits(
    streams: 100, windowBytes: 65_535, requestBytes: 32 << 20, responseBytes: 8 << 20, windowUpdates: 1_000)

  package init(streams: Int, windowBytes: Int, requestBytes: Int, responseBytes: Int, windowUpdates: Int) {
    self.streams = streams
    self.windowBytes = windowBytes
    self.requestBytes = requestBytes
    self.responseBytes = responseBytes
    self.windowUpdates = windowUpdates
  }

  /// The same as bounds of frames.
  var frames: FrameLimits {
    let isGenerous = streams > Self.network.streams
    return FrameLimits(
      streams: streams, streamWindow: windowBytes, connectionWindow: windowBytes, headerBytes: Self.headBytes,
      controlFrames: isGenerous ? streams : 200, brokenStreams: isGenerous ? 2 * streams : 200,
      windowUpdates: windowUpdates)
  }
}
