// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore
import NIOHTTP2
import Synchronization

/// Serves one call with a task of its own: every method but Listen, if the call is not prompt.
struct ServedCall: Sendable {
  typealias Channel = NIOAsyncChannel<HTTP2Frame.FramePayload, HTTP2Frame.FramePayload>

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

    /// Whether the call ends only when the client or the server wants it to, not by itself.
    var isEndless: Bool {
      switch self {
      case .answer: false
      case .write: true
      case .auxiliary(let call): call.isEndless
      }
    }
  }

  private let service: FirestoreService
  private let work: Work
  private let budget: ConnectionBudget

  init(_ service: FirestoreService, _ work: Work, _ budget: ConnectionBudget) {
    self.service = service
    self.work = work
    self.budget = budget
  }

  /// Serves the call to its end, which is sent to the client.
  /// - Parameter interruptions: the statuses that may end the call; the first one does.
  func run(on channel: Channel, until interruptions: AsyncStream<RPCStatus>) async {
    // A caller who has gone needs no answer, and nothing waits for this task.
    try? await channel.executeThenClose { inbound, outbound in
      let response = ServedResponse(outbound)
      let requests = RequestMessages(inbound, limit: ConnectionLimits.requestMessageBytes)
      let status = await Self.status {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await serve(requests, response) }
          group.addTask {
            for await status in interruptions { throw status }
            throw CancellationError()
          }
          defer { group.cancelAll() }
          try await group.next()
        }
      }
      try await response.end(status, isRequestWhole: requests.isWhole)
    }
  }

  private func serve(_ requests: RequestMessages, _ response: ServedResponse) async throws {
    switch work {
    case .answer(let method):
      let request = try await requests.single()
      let turn = try await budget.turn()
      try await service.answer(method, request) { messages in
        try await response.send(messages)
        turn.end()
      }
    case .write:
      try await response.greet()
      try await service.write(requests) { try await response.send($0) }
    case .auxiliary(let call):
      if call.isEndless { try await response.greet() }
      try await call.serve(requests) { try await response.send($0) }
    }
  }

  /// The status with which a call ended; `nil` for success.
  private static func status(of body: () async throws -> Void) async -> RPCStatus? {
    do {
      try await body()
      return nil
    } catch let status as RPCStatus {
      return status
    } catch {
      // The connection has failed: no client is left to read this.
      return RPCStatus(.cancelled, "The call was cut off.")
    }
  }
}

/// The response of one call: headers before the first message, and trailers.
private final class ServedResponse: Sendable {
  private let outbound: NIOAsyncChannelOutboundWriter<HTTP2Frame.FramePayload>
  private let hasHeaders = Atomic(false)

  init(_ outbound: NIOAsyncChannelOutboundWriter<HTTP2Frame.FramePayload>) { self.outbound = outbound }

  /// Tells the client that the call is being served.
  func greet() async throws {
    if !hasHeaders.exchange(true, ordering: .relaxed) { try await outbound.write(Self.headers) }
  }

  /// Suspends while the client does not read.
  func send(_ messages: [[UInt8]]) async throws {
    var payloads: [HTTP2Frame.FramePayload] = []
    if !hasHeaders.exchange(true, ordering: .relaxed) { payloads.append(Self.headers) }
    payloads.append(GRPCFraming.data(messages, ByteBufferAllocator()))
    try await outbound.write(contentsOf: payloads)
  }

  /// - Parameters:
  ///   - status: `nil` for success.
  ///   - isRequestWhole: whether the client has sent its whole request.
  func end(_ status: RPCStatus?, isRequestWhole: Bool) async throws {
    // A response without a message has headers all the same.
    if status == nil { try await greet() }
    let end = GRPCFraming.end(status, hasHeaders: hasHeaders.load(ordering: .relaxed))
    try await outbound.write(contentsOf: GRPCFraming.last(end, isRequestWhole: isRequestWhole))
    outbound.finish()
  }

  private static let headers = HTTP2Frame.FramePayload.headers(.init(headers: GRPCFraming.headers))
}

/// Runs tasks on an event loop's own thread, so that a call's work between reading its request and sending its answer
/// costs no change of thread.
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
