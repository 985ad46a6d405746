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
  private let connection: CallConnection
  private let inbox: ResponseInbox
  /// The stream's end; `nil` while the call waits until it may begin, and after it.
  private var end: StreamEnd?
  /// The pieces that were said before the stream began.
  private var early: [StreamEnd.Piece]
  /// Whether nothing of the answer is read any more.
  private(set) var isOver = false
  private var timer: Scheduled<Void>?
  private var reader = MessageReader()
  private var hasHeaders = false
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

  /// Ends the call when its time is over.
  func limit(to timeout: TimeAmount) {
    timer = connection.loop.assumeIsolated().scheduleTask(in: timeout) { self.end(.overdue) }
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
    case .end(let outcome): finish(outcome)
    case _ where hasHeaders: if isLast { self.end(.withoutStatus) }
    case .interim where !isLast: break
    case .begin:
      hasHeaders = true
      if isLast { self.end(.withoutStatus) }
    case .foreign(let status): self.end(.httpAnswer(status))
    case .interim, .other: self.end(.httpAnswer(0))
    }
  }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd) {
    guard hasHeaders || bytes.readableBytes == 0 else { return self.end(.withoutHead) }
    var bytes = bytes
    var messages: [ByteBuffer] = []
    do throws(TransportFailure) {
      while let message = try reader.next(&bytes) { messages.append(message) }
    } catch {
      inbox.put(messages)
      return self.end(error)
    }
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
