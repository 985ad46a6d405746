// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOHTTP1
import Synchronization
import Testing

@testable import FirestoreGRPC

@Suite("HTTP/1 requests", .timeLimit(.minutes(10))) struct HTTPRequestTests {
  /// Runs the first job of its task, and the others when it is told.
  private final class HeldExecutor: TaskExecutor {
    private struct State {
      var allowed = 1
      var held: [UnownedJob] = []
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isAllowed = state.withLock { state in
        state.allowed -= 1
        if state.allowed < 0 { state.held.append(job) }
        return state.allowed >= 0
      }
      if isAllowed { run([job]) }
    }

    func release() {
      run(
        state.withLock { state in
          state.allowed = .max
          defer { state.held = [] }
          return state.held
        })
    }

    private func run(_ jobs: [UnownedJob]) {
      for job in jobs { Task { job.runSynchronously(on: asUnownedTaskExecutor()) } }
    }
  }

  @Test("A request completes even if its caller's executor is blocked")
  func heldTask() async throws {
    let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
    let server = try await TokenServer { _ in
      continuation.yield()
      return (HTTPResponseStatus.ok, "{}")
    }
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/token"))
    let executor = HeldExecutor()
    let call = Task(executorPreference: executor) {
      try await HTTPRequest(method: .post, url: url, body: "grant_type=refresh_token").perform()
    }

    for await _ in asked { break }
    executor.release()

    #expect(try await call.value.status == 200)
    try await server.close()
  }

  @Test("A response before the connection closes is read; without one, the call fails")
  func ends() async throws {
    let server = try await TokenServer { _ in (HTTPResponseStatus.ok, "{}") }
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/token"))
    let request = HTTPRequest(method: .post, url: url, body: "grant_type=refresh_token")
    for _ in 0..<50 { #expect(try await request.perform().status == 200) }

    let cancelled = Task {
      withUnsafeCurrentTask { task in task?.cancel() }
      return try await request.perform()
    }
    await #expect(throws: RPCStatus(.cancelled, "The call was cancelled.")) { try await cancelled.value }

    try await server.close()
    let status = await #expect(throws: RPCStatus.self) { try await request.perform() }
    #expect(status?.code == .unavailable && status?.message.contains("cannot issue a token") == true)
  }
}
