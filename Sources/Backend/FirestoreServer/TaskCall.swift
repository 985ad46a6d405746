// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreService
package import NIOCore

/// Serves one call with a separate task. It serves every method except Listen, unless a `PromptCall` answers the
/// request. The object is used on the connections' thread; the task reads and writes through `RequestMessages` and
/// `ServedResponse`.
package final class TaskCall: StreamedCall {
  enum Work: Sendable {
    case answer(FirestoreService.Method)
    case write
    case auxiliary(any AuxiliaryCall)

    /// - Parameter method: the method's name in the service.
    init?(method: Substring) {
      if method == "Write" {
        self = .write
      } else if let method = FirestoreService.Method(rawValue: String(method)) {
        self = .answer(method)
      } else {
        return nil
      }
    }

    /// Whether the call continues until the client or the server ends it.
    var isEndless: Bool {
      switch self {
      case .answer: false
      case .write: true
      case .auxiliary(let call): call.isEndless
      }
    }
  }

  private typealias Waiting<Value> = CheckedContinuation<Value, any Error>

  private let stream: ServedStream
  private let work: Work
  private var task: Task<Void, Never>?
  private var deadline: Scheduled<Void>?
  private var tokenDeadline: TokenDeadline?
  /// The reason why the call ends before its work is done.
  private var interruption: RPCStatus?

  private var received = ByteBuffer()
  /// The number of bytes not yet credited to the client. They are credited when the remaining bytes do not contain a
  /// whole message.
  private var owed = 0
  private var isWhole = false
  private var reader: Waiting<[UInt8]?>?
  /// The messages that wait until they can be sent, with their size in bytes, which counts toward the connection's
  /// memory.
  private var writers: CircularBuffer<(messages: [[UInt8]], bytes: Int, Waiting<Void>)> = []

  /// - Parameter timeout: the caller's timeout; `nil` for none.
  init(_ stream: ServedStream, _ service: FirestoreService, _ work: Work, timeout: TimeAmount?) {
    (self.stream, self.work) = (stream, work)
    let loop = stream.loop
    deadline = timeout.map { timeout in
      loop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in self?.interrupt(GRPCFraming.isOverdue) }
    }
    if work.isEndless {
      tokenDeadline = TokenDeadline(service, on: loop) { [weak self] in self?.interrupt($0) }
    }
    let (call, budget) = (NIOLoopBound(self, eventLoop: loop), stream.connection.budget)
    let served = ServedWork(service, work, budget, RequestMessages(call), ServedResponse(call))
    task = Task(executorPreference: EventLoopExecutor(loop)) {
      let status = await served.status()
      call.onLoop { $0.finish(status) }
    }
  }

  // MARK: The request

  package func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool) {
    // The bytes are copied, so that they do not retain the whole buffer that was read.
    if received.readableBytes == 0, isLast { received = bytes } else { received.writeImmutableBuffer(bytes) }
    isWhole = isLast
    owed += size
    guard let reader else { return }
    self.reader = nil
    next(reader)
  }

  fileprivate func next(_ reader: CheckedContinuation<[UInt8]?, any Error>) {
    if interruption != nil || stream.isOver { return reader.resume(throwing: CancellationError()) }
    do throws(RPCStatus) {
      let message = try GRPCFraming.nextMessage(&received, limit: ConnectionLimits.requestMessageBytes)
      if message == nil, isWhole, received.readableBytes > 0 {
        received = ByteBuffer()
        throw RPCStatus(.invalidArgument, "The request ends within a message.")
      }
      if message != nil || isWhole { return reader.resume(returning: message) }
    } catch { return reader.resume(throwing: error) }
    if received.readableBytes == 0 { received = ByteBuffer() } else { received.discardReadBytes() }
    self.reader = reader
    let size = owed
    owed = 0
    stream.settle(size)
  }

  // MARK: The response

  fileprivate func greet() { stream.greet() }

  fileprivate func send(_ messages: [[UInt8]], _ writer: CheckedContinuation<Void, any Error>) {
    if interruption != nil || stream.isOver { return writer.resume(throwing: CancellationError()) }
    if writers.isEmpty, stream.isWritable {
      stream.send(messages)
      return writer.resume()
    }
    let bytes = messages.reduce(0) { $0 + $1.count }
    writers.append((messages, bytes, writer))
    stream.budget.addResponse(bytes)
    stream.awaitRoom()
  }

  package func resume() {
    while stream.isWritable, let (messages, bytes, writer) = writers.popFirst() {
      stream.send(messages)
      writer.resume()
      stream.budget.removeResponse(bytes)
    }
    if !writers.isEmpty { stream.awaitRoom() }
  }

  // MARK: The end

  private func finish(_ status: RPCStatus?) {
    cancel()
    stream.end(interruption ?? status)
  }

  /// Ends the call before its work is done. The response ends after the call's task has ended.
  private func interrupt(_ status: RPCStatus) {
    if interruption != nil { return }
    interruption = status
    cancel()
    task?.cancel()
    reader?.resume(throwing: CancellationError())
    reader = nil
    while let (_, bytes, writer) = writers.popFirst() {
      writer.resume(throwing: CancellationError())
      stream.budget.removeResponse(bytes)
    }
  }

  private func cancel() {
    deadline?.cancel()
    tokenDeadline?.cancel()
    (deadline, tokenDeadline) = (nil, nil)
  }

  package func abandon() {
    interrupt(RPCStatus(.cancelled, "The caller has disconnected."))
    received = ByteBuffer()
  }

  package var awaitsWholeRequest: Bool { !work.isEndless }
  package func giveUp(_ status: RPCStatus) { interrupt(status) }

  package func shutDown() {
    if work.isEndless { interrupt(GRPCFraming.isShuttingDown) }
  }
}

