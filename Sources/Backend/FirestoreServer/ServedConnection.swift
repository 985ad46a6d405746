// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
package import FirestoreService
import HTTP2Frames
package import NIOCore

/// Configures HTTP/2 connections, and stores the state that all of them share. The path of their calls:
/// ```
/// bytes ─► FrameConnection ─► ServedConnection ─┬─ a small request ──► PromptCall
///                                ServedStream   └─ others ───────────► ListenCall, TaskCall, OtherCalls
/// ```
package struct CallPipeline: Sendable {
  /// One connection: the service for its client, and its memory budget.
  package typealias Connection = (service: FirestoreService, budget: ConnectionBudget)

  package let service: FirestoreService
  package let turn: DeliverySlice
  package let limits: ConnectionLimits
  /// The memory that all connections share.
  package let budget: ServerBudget
  let others: (any OtherCalls)?
  let commits: CommitBatcher
  let log: RequestLog?

  /// - Parameters:
  ///   - service: its backend runs on the event loop.
  ///   - budget: belongs to the same event loop, like `turn`.
  ///   - others: the other requests that are served; `nil` for none, as between processes that share data.
  ///   - log: receives each call that has ended.
  package init(
    _ service: FirestoreService, _ turn: DeliverySlice, _ limits: ConnectionLimits, _ budget: ServerBudget,
    _ others: (any OtherCalls)? = nil, log: RequestLog? = nil
  ) {
    self.service = service
    self.turn = turn
    self.limits = limits
    self.budget = budget
    self.others = others
    self.log = log
    commits = CommitBatcher(service, on: turn.loop)
  }

  /// Starts a connection on a channel's thread.
  package func connection(on loop: any EventLoop) -> Connection {
    (service.serving(ClientID()), ConnectionBudget(limits, budget, on: loop))
  }

  /// Adds the handler at the end of a channel's pipeline.
  package func configure(_ channel: any Channel, _ connection: Connection) throws {
    let served = ServedConnection(connection, self, on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(served.frames)
  }
}

/// One client's connection: the state shared by its calls. Used on the connections' thread.
final class ServedConnection: FrameConnectionOwner {
  /// The service for this client.
  let service: FirestoreService
  let budget: ConnectionBudget
  let turn: DeliverySlice
  let commits: CommitBatcher
  let others: (any OtherCalls)?
  let log: RequestLog?
  let loop: any EventLoop
  private let limits: ConnectionLimits
  private(set) lazy var frames = FrameConnection(
    .client, self, limits.frames, handshake: limits.handshake, idle: limits.idle)
  private(set) var isInTurn = false

  /// The headers that start most responses, and the headers that end most responses.
  let headers = HeaderBlock(GRPCFraming.headers)
  let success = HeaderBlock(GRPCFraming.success)
  /// The streams that have more to send when the connection accepts bytes again.
  var blocked: [ServedStream] = []
  /// The complete requests that wait until the limit allows their responses, in the order of arrival.
  private var waiting: CircularBuffer<PromptCall> = []
  /// The calls opened in this turn that have a timeout, which may have to be measured if their requests are incomplete.
  private var opened: [PromptCall] = []
  /// The number of checks of incomplete requests so far.
  private(set) var sweep = 0
  private var nextSweep: Scheduled<Void>?
  private var lastCaller: LastCaller?
  /// The number of commits that have not been answered yet.
  private var commitCount = 0

  init(_ connection: CallPipeline.Connection, _ pipeline: CallPipeline, on loop: any EventLoop) {
    (service, budget) = connection
    (turn, commits, others, log) = (pipeline.turn, pipeline.commits, pipeline.others, pipeline.log)
    (limits, self.loop) = (pipeline.limits, loop)
    let loop = loop.assumeIsolated()
    budget.open { [weak self] in
      // The connection ends only after the current write, which exceeded the limit.
      loop.execute { self?.frames.fail(HTTP2Violation(.enhanceYourCalm, "too_much_held")) }
    }
  }

  // MARK: Turns

  func beginTurn() { isInTurn = true }

  func endTurn() {
    isInTurn = false
    if !opened.isEmpty {
      for call in opened where call.isIncomplete { call.limitTime() }
      opened.removeAll(keepingCapacity: true)
    }
    frames.flush()
  }

  func hasRoom(_ connection: FrameConnection) {
    let streams = blocked
    blocked = []
    for stream in streams { stream.resume() }
  }

  // MARK: Calls

  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool) {
    let head = block.call
    let stream = ServedStream(self, end, head, isRequestWhole: isLast)
    end.owner = stream
    let length = head.call.contentLength ?? 0
    if head.isMalformed || isLast && length > 0 { return stream.breakOff(.protocolError) }
    if head.isTooLarge { return stream.finish(HeaderBlock(head.call.isTooLarge)) }
    guard stream.countHead() else { return stream.breakOff(.enhanceYourCalm) }
    if !isLast, nextSweep == nil { scheduleSweep() }
    if let method = head.promptMethod, !isLast {
      let call = PromptCall(stream, method)
      stream.serve(call)
      if head.call.timeout != nil { opened.append(call) }
    } else {
      stream.begin()
    }
  }

  private static let sweepInterval = TimeAmount.seconds(10)
  /// A request is abandoned if none of its bytes arrive for this number of sweeps, which is 30 to 40 seconds.
  private static let patience = 4

  private func scheduleSweep() {
    nextSweep = loop.assumeIsolated().scheduleTask(in: Self.sweepInterval) { [weak self] in self?.sweepRequests() }
  }

  /// Ends calls whose clients started a request but never finished sending it.
  private func sweepRequests() {
    sweep += 1
    nextSweep = nil
    let streams = frames.ends.values.compactMap { $0.owner as? ServedStream }
    for stream in streams { stream.giveUp(after: Self.patience, GRPCFraming.isIncomplete) }
    if streams.contains(where: \.isIncomplete) { scheduleSweep() }
  }

  /// Answers a complete prompt call as soon as the limit allows its response.
  func answer(_ call: PromptCall) {
    if !budget.isFull, waiting.isEmpty { return call.answer() }
    waiting.append(call)
    call.limitTime()
    if waiting.count == 1 { awaitRoom() }
  }

  private func awaitRoom() {
    budget.wait { [weak self] in
      guard let self else { return }
      while !budget.isFull, let call = waiting.popFirst() { call.answer() }
      if !waiting.isEmpty { awaitRoom() }
    }
  }

  /// The service with the caller's permissions.
  func service(for authorization: String?) throws(RPCStatus) -> FirestoreService {
    guard service.isRestricted else { return service }
    return try service.serving(as: authorization, &lastCaller)
  }

  /// Applies a commit in this turn of the thread. The responses to all commits of the connection are sent together.
  func commit(_ order: CommitOrder, answer: @escaping CommitBatcher.Answer) {
    commitCount += 1
    commits.add(order) { result in
      self.commitCount -= 1
      // Output is sent together: at the end of a read, or after the last commit.
      let wasInTurn = self.isInTurn
      self.isInTurn = true
      answer(result)
      self.isInTurn = wasInTurn
      if self.commitCount == 0, !wasInTurn { self.frames.flush() }
    }
  }

  // MARK: The end

  func quiesce(_ connection: FrameConnection) {
    for end in Array(frames.ends.values) { (end.owner as? ServedStream)?.shutDown() }
    frames.endInOrder()
  }

  func closed(_ connection: FrameConnection) {
    for end in Array(connection.ends.values) { end.owner?.receive(.cancel, on: end) }
    (waiting, blocked, opened) = ([], [], [])
    nextSweep?.cancel()
    budget.close()
  }
}
