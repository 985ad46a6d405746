// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// One session of WebChannel (protocol version 8): what goes each way, and what becomes of it as time passes. A value
/// that knows no connection, no backend and no clock: time is told in turns, of `turn` each.
///
/// ```
/// POST ── messages ──► inbox ── in order, once ──► (the stream)
/// GET ◄── frames ──── outbox ◄── messages ─────── (the stream)      while `wantsMore`
///
/// open ──► (a back channel: streamed or buffered ⇄ none) ──► over: the last arrays ──► expired
/// ```
///
/// A back channel ends, and the client opens another, which says what has been received: when it is buffered and has
/// something to say, when as much is not acknowledged as is kept, and every few minutes.
struct ChannelSession {
  enum BackChannel: Equatable {
    case none
    /// Goes on behind what is said on it.
    case streamed
    /// Ends with the first that is said on it.
    case buffered
  }

  /// What there is to do after a turn.
  enum Turn: Equatable {
    case nothing
    case deliver
    /// Nobody has used the session for long.
    case expired
  }

  /// In seconds.
  static let turn = 5
  /// The client takes a back channel that says nothing for one and a half times as long for broken.
  static let keepAlive = 30
  /// How long a session without a back channel is kept, and how long one whose stream has ended.
  private static let (mostAbsentTurns, mostOverTurns) = (12, 6)
  private static let mostSilentTurns = keepAlive / turn - 1
  private static let mostOpenTurns = 60
  /// What may wait for the client's acknowledgement before nothing more is taken from the stream; less where memory is
  /// scarce.
  static let (keptBytes, leastKeptBytes) = (1 << 20, 256 << 10)
  private static let frameBytes = 64 << 10
  /// Answers to writes come without being taken.
  private static let mostBytes = 16 << 20

  var isMemoryScarce = false
  private var inbox = ChannelInbox()
  private var outbox = ChannelOutbox()
  private(set) var back = BackChannel.none
  /// The stream has ended.
  private(set) var isOver = false
  /// Turns since the session was last used, since anything was last said on the back channel, and since that was opened.
  private var (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
  private var patienceTurns = mostSilentTurns

  /// Whether more that is there should go with what has not been sent: a buffered back channel ends with its first frame.
  var isFrameSmall: Bool { outbox.unsentBytes < Self.frameBytes }
  private var keptBytes: Int { isMemoryScarce ? Self.leastKeptBytes : Self.keptBytes }
  /// What the session keeps.
  var bytes: Int { inbox.bytes + outbox.bytes }
  /// More is kept than any client has use for.
  var isTooLarge: Bool { outbox.bytes > Self.mostBytes }

  /// The answer that opens the session, as array 0.
  static func greeting(_ id: String) -> [UInt8] {
    ChannelOutbox.framed(Array("[[0,[\"c\",\"\(id)\",\"\",8,12,\(keepAlive * 1_000)]]]".utf8))
  }

  /// The answer to a POST: whether there is a back channel, the newest array, and the bytes that are not acknowledged.
  var reply: [UInt8] {
    ChannelOutbox.framed(Array("[\(back == .none ? 0 : 1),\(outbox.last),\(outbox.bytes)]".utf8))
  }

  /// - Returns: the messages whose turn it is; none once the stream is over.
  /// - Throws: what ends the session.
  mutating func receive(_ messages: [ForwardBody.Message]) throws(RPCStatus) -> [ForwardBody.Message] {
    if isOver { return [] }
    unusedTurns = 0
    return try inbox.receive(messages)
  }

  mutating func acknowledge(_ number: Int) { outbox.acknowledge(number) }

  /// - Parameter patience: how long the client waits on a buffered one, in seconds.
  mutating func open(_ back: BackChannel, patience: Int? = nil) {
    self.back = back
    patienceTurns = patience.map { max(1, min($0 / Self.turn, Self.mostSilentTurns)) } ?? Self.mostSilentTurns
    (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
    outbox.rewind()
  }

  /// Says something on a back channel that was opened: its client learns that nothing between holds back what is said.
  mutating func greet() { if back == .streamed, !isOver { outbox.appendNoop() } }

  /// The back channel is gone.
  mutating func close() {
    (back, unusedTurns) = (.none, 0)
  }

  /// Whether messages of the stream can be sent now.
  var wantsMore: Bool { back != .none && !isOver && outbox.bytes < keptBytes }

  mutating func append(_ message: [UInt8]) { if !isOver { outbox.append(message: message) } }

  /// The stream has ended: nothing is taken any more, and the client is told.
  /// - Parameter message: with which, if badly.
  mutating func end(_ message: [UInt8]? = nil) {
    if isOver { return }
    if let message { outbox.append(message: message) }
    outbox.append(ChannelOutbox.close)
    (isOver, unusedTurns) = (true, 0)
  }

  /// What is to be written on the back channel now, and whether that ends it; `nil` for nothing.
  mutating func take() -> (frame: [UInt8], isLast: Bool)? {
    guard back != .none, let frame = outbox.frame() else { return nil }
    silentTurns = 0
    let isLast = back == .buffered || isOver || outbox.bytes >= keptBytes || openTurns >= Self.mostOpenTurns
    if isLast { close() }
    return (frame, isLast)
  }

  /// The session is over, and its client knows all of it.
  var isDone: Bool { isOver && outbox.isEmpty }

  /// A turn has passed.
  mutating func tick() -> Turn {
    unusedTurns += 1
    if isOver, unusedTurns >= Self.mostOverTurns { return .expired }
    if back == .none { return unusedTurns >= Self.mostAbsentTurns ? .expired : .nothing }
    silentTurns += 1
    openTurns += 1
    if silentTurns >= patienceTurns || openTurns == Self.mostOpenTurns {
      outbox.appendNoop()
      return .deliver
    }
    return .nothing
  }
}
