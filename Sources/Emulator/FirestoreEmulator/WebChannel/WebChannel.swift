// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import NIOCore

/// A session with its stream, on the connections' thread, which also runs the backend. If no back channel is open, or
/// if the client does not read or acknowledge, nothing is read from a listener's stream. The stream then merges pending
/// changes per document.
final class WebChannel: AnswerSource, Delivering {
  private enum Stream {
    case listen(ListenStream)
    case write(WriteStream)
    case ended
  }

  /// The limit in bytes for all sessions and connections together. Above it, each session must store less.
  private static let ampleBytes = 16 << 20
  /// The size in bytes of the documents to read in one step when memory is scarce. The documents become larger as JSON.
  private static let scarceStepBytes = 64 << 10
  private static let isFull = RPCStatus(.resourceExhausted, "The session's client does not read its messages.")

  let id: String
  /// The address of the client that opened the session.
  let address: String?
  /// The service. Once the session has begun, it has the caller's permissions.
  private var service: FirestoreService
  private let turn: DeliverySlice
  private let loop: any EventLoop
  private let budget: ServerBudget
  private var session = ChannelSession()
  private var stream = Stream.ended
  private var back: (answer: StreamedAnswer, origin: String?)?
  private var isScheduled = false
  private var hasBeenHeard = false
  /// The number of the session's bytes that are counted in the server's budget.
  private var counted = 0

  /// - Parameter overflow: ends the session; called if all sessions and connections together use too much memory and
  ///   this one uses the most.
  init(
    _ id: String, _ service: FirestoreService, _ turn: DeliverySlice, _ budget: ServerBudget, address: String?,
    on loop: any EventLoop, overflow: @escaping () -> Void
  ) {
    self.id = id
    self.service = service
    self.turn = turn
    self.budget = budget
    self.address = address
    self.loop = loop
    budget.join(self, overflow: overflow)
  }

  /// Begins the session's stream.
  /// - Parameter authorization: the text of the `authorization` header. An error in it ends the stream.
  func begin(_ method: StreamMethod, as authorization: String?) {
    let bound = NIOLoopBound(self, eventLoop: loop)
    do throws(RPCStatus) {
      service = try service.serving(as: authorization)
      switch method {
      case .listen: stream = .listen(ListenStream(service) { bound.value.schedule() })
      case .write: stream = .write(WriteStream(service))
      }
    } catch { end(error) }
  }

  /// The response to a POST.
  var reply: [UInt8] { session.reply }
  var hasBackChannel: Bool { back != nil }
  /// Whether the client no longer needs the session.
  var isDone: Bool { session.isDone }

  // MARK: Messages from the client

  /// Applies the messages that are next in order.
  func receive(_ body: ForwardBody) {
    do throws(RPCStatus) {
      for message in try session.receive(body.messages) { try apply(try message.content.get()) }
      if session.isTooLarge { throw Self.isFull }
      // The first messages are answered without waiting for the client. One step adds targets, another one reads them.
      if !hasBeenHeard, session.isFrameSmall, try pull(), session.isFrameSmall { try pull() }
    } catch { end(error) }
    flush()
  }

  private func apply(_ request: [UInt8]) throws(RPCStatus) {
    switch stream {
    case .listen(var listen):
      defer { if case .listen = stream { stream = .listen(listen) } }
      try listen.receive(request)
    case .write(var write):
      let (message, isLast) = try write.receive(request)
      stream = .write(write)
      session.append(try StreamMethod.write.response(message))
      if isLast { end(nil) }
    case .ended: break
    }
  }

  func acknowledge(_ number: Int) {
    session.acknowledge(number)
    settle()
  }

  /// Opens a back channel in place of the current one.
  /// - Parameter patience: the time that the client waits on a buffered back channel, in seconds.
  func open(_ answer: StreamedAnswer, isBuffered: Bool, patience: Int?, origin: String?) {
    let old = back
    back = (answer, origin)
    session.open(isBuffered ? .buffered : .streamed, patience: patience)
    answer.attach(self)
    if let old { old.answer.end(ChannelAnswer.piece([], origin: old.origin)) }
    hasBeenHeard = true
    flush()
    // Browsers switch to another kind of back channel if nothing arrives within twice the time that opening the session
    // took.
    session.greet()
    flush()
    deliver()
  }

  // MARK: Messages from the stream

  private func schedule() {
    if isScheduled { return }
    isScheduled = true
    turn.schedule(self)
  }

  func deliver() {
    isScheduled = false
    guard let back, back.answer.isWritable else { return }
    if session.wantsMore {
      do throws(RPCStatus) {
        if try pull() {
          // The rest waits for another turn, since other streams are waiting too.
          schedule()
          if session.wantsMore, session.isFrameSmall { return settle() }
        }
      } catch { end(error) }
    }
    flush()
  }

  /// Reads messages from a listener's stream, as many as one step returns.
  /// - Returns: whether there are more messages.
  @discardableResult
  private func pull() throws(RPCStatus) -> Bool {
    session.isMemoryScarce = budget.total > Self.ampleBytes
    guard case .listen(var listen) = stream else { return false }
    defer { stream = .listen(listen) }
    let bytes = session.isMemoryScarce ? Self.scarceStepBytes : WatchDelivery.bytes
    let (messages, hasMore) = try listen.take(upTo: bytes)
    for message in messages { session.append(try StreamMethod.listen.response(message)) }
    return hasMore
  }

  private func flush() {
    if let back, let (frame, isLast) = session.take() {
      let piece = ChannelAnswer.piece(frame, origin: back.origin)
      if isLast {
        self.back = nil
        back.answer.end(piece)
      } else {
        back.answer.send(piece)
      }
    }
    settle()
  }

  private func settle() {
    let bytes = session.bytes
    session.isMemoryScarce = budget.total > Self.ampleBytes
    if bytes != counted { budget.change(self, by: bytes - counted) }
    counted = bytes
  }

  // MARK: Ends

  /// Ends the session's stream.
  /// - Parameter status: `nil` for success.
  private func end(_ status: RPCStatus?) {
    if case .listen(let listen) = stream { listen.close() }
    stream = .ended
    session.end(status.map { StreamMethod.end(with: $0) })
  }

  /// Ends the session.
  func close() {
    end(nil)
    if let (answer, origin) = back {
      back = nil
      answer.end(ChannelAnswer.piece([], origin: origin))
    }
    budget.leave(self)
  }

  /// Advances the session's clock by one turn.
  /// - Returns: false if the session has ended.
  func tick() -> Bool {
    do throws(RPCStatus) { try service.checkTime() } catch {
      end(error)
      flush()
    }
    switch session.tick() {
    case .nothing: return true
    case .deliver:
      deliver()
      return true
    case .expired: return false
    }
  }

  // MARK: The back channel's connection

  func resume() { deliver() }

  func abandon(_ answer: StreamedAnswer) {
    guard back?.answer === answer else { return }
    back = nil
    session.close()
  }

  func shutDown(_ answer: StreamedAnswer) {
    end(GRPCFraming.isShuttingDown)
    flush()
  }
}