extension NIOLoopBound where Value == TaskCall {
  fileprivate func onLoop(_ body: @escaping @Sendable (TaskCall) -> Void) {
    if eventLoop.inEventLoop { body(value) } else { eventLoop.execute { body(self.value) } }
  }
}

/// The messages of a request, extracted from the bytes of its stream. Supports only one reader.
///
/// ```
/// DATA frames of one call:  0 ‖ length (4 bytes) ‖ message ‖ 0 ‖ length …
/// ```
package struct RequestMessages: AsyncSequence, AsyncIteratorProtocol, Sendable {
  private let call: NIOLoopBound<TaskCall>

  fileprivate init(_ call: NIOLoopBound<TaskCall>) { self.call = call }

  /// - Throws: `RPCStatus` for a message that is too large, compressed or truncated; another error when the call ends.
  package func next() async throws -> [UInt8]? {
    try await withCheckedThrowingContinuation { reader in call.onLoop { $0.next(reader) } }
  }

  package func makeAsyncIterator() -> RequestMessages { self }

  /// Reads the only message of a request.
  /// - Throws: `RPCStatus` for no message, for several, and for invalid bytes.
  package func single() async throws -> [UInt8] {
    guard let message = try await next() else { throw RPCStatus(.invalidArgument, "The request has no message.") }
    // Waits until the client has closed its side. Otherwise the client would reset the stream after the response, and
    // many resets count as an attack.
    guard try await next() == nil else {
      throw RPCStatus(.invalidArgument, "The request has more than one message.")
    }
    return message
  }
}

/// Sends the response of one call.
struct ServedResponse: Sendable {
  private let call: NIOLoopBound<TaskCall>

  fileprivate init(_ call: NIOLoopBound<TaskCall>) { self.call = call }

  /// Sends the response headers, which confirm that the call is being served.
  func greet() { call.onLoop { $0.greet() } }

  /// Suspends while the client does not read.
  func send(_ messages: [[UInt8]]) async throws {
    try await withCheckedThrowingContinuation { writer in call.onLoop { $0.send(messages, writer) } }
  }
}

/// The work of the task that serves a call.
struct ServedWork: Sendable {
  private let service: FirestoreService
  private let work: TaskCall.Work
  private let budget: ConnectionBudget
  private let requests: RequestMessages
  private let response: ServedResponse

  init(
    _ service: FirestoreService, _ work: TaskCall.Work, _ budget: ConnectionBudget, _ requests: RequestMessages,
    _ response: ServedResponse
  ) {
    (self.service, self.work, self.budget) = (service, work, budget)
    (self.requests, self.response) = (requests, response)
  }

  /// Does the work.
  /// - Returns: the call's final status; `nil` for success.
  func status() async -> RPCStatus? {
    let held = HeldBytes(budget)
    defer { held.replace(0) }
    do {
      try await serve(held)
      return nil
    } catch let status as RPCStatus {
      return status
    } catch {
      // The connection has failed or the call was interrupted, so this status is not sent.
      return RPCStatus(.cancelled, "The call was interrupted.")
    }
  }

  private func serve(_ held: HeldBytes) async throws {
    switch work {
    case .answer(let method):
      let request = try await requests.single()
      let turn = try await budget.turn(reserving: method.firstBytes)
      try await service.counting(held.replace).answer(method, request) { messages in
        try await response.send(messages)
        turn.end()
      }
    case .write:
      response.greet()
      try await service.write(requests) { try await response.send($0) }
    case .auxiliary(let call):
      if call.isEndless { response.greet() }
      try await call.serve(requests) { try await response.send($0) }
    }
  }
}

/// Runs tasks on an event loop's thread, so that serving a call needs no thread switch.
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
