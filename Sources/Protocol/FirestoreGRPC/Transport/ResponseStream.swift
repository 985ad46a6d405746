// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore
import NIOHPACK

/// One call on its connection. Sends the request, and adds the response's messages to the inbox (gRPC over HTTP/2,
/// "Responses"):
/// ```
/// HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
/// This class must be used on the connection's thread.
final class ResponseStream: StreamOwner {
  /// The maximum time without a message, after which a call with a deadline fails.
  private static let longestSilence = TimeAmount.seconds(60)
  private static let mostInterims = 100
  private static let mostEmptyMessages = 1_000

  private let connection: CallConnection
  private let inbox: ResponseInbox
  /// This side's end of the stream; `nil` while the call is queued, and after the call has ended.
  private var end: StreamEnd?
  /// The pieces of the request to send as soon as the stream is opened.
  private var early: [StreamEnd.Piece]
  /// Whether the call has ended. If so, the rest of the response is ignored.
  private(set) var isOver = false
  private var timer: Scheduled<Void>?
  private var deadline = NIODeadline.distantFuture
  /// The time at which the last message arrived. Before the first message, the time at which the call started.
  private var lastMessage = NIODeadline.uptimeNanoseconds(0)
  private var reader = MessageReader()
  private var hasHeaders = false
  private var interims = 0
  /// The number of empty messages since the last message with content.
  private var emptyMessages = 0
  /// The number of bytes of messages that the reader has not taken yet. The peer gets credit for them when they are
  /// taken.
  private var unread = 0
  /// The callers that are waiting until their messages are sent.
  private var senders: [EventLoopPromise<Void>] = []

  /// - Parameter message: the whole request; `nil` if the request is sent in pieces.
  init(_ connection: CallConnection, _ inbox: ResponseInbox, _ head: HeaderBlock, _ message: [UInt8]?) {
    (self.connection, self.inbox) = (connection, inbox)
    early = [.headers(head, isLast: false)]
    if let message { early.append(.data(Self.data(message), owed: 0, isLast: true)) }
  }

  /// Ends the call after its timeout, or earlier if the server sends no message for a minute.
  func limit(to timeout: TimeAmount) {
    lastMessage = connection.loop.now
    deadline = lastMessage + timeout
    watch()
  }

  private func watch() {
    let due = min(lastMessage + Self.longestSilence, deadline)
    timer = connection.loop.assumeIsolated().scheduleTask(deadline: due) {
      let now = self.connection.loop.now
      if now >= self.deadline { return self.end(.overdue) }
      // The server cannot send more while the caller has not read the messages.
      if self.unread > 0 { self.lastMessage = now }
      if now - self.lastMessage >= Self.longestSilence { self.end(.withoutMessages) } else { self.watch() }
    }
  }

  // MARK: The request

  func begin(on frames: FrameConnection) {
    let end = frames.begin(self)
    self.end = end
    for piece in early { frames.send(piece, on: end) }
    early = []
    if end.isDrained { tellSenders() }
  }

  /// Sends a message after all previous ones.
  /// - Returns: a future that completes when the message is sent; `nil` if the message has already been sent.
  /// - Throws: the reason why the call has ended.
  func send(_ message: [UInt8]) throws -> EventLoopFuture<Void>? {
    if isOver { throw inbox.failure ?? TransportFailure.cut(hasGreeted: true) }
    say(.data(Self.data(message), owed: 0, isLast: false))
    if let end, end.isDrained { return nil }
    let promise = connection.loop.makePromise(of: Void.self)
    senders.append(promise)
    return promise.futureResult
  }

  /// Notifies the backend that no more messages follow.
  func finish() { if !isOver { say(.data(ByteBuffer(), owed: 0, isLast: true)) } }

  private func say(_ piece: StreamEnd.Piece) {
    if let end { end.connection.send(piece, on: end) } else { early.append(piece) }
  }

  private func tellSenders() {
    let senders = senders
    self.senders = []
    for sender in senders { sender.succeed(()) }
  }

