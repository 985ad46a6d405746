// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore

/// One call on its connection: what is said, and the answer, which goes into the inbox (gRPC over HTTP/2, "Responses"):
/// ```
/// HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
/// Used on the connection's thread.
final class ResponseStream: StreamOwner {
  /// The time without a message after which a call with a deadline fails.
  private static let longestSilence = TimeAmount.seconds(60)
  private static let mostInterims = 100
  private static let mostEmptyMessages = 1_000

  private let connection: CallConnection
  private let inbox: ResponseInbox
  /// The stream's end; `nil` while the call waits until it may begin, and after it.
  private var end: StreamEnd?
  /// The pieces that were said before the stream began.
  private var early: [StreamEnd.Piece]
  /// Whether nothing of the answer is read any more.
  private(set) var isOver = false
  private var timer: Scheduled<Void>?
  private var deadline = NIODeadline.distantFuture
  /// The time of the last message, or of the call's beginning.
  private var lastMessage = NIODeadline.uptimeNanoseconds(0)
  private var reader = MessageReader()
  private var hasHeaders = false
  private var interims = 0
  /// The number of messages without content since the last one with content.
  private var emptyMessages = 0
  /// The bytes for which the peer gets room again when messages have been taken.
  private var unread = 0
  /// The callers that wait until what they have said has gone.
  private var senders: [EventLoopPromise<Void>] = []

  /// - Parameter message: the whole request; `nil` for a request that is sent piece by piece.
  init(_ connection: CallConnection, _ inbox: ResponseInbox, _ head: HeaderBlock, _ message: [UInt8]?) {
    (self.connection, self.inbox) = (connection, inbox)
    early = [.headers(head, isLast: false)]
    if let message { early.append(.data(Self.data(message), owed: 0, isLast: true)) }
  }

  /// Ends the call after its timeout, and before it if the server sends no message for a minute.
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
      // The server cannot send while the caller leaves messages unread.
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

  /// Says a message behind those before it.
  /// - Parameter promise: makes the promise of its going, if it does not go at once.
  /// - Returns: the promise; `nil` if it has gone.
  /// - Throws: the reason for which the call is over.
  func send(_ message: [UInt8]) throws -> EventLoopFuture<Void>? {
    if isOver { throw inbox.failure ?? TransportFailure.cut(hasGreeted: true) }
    say(.data(Self.data(message), owed: 0, isLast: false))
    if let end, end.isDrained { return nil }
    let promise = connection.loop.makePromise(of: Void.self)
    senders.append(promise)
    return promise.futureResult
  }

  /// Tells the backend that no more messages come.
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

  /// Gives the peer room again.
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

  /// Ends the call because its caller has given up.
  func abandon() { finish(.failure(CancellationError())) }

  /// Ends the call with its trailers. A message that is cut short is missing from the response.
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
      // A stream that both sides have ended is over by itself; every other one is broken off.
      end.connection.drop(end, .cancel)
    }
    connection.callEnded(self)
  }
}
