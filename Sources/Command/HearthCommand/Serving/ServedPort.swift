// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreEmulator
import FirestoreModel
import FirestoreSharing
import Synchronization

/// The backend behind a port.
enum PortSource: Sendable {
  case memory(LocalBackend)
  case shared(SharedData)
}

/// A port on which the embedded backend is served while it is open in this process. Data that another process has is
/// asked for, and connections wait until it is open here.
struct ServedPort: Sendable {
  private var configuration: EmulatorServer.Configuration
  private let source: PortSource
  private let report: @Sendable (String) -> Void

  /// - Parameter report: told which process is waited for, and that this one has the data again.
  init(
    _ configuration: EmulatorServer.Configuration, _ source: PortSource, report: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.source = source
    self.report = report
  }

  /// Has data open here that another process has, which is told to let it go.
  /// - Parameter enforced: what the port holds requests to; `nil` for nothing.
  /// - Throws: `unavailable` where that one keeps it.
  static func claim(_ data: SharedData, for enforced: String?) async throws(RPCStatus) {
    do throws(RPCStatus) { try await data.claim() } catch {
      if error.code == .cancelled { throw error }
      let remedy = "nd that process, or serve other data (--data)."
      let advice = enforced.map { "Only the process that has it open can enforce \($0): e" } ?? "E"
      throw RPCStatus(.unavailable, "\(error.message) \(advice + remedy)")
    }
  }

  /// Serves until there is a stop; calls then have a moment to end.
  /// - Parameter ready: called once, with the bound port, when connections are accepted.
  /// - Throws: `RPCStatus` with the reason why the address cannot be listened on.
  func run(until stop: StopSignal, ready: @escaping @Sendable (Int) -> Void) async throws {
    switch source {
    case .memory(let backend): try await serve(backend, until: stop, orEnd: nil, ready)
    case .shared(let data):
      // Connections that arrive while the data changes hands wait.
      var port = self
      port.configuration.kept = KeptPort()
      let first = FirstCall(ready)
      while let (backend, end) = try await open(data, until: stop) {
        try await port.serve(backend, until: stop, orEnd: end) { first($0) }
        if stop.isStopped { return }
      }
    }
  }

  /// - Parameter end: the end of the time in which the backend is to be served.
  private func serve(
    _ backend: LocalBackend, until stop: StopSignal, orEnd end: SharedData.End?,
    _ ready: @escaping @Sendable (Int) -> Void
  ) async throws {
    let server = EmulatorServer(configuration, backend: backend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in stop.stops() {
          configuration.kept?.letGo()
          await server.shutDown()
        }
      }
      if let end {
        group.addTask {
          await end()
          if !Task.isCancelled { await server.shutDown() }
        }
      }
      defer { group.cancelAll() }
      try await server.run(ready: ready)
    }
  }

  /// Waits until the data is open here: a process that has it meanwhile, as while this one was stopped, is asked for it.
  /// - Returns: the data, and the end of the time for which it is open here; `nil` if there was a stop.
  private func open(_ data: SharedData, until stop: StopSignal) async throws -> (LocalBackend, SharedData.End)? {
    try await withThrowingTaskGroup(of: (LocalBackend, SharedData.End)?.self) { group in
      group.addTask {
        for await _ in stop.stops() { break }
        return nil
      }
      group.addTask {
        while true {
          let (access, end) = try await data.access()
          if case .own(let backend) = access { return (backend, end) }
          do throws(RPCStatus) { try await data.claim() } catch {
            if error.code == .cancelled { throw error }
            report("\(error.message) Connections wait until that process ends.")
            await end()
            if Task.isCancelled { return nil }
          }
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

/// Passes on only the first call.
private final class FirstCall: Sendable {
  private let isOver = Atomic(false)
  private let call: @Sendable (Int) -> Void

  init(_ call: @escaping @Sendable (Int) -> Void) { self.call = call }

  func callAsFunction(_ number: Int) { if !isOver.exchange(true, ordering: .relaxed) { call(number) } }
}

/// A request to stop, which comes once and stays.
final class StopSignal: Sendable {
  private let state = Mutex((isStopped: false, waiting: [AsyncStream<Void>.Continuation]()))
  private let first: @Sendable () -> Void

  /// - Parameter first: called at the first request, before those who wait wake.
  init(first: @escaping @Sendable () -> Void) { self.first = first }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func stop() {
    let (isFirst, waiting) = state.withLock { state in
      defer { state.isStopped = true }
      return (!state.isStopped, state.waiting)
    }
    if isFirst { first() }
    for continuation in waiting { continuation.yield() }
  }

  /// A stream for one waiting task: wakes it at a stop, and at each further one.
  func stops() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isStopped = state.withLock { state in
      state.waiting.append(continuation)
      return state.isStopped
    }
    if isStopped { continuation.yield() }
    return stream
  }
}
