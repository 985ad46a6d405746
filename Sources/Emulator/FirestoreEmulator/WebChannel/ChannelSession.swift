// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreServer

/// One session of WebChannel (protocol version 8): its messages in both directions and its state. It has no connection,
/// backend or clock; time passes in turns of length `turn`.
///
/// ```
/// POST ── messages ──► inbox ── in order, once ──► (the stream)
/// GET ◄── frames ──── outbox ◄── messages ─────── (the stream)      while `wantsMore`
///
/// open ──► (a back channel: streamed or buffered ⇄ none) ──► over: the last arrays ──► expired
/// ```
///
/// A back channel ends in three cases: it is buffered and there is something to send, the unacknowledged arrays reach
/// the limit, or some minutes have passed. The client then opens another one with the number of the newest received
/// array.
struct ChannelSession {
  enum BackChannel: Equatable {
    case none
    /// A back channel that continues after each array.
    case streamed
    /// A back channel that ends with its first array.
    case buffered
  }

  /// The action after a turn.
  enum Turn: Equatable {
    case nothing
    case deliver
    /// The session was unused for a long time.
    case expired
  }

  /// The length of a turn in seconds.
  static let turn = 5
  /// The maximum silence that the server announces, in seconds. After 1.5 times this silence, the client considers a
  /// back channel broken.
  static let keepAlive = 30
  /// The maximum number of turns for which the session continues without a back channel, and after the end of its
  /// stream.
  private static let (mostAbsentTurns, mostOverTurns) = (12, 6)
  private static let mostSilentTurns = keepAlive / turn - 1
  private static let mostOpenTurns = 60
  /// The number of unacknowledged bytes at which reading from the stream stops, and the smaller number for scarce
  /// memory.
  static let (keptBytes, leastKeptBytes) = (1 << 20, 256 << 10)
  private static let frameBytes = 64 << 10
  /// The number of unacknowledged bytes above which the session ends. Responses to writes can exceed `keptBytes`.
  private static let mostBytes = 16 << 20

