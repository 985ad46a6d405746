// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore

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
  /// - Returns: the status with which the call ends; `nil` for success.
  func status() async -> RPCStatus? {
    let held = HeldBytes(budget)
    defer { held.replace(0) }
    do {
      try await serve(held)
      return nil
    } catch let status as RPCStatus {
      return status
    } catch {
      // The connection has failed, or the call was ended: the task's own words go nowhere.
      return RPCStatus(.cancelled, "The call was cut off.")
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