  func hasSent(_ owed: Int, on end: StreamEnd) {}
  func hasDrained(_ end: StreamEnd) { tellSenders() }
  func hasSaidOut(_ end: StreamEnd) {}

  private static func data(_ message: [UInt8]) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(message.count + MessageReader.prefixLength)
    buffer.writeInteger(0 as UInt8)
    buffer.writeInteger(UInt32(message.count))
    buffer.writeBytes(message)
    return buffer
  }

  // MARK: The answer

  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd) {
    switch block.response {
    case .end(let outcome, let isWhole) where isLast && isWhole != hasHeaders: finish(trailers: outcome)
    case .begin where !hasHeaders:
      hasHeaders = true
      if isLast { self.end(.withoutStatus) }
    case .interim where !hasHeaders && !isLast:
      interims += 1
      if interims > Self.mostInterims { self.end(.malformed) }
    case .foreign(let status) where !hasHeaders: self.end(.httpAnswer(status))
    case .other where !hasHeaders: self.end(.httpAnswer(0))
    case .other where isLast: self.end(.withoutStatus)
    case .begin, .end, .foreign, .interim, .malformed, .other: self.end(.malformed)
    }
  }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd) {
    guard hasHeaders || bytes.readableBytes == 0 else { return self.end(.withoutHead) }
    var bytes = bytes
    var messages: [ByteBuffer] = []
    do throws(TransportFailure) {
      while let message = try reader.next(&bytes) {
        messages.append(message)
        emptyMessages = message.readableBytes == 0 ? emptyMessages + 1 : 0
      }
      if emptyMessages > Self.mostEmptyMessages { throw .malformed }
    } catch {
      inbox.put(messages)
      return self.end(error)
    }
    if !messages.isEmpty, let now = connection.signs.last { lastMessage = now }
    unread += size
    if inbox.put(messages) { settle() }
    if isLast { self.end(.withoutStatus) }
  }

  /// Gives the peer credit for the messages that the reader has taken.
  func settle() {
    let bytes = unread
    unread = 0
    if let end { end.connection.settle(bytes, end) }
  }

  func receive(_ code: HTTP2Code, on end: StreamEnd) {
    self.end(code == .refusedStream ? .notTaken : .reset(code))
  }

  // MARK: The end

  func end(_ failure: TransportFailure) { finish(.failure(failure)) }

  /// Ends the call because its caller has abandoned it.
  func abandon() { finish(.failure(CancellationError())) }

  /// Ends the call with the outcome in its trailers. Fails if the response ends in the middle of a message.
  private func finish(trailers outcome: Result<Void, any Error>) {
    if case .success = outcome, reader.isWithin { return end(.withinMessage) }
    finish(outcome)
  }

  private func finish(_ outcome: Result<Void, any Error>) {
    if isOver { return }
    isOver = true
    inbox.end(outcome)
    timer?.cancel()
    for sender in senders { sender.fail(inbox.failure ?? TransportFailure.cut(hasGreeted: true)) }
    (senders, early, reader) = ([], [], MessageReader())
    if let end {
      self.end = nil
      // This cancels the stream unless both sides have ended it.
      end.connection.drop(end, .cancel)
    }
    connection.callEnded(self)
  }
}

/// The meaning of a block of response headers. It is computed only once for blocks that are equal.
enum ResponseHead {
  /// The headers of an interim response. The final response follows.
  case interim
  case begin
  /// Trailers. They may be the whole response.
  case end(Result<Void, any Error>, isWhole: Bool)
  /// The headers of a plain HTTP response, not of a gRPC response. The value is the HTTP status, or 0 if the status is
  /// invalid.
  case foreign(Int)
  /// Headers that contain no status.
  case other
  /// Headers that HTTP/2 does not allow (RFC 9113, 8.2 and 8.3).
  case malformed