  var isMemoryScarce = false
  private var inbox = ChannelInbox()
  private var outbox = ChannelOutbox()
  private(set) var back = BackChannel.none
  /// Whether the stream has ended.
  private(set) var isOver = false
  /// The turns since the last use of the session, since the last data on the back channel, and since the back channel
  /// was opened.
  private var (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
  private var patienceTurns = mostSilentTurns

  /// Whether to read more messages before sending. A buffered back channel ends with its first frame, so messages are
  /// combined.
  var isFrameSmall: Bool { outbox.unsentBytes < Self.frameBytes }
  private var keptBytes: Int { isMemoryScarce ? Self.leastKeptBytes : Self.keptBytes }
  /// The number of bytes in the session.
  var bytes: Int { inbox.bytes + outbox.bytes }
  /// Whether the unacknowledged bytes exceed the limit above which the session ends.
  var isTooLarge: Bool { outbox.bytes > Self.mostBytes }

  /// The response that opens the session. It is array 0.
  static func greeting(_ id: String) -> [UInt8] {
    ChannelOutbox.framed(Array("[[0,[\"c\",\"\(id)\",\"\",8,12,\(keepAlive * 1_000)]]]".utf8))
  }

  /// The response to a POST: whether there is a back channel, the number of the newest array, and the number of
  /// unacknowledged bytes.
  var reply: [UInt8] {
    ChannelOutbox.framed(Array("[\(back == .none ? 0 : 1),\(outbox.last),\(outbox.bytes)]".utf8))
  }

  /// - Returns: the messages that are next in order; empty once the stream has ended.
  /// - Throws: the error that ends the session.
  mutating func receive(_ messages: [ForwardBody.Message]) throws(RPCStatus) -> [ForwardBody.Message] {
    if isOver { return [] }
    unusedTurns = 0
    return try inbox.receive(messages)
  }

  mutating func acknowledge(_ number: Int) { outbox.acknowledge(number) }

  /// - Parameter patience: the time that the client waits on a buffered back channel, in seconds.
  mutating func open(_ back: BackChannel, patience: Int? = nil) {
    self.back = back
    patienceTurns = patience.map { max(1, min($0 / Self.turn, Self.mostSilentTurns)) } ?? Self.mostSilentTurns
    (unusedTurns, silentTurns, openTurns) = (0, 0, 0)
    outbox.rewind()
  }

  /// Sends an array on a new back channel, so that the client sees that no proxy buffers the data.
  mutating func greet() { if back == .streamed, !isOver { outbox.appendNoop() } }

  /// Records that the back channel has ended.
  mutating func close() {
    (back, unusedTurns) = (.none, 0)
  }

  /// Whether messages of the stream can be sent now.
  var wantsMore: Bool { back != .none && !isOver && outbox.bytes < keptBytes }

  mutating func append(_ message: [UInt8]) { if !isOver { outbox.append(message: message) } }

  /// Records that the stream has ended, and notifies the client.
  /// - Parameter message: the last message of a stream that ended with an error.
  mutating func end(_ message: [UInt8]? = nil) {
    if isOver { return }
    if let message { outbox.append(message: message) }
    outbox.append(ChannelOutbox.close)
    (isOver, unusedTurns) = (true, 0)
  }

  /// Returns the frame to write on the back channel now, and whether it ends the channel; `nil` without a frame.
  mutating func take() -> (frame: [UInt8], isLast: Bool)? {
    guard back != .none, let frame = outbox.frame() else { return nil }
    silentTurns = 0
    let isLast = back == .buffered || isOver || outbox.bytes >= keptBytes || openTurns >= Self.mostOpenTurns
    if isLast { close() }
    return (frame, isLast)
  }

  /// Whether the stream has ended and the client has received everything.
  var isDone: Bool { isOver && outbox.isEmpty }

  /// Advances the clock by one turn.
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

/// Orders the messages of a client across requests and drops duplicates. A client repeats a request that got no
/// response, alone or with newer messages. Simultaneous requests can arrive in any order.
struct ChannelInbox {
  /// The maximum distance between a message and an earlier message that is missing.
  static let mostEarly = 2 * ForwardBody.mostMessages
  static let mostEarlyBytes = ConnectionLimits.requestMessageBytes

  /// The number of the next message to apply.
  private(set) var next = 0
  private var early: [Int: ForwardBody.Message] = [:]
  /// The size in bytes of messages that wait for earlier messages.
  private(set) var bytes = 0

  /// - Returns: the messages that are next in order.
  /// - Throws: `resource-exhausted` if too many messages would wait for a missing message.
  mutating func receive(_ messages: [ForwardBody.Message]) throws(RPCStatus) -> [ForwardBody.Message] {
    for message in messages where message.number >= next && early[message.number] == nil {
      bytes += message.bytes
      early[message.number] = message
    }
    var ready: [ForwardBody.Message] = []
    while let message = early.removeValue(forKey: next) {
      next += 1
      bytes -= message.bytes
      ready.append(message)
    }
    if bytes > Self.mostEarlyBytes || early.keys.contains(where: { $0 - next > Self.mostEarly }) {
      throw RPCStatus(.resourceExhausted, "Too many messages wait for the missing message \(next).")
    }
    return ready
  }
}

/// The messages of a session for its client. They are numbered arrays, and each is stored until the client acknowledges
/// it.
///
/// ```
/// acknowledged │ sent on this back channel │ not sent
///        ──────┴───────────────────────────┴──────── numbers, from 1 on; 0 is the response that opens the session
/// ```
package struct ChannelOutbox {
  private struct Element {
    let number: Int
    /// The array as text, `[{…}]`.
    let text: [UInt8]
  }

  private static let noop = Array("[\"noop\"]".utf8)
  /// The array that makes the client end the session.
  static let close = Array("[\"close\"]".utf8)

  private var elements: [Element] = []
  /// The number of the newest array.
  private(set) var last = 0
  private var sent = 0
  /// The size of the stored arrays in bytes.
  private(set) var bytes = 0
  /// The size of the unsent arrays in bytes.
  private(set) var unsentBytes = 0

  var isEmpty: Bool { elements.isEmpty }
  var hasUnsent: Bool { sent < last }

  /// - Parameter message: the message in JSON.
  mutating func append(message: [UInt8]) { append([UInt8(ascii: "[")] + message + [UInt8(ascii: "]")]) }

  /// - Parameter text: the text of an array.
  mutating func append(_ text: [UInt8]) {
    last += 1
    elements.append(Element(number: last, text: text))
    bytes += text.count
    unsentBytes += text.count
  }

  /// Appends an empty array, which keeps the back channel alive.
  mutating func appendNoop() { append(Self.noop) }

  /// Removes the arrays that the client has received. Ignores numbers that were not sent.
  mutating func acknowledge(_ number: Int) {
    guard number <= last, let first = elements.first, first.number <= number else { return }
    let gone = elements.prefix { $0.number <= number }
    bytes -= gone.reduce(0) { $0 + $1.text.count }
    unsentBytes = min(unsentBytes, bytes)
    elements.removeFirst(gone.count)
    // An idle session releases the capacity for past arrays.
    if elements.isEmpty { elements = [] }
    sent = max(sent, number)
  }

  /// Sends all stored arrays again, on another back channel.
  mutating func rewind() {
    sent = elements.first.map { $0.number - 1 } ?? last
    unsentBytes = bytes
  }

  /// Combines the unsent arrays into one frame; `nil` if there are none.
  mutating func frame() -> [UInt8]? {
    guard hasUnsent else { return nil }
    var text = [UInt8(ascii: "[")]
    for element in elements.drop(while: { $0.number <= sent }) {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text.append(contentsOf: "[\(element.number),".utf8)
      text += element.text
      text.append(UInt8(ascii: "]"))
    }
    text.append(UInt8(ascii: "]"))
    (sent, unsentBytes) = (last, 0)
    return Self.framed(text)
  }

  /// Prefixes a text with its length, in UTF-16 code units as browsers count.
  package static func framed(_ text: [UInt8]) -> [UInt8] {
    var units = 0
    for byte in text {
      // Each character has one byte that is not a continuation byte. Characters of four bytes are two units.
      if byte & 0xC0 != 0x80 { units += 1 }
      if byte >= 0xF0 { units += 1 }
    }
    return Array("\(units)\n".utf8) + text
  }
}
