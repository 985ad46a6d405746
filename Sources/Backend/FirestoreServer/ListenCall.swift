// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore

/// Serves one Listen call on the connection's thread, which is also the backend's thread. A commit wakes the affected
/// streams, and each sends its messages at its next turn. While the client does not read, or its connection's budget is
/// full, nothing is taken from the backend, which then merges pending changes per document.
///
/// ```
/// DATA ──► ListenStream.receive            commit ──► wake ──► next turn: take … while there is room ──► DATA
/// END_STREAM ──► close, grpc-status 0      take throws ──► close, grpc-status
/// ```
final class ListenCall: StreamedCall, Delivering {
  private let stream: ServedStream
  private let turn: DeliverySlice
  private let budget: ConnectionBudget
  private var deadline: Scheduled<Void>?
  private var tokenDeadline: TokenDeadline?
  private var listener: ListenStream?
  private var received = ByteBuffer()
  private var isScheduled = false
  private var waitsForRoom = false

  /// - Parameter timeout: the caller's timeout; `nil` for none.
  init(_ stream: ServedStream, _ service: FirestoreService, timeout: TimeAmount?) {
    self.stream = stream
    (turn, budget) = (stream.connection.turn, stream.connection.budget)
    let bound = NIOLoopBound(self, eventLoop: stream.loop)
    listener = ListenStream(service) { bound.value.schedule() }
    // The stream ends when the caller's token expires, as the caller's other calls are rejected from then on.
    tokenDeadline = TokenDeadline(service, on: stream.loop) { [weak self] in self?.end($0) }
    deadline = timeout.map { timeout in
      stream.loop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in self?.end(GRPCFraming.isOverdue) }
    }
    stream.greet()
  }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool) {
    stream.settle(size)
    if received.readableBytes == 0 { received = bytes } else { received.writeImmutableBuffer(bytes) }
    do throws(RPCStatus) {
      while let message = try GRPCFraming.nextMessage(&received, limit: ConnectionLimits.requestMessageBytes) {
        try listener?.receive(message)
      }
    } catch { return end(error) }
    if isLast {
      let isCut = received.readableBytes > 0
      return end(isCut ? RPCStatus(.invalidArgument, "The request ends within a message.") : nil)
    }
    // An idle stream must not retain the large buffer that contains the bytes read.
    if received.readableBytes == 0 { received = ByteBuffer() } else { received.discardReadBytes() }
  }

  func resume() { schedule() }

  /// Schedules delivery at the next turn. By then the whole commit, or several commits, have been recorded.
  private func schedule() {
    if isScheduled { return }
    isScheduled = true
    turn.schedule(self)
  }

  func deliver() {
    isScheduled = false
    if listener == nil { return }
    guard stream.isWritable else { return stream.awaitRoom() }
    if budget.isFull { return waitForRoom() }
    do throws(RPCStatus) {
      guard let (messages, hasMore) = try listener?.take() else { return }
      for batch in messages.inBatches { stream.send(batch) }
      // The rest waits for another turn, since other streams are waiting too.
      if hasMore { schedule() }
    } catch { end(error) }
  }

  private func waitForRoom() {
    if waitsForRoom { return }
    waitsForRoom = true
    budget.wait {
      self.waitsForRoom = false
      self.schedule()
    }
  }

  private func end(_ status: RPCStatus?) {
    abandon()
    stream.end(status)
  }

  func abandon() {
    listener?.close()
    deadline?.cancel()
    tokenDeadline?.cancel()
    (listener, deadline, tokenDeadline) = (nil, nil, nil)
    received = ByteBuffer()
  }

  var awaitsWholeRequest: Bool { false }
  func giveUp(_ status: RPCStatus) { end(status) }

  /// Does nothing: when the server shuts down, the backend ends all listeners.
  func shutDown() {}
}

/// Ends a stream when its caller's token expires. Used on the connections' thread.
final class TokenDeadline {
  /// The longest wait in seconds before the time is checked again.
  private static let longest: Int64 = 3_600

  private let service: FirestoreService
  private let loop: any EventLoop
  private let end: (RPCStatus) -> Void
  private var next: Scheduled<Void>?

  /// - Returns: `nil` if the caller's identity does not expire.
  init?(_ service: FirestoreService, on loop: any EventLoop, end: @escaping (RPCStatus) -> Void) {
    guard let left = service.timeLeft else { return nil }
    self.service = service
    self.loop = loop
    self.end = end
    wait(left)
  }

  private func wait(_ seconds: Int64) {
    let time = TimeAmount.seconds(min(max(seconds, 1), Self.longest))
    next = loop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.check() }
  }

  /// Ends the stream if the token has expired; otherwise waits again. The machine's clock may have been set during the
  /// wait.
  private func check() {
    do throws(RPCStatus) {
      try service.checkTime()
      wait(service.timeLeft ?? Self.longest)
    } catch { end(error) }
  }

  func cancel() { next?.cancel() }
}