  init(_ headers: HPACKHeaders) {
    let statuses = headers[":status"]
    // gRPC servers send the spaces of a message unescaped.
    guard statuses.count <= 1, headers.areFields(pseudoHeaders: [":status"], allowsBlanks: true) else {
      self = .malformed
      return
    }
    let code = headers.first(name: "grpc-status")
    guard let text = statuses.first else {
      self = code.map { .end(Self.outcome($0, headers), isWhole: false) } ?? .other
      return
    }
    let status = Self.number(text) ?? 0
    let isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    switch (status, code) {
    // HTTP/2 has no upgrade.
    case (101, _): self = .malformed
    case (100..<200, _): self = .interim
    case (200..., let code?): self = .end(Self.outcome(code, headers), isWhole: true)
    case (200, nil) where isGRPC: self = .begin
    default: self = .foreign(status)
    }
  }

  /// Parses an HTTP status: three digits, from 100 to 599. NIO traps on negative numbers.
  private static func number(_ text: String) -> Int? {
    guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { (100...599).contains($0) ? $0 : nil }
  }

  private static func outcome(_ code: String, _ headers: HPACKHeaders) -> Result<Void, any Error> {
    let code = Int(code).flatMap(StatusCode.init(rawValue:)) ?? .unknown
    if code == .ok { return .success(()) }
    return .failure(RPCStatus(code, percentDecoded(headers.first(name: "grpc-message") ?? "")))
  }

  /// Decodes a `grpc-message`. Invalid escapes remain unchanged.
  static func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The meaning of headers, stored as an object so that the header block can refer to it.
private final class Meaning {
  let head: ResponseHead
  init(_ head: ResponseHead) { self.head = head }
}

extension HeaderBlock {
  var response: ResponseHead {
    if let meaning = meaning as? Meaning { return meaning.head }
    let head = ResponseHead(headers)
    meaning = Meaning(head)
    return head
  }
}

/// Extracts the messages of a response from its bytes. If a message arrives in one buffer, the result is a slice of
/// this buffer. Other messages are copied, so that a message does not retain several buffers.
struct MessageReader {
  /// The maximum size of one message in bytes. This maximum is greater than the size of the largest document (1 MiB)
  /// and of the largest commit (10 MiB).
  private static let messageLimit = 17 << 20
  static let prefixLength = 5

  /// The bytes of an incomplete message, including its prefix.
  private var partial = ByteBuffer()

  /// Whether part of a message has been read.
  var isWithin: Bool { partial.readableBytes > 0 }

  /// - Returns: the next message; `nil` when all bytes are consumed.
  mutating func next(_ bytes: inout ByteBuffer) throws(TransportFailure) -> ByteBuffer? {
    if partial.readableBytes == 0 {
      if let length = try Self.length(bytes), bytes.readableBytes >= Self.prefixLength + length {
        bytes.moveReaderIndex(forwardBy: Self.prefixLength)
        return bytes.readSlice(length: length)
      }
      if bytes.readableBytes == 0 { return nil }
    }
    take(Self.prefixLength, &bytes)
    guard let length = try Self.length(partial) else { return nil }
    partial.reserveCapacity(Self.prefixLength + length)
    take(Self.prefixLength + length, &bytes)
    guard partial.readableBytes == Self.prefixLength + length else { return nil }
    var message = partial
    partial = ByteBuffer()
    message.moveReaderIndex(forwardBy: Self.prefixLength)
    return message
  }

  /// Moves bytes until the partial message has `count` bytes, or until no bytes are left.
  private mutating func take(_ count: Int, _ bytes: inout ByteBuffer) {
    let missing = min(count - partial.readableBytes, bytes.readableBytes)
    if missing > 0, var piece = bytes.readSlice(length: missing) { partial.writeBuffer(&piece) }
  }

  /// The length of the message that begins here; `nil` if its prefix is incomplete.
  private static func length(_ bytes: ByteBuffer) throws(TransportFailure) -> Int? {
    guard let flag = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return nil }
    if flag != 0 { throw .compressed }
    guard let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self) else { return nil }
    if length > Self.messageLimit { throw .tooLarge(Int(length)) }
    return Int(length)
  }
}
