// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// One session of WebChannel (protocol version 8): the messages each way, and its changes as time passes. A value that
/// knows no connection, no backend and no clock: time is told in turns, of `turn` each.
///
/// ```
/// POST ── messages ──► inbox ── in order, once ──► (the stream)
/// GET ◄── frames ──── outbox ◄── messages ─────── (the stream)      while `wantsMore`
///
/// open ──► (a back channel: streamed or buffered ⇄ none) ──► over: the last arrays ──► expired
/// ```
///
/// A back channel ends, and the client opens another, with the number of the newest array that it has received: when it
/// is buffered and there is something to send, when the unacknowledged arrays reach the bound, and every few minutes.
struct ChannelSession {
  enum BackChannel: Equatable {
    case none
    /// A back channel that goes on after each array.
    case streamed
    /// A back channel that ends with its first array.
    case buffered
  }

  /// The action that is due after a turn.
  enum Turn: Equatable {
    case nothing
    case deliver
    /// The session was not used for long.
    case expired
  }

  /// The length of a turn in seconds.
  static let turn = 5
  /// The seconds of silence that the client is told to expect at most; it takes a back channel that is silent for one
  /// and a half times as long for broken.
  static let keepAlive = 30
  /// The turns for which a session without a back channel is kept, and for which one whose stream has ended is.
  private static let (mostAbsentTurns, mostOverTurns) = (12, 6)
  private static let mostSilentTurns = keepAlive / turn - 1
  private static let mostOpenTurns = 60
  /// The unacknowledged bytes from which on nothing more is taken from the stream; fewer when memory is scarce.
  static let (keptBytes, leastKeptBytes) = (1 << 20, 256 << 10)
  private static let frameBytes = 64 << 10
  /// The unacknowledged bytes beyond which the session is ended; answers to writes are kept even beyond `keptBytes`.
  private static let mostBytes = 16 << 20

  var isMemoryScarce = false
  private var inbox = ChannelInbox()
  private var outbox = ChannelOutbox()
  private(set) var back = BackChannel.none
  /// Whether the stream has ended.
  private(set) var isOver = false
  /// The turns since the session was last used, since anything was last sent on the back channel, and since that was
  /// opened.
  private var (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
  private var patienceTurns = mostSilentTurns

  /// Whether further messages should go with the unsent ones: a buffered back channel ends with its first frame.
  var isFrameSmall: Bool { outbox.unsentBytes < Self.frameBytes }
  private var keptBytes: Int { isMemoryScarce ? Self.leastKeptBytes : Self.keptBytes }
  /// The number of bytes that the session keeps.
  var bytes: Int { inbox.bytes + outbox.bytes }
  /// Whether the session keeps more than any client has use for.
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
  /// - Throws: the error that ends the session.
  mutating func receive(_ messages: [ForwardBody.Message]) throws(RPCStatus) -> [ForwardBody.Message] {
    if isOver { return [] }
    unusedTurns = 0
    return try inbox.receive(messages)
  }

  mutating func acknowledge(_ number: Int) { outbox.acknowledge(number) }

  /// - Parameter patience: the time that the client waits on a buffered one, in seconds.
  mutating func open(_ back: BackChannel, patience: Int? = nil) {
    self.back = back
    patienceTurns = patience.map { max(1, min($0 / Self.turn, Self.mostSilentTurns)) } ?? Self.mostSilentTurns
    (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
    outbox.rewind()
  }

  /// Sends an array on a back channel that was opened, by which its client learns that nothing between holds data back.
  mutating func greet() { if back == .streamed, !isOver { outbox.appendNoop() } }

  /// Notes that the back channel is gone.
  mutating func close() {
    (back, unusedTurns) = (.none, 0)
  }

  /// Whether messages of the stream can be sent now.
  var wantsMore: Bool { back != .none && !isOver && outbox.bytes < keptBytes }

  mutating func append(_ message: [UInt8]) { if !isOver { outbox.append(message: message) } }

  /// Ends the session's part for the stream, which has ended: nothing is taken from it any more, and the client is
  /// told.
  /// - Parameter message: the last message of a stream that ended with an error.
  mutating func end(_ message: [UInt8]? = nil) {
    if isOver { return }
    if let message { outbox.append(message: message) }
    outbox.append(ChannelOutbox.close)
    (isOver, unusedTurns) = (true, 0)
  }

  /// Takes the frame to be written on the back channel now, and whether the frame ends it; `nil` if there is none.
  mutating func take() -> (frame: [UInt8], isLast: Bool)? {
    guard back != .none, let frame = outbox.frame() else { return nil }
    silentTurns = 0
    let isLast = back == .buffered || isOver || outbox.bytes >= keptBytes || openTurns >= Self.mostOpenTurns
    if isLast { close() }
    return (frame, isLast)
  }

  /// Whether the session is over, and its client has received all of it.
  var isDone: Bool { isOver && outbox.isEmpty }

  /// Lets a turn pass.
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
